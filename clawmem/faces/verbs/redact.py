"""`clawmem redact`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import DONE, PARTIAL, InvalidInput, Refused
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.memory.facts.redact import RedactResult, RedactTarget
from clawmem.memory.facts.redact import redact as act
from clawmem.memory.facts.revise import check_reason
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.text import counted

_SHOWN = 20


def redact(
    call: Call,
    fact: Annotated[str | None, Parameter("The id of a fact with the secret.", completes="fact")],
    pattern: Annotated[
        str | None,
        Parameter("The secret, or - for stdin, which keeps it out of the shell history.", ("--pattern",), stdin=True),
    ],
    event: Annotated[str | None, Parameter("The id of an event with the secret.", ("--event",))],
    reason: Annotated[str | None, Parameter("The reason; it is stored with the record.", ("--reason",))],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Show which commits would change; change nothing.")],
    yes: Annotated[bool, Parameter("Do not ask.", ("--yes",))],
) -> Answer:
    """The command rewrites history: every commit from the first one with the secret gets a new hash. Remotes, clones
    and backups still contain the secret. Credentials in a fact or an event are removed; if there are none, its whole
    text is removed. A redaction cannot be undone.
    `retract` is for what was never true, `supersede` for what changed, `forget` for what shall not be told, `redact`
    for a secret."""
    if sum(text is not None for text in (fact, pattern, event)) != 1:
        raise InvalidInput("Exactly one target is needed.", "Give a fact, --event ID or --pattern TEXT.")
    what = RedactTarget(fact, event, pattern)
    vault, caller, why = call.runtime.vault(), call.runtime.caller(), check_reason(reason)
    if not dry_run and not yes:
        would = act(vault, what, caller, why, dry_run=True)
        if not call.confirmed(_lines(would, dry_run=True), "Rewrite history?"):
            raise Refused(
                f"This rewrites {counted(would.renamed, 'commit')} permanently and needs a confirmation.",
                "Check with --dry-run, then run it again with --yes.",
            )
    result = act(vault, what, caller, why, dry_run)
    data = {
        "commits": list(result.commits),
        "renamed": result.renamed,
        "facts": [fact_data(placed.fact, placed.entity) for placed in result.facts],
        "events": list(result.events),
        "old_head": result.old_head,
        "new_head": result.new_head,
        "remains": list(result.remains),
        "remotes": list(result.remotes),
        "dry_run": dry_run,
    }
    return Answer(data, _lines(result, dry_run), result.notices, PARTIAL if result.remains and not dry_run else DONE)


def _lines(result: RedactResult, dry_run: bool) -> list[str]:
    would = "would be " if dry_run else ""
    lines = [f"{would}redacted in {counted(len(result.commits), 'commit')}, {would}renamed: {result.renamed:,}"]
    lines += [f"  {commit[:12]}" for commit in result.commits[:_SHOWN]]
    lines += [f"  and {len(result.commits) - _SHOWN} more"] if len(result.commits) > _SHOWN else []
    lines += [f"fact: {fact_line(placed.fact, placed.entity)}" for placed in result.facts]
    lines += [f"event: {event}" for event in result.events]
    lines += [f"still present: {place}" for place in result.remains]
    if result.new_head:
        lines.append(f"the branch was at {result.old_head[:12]} and is at {result.new_head[:12]}")
    elif dry_run:
        lines.append("dry run; nothing was changed")
    return [*lines, "The secret must be considered public: replace it where it is used.", *elsewhere(result)]


def elsewhere(result: RedactResult) -> list[str]:
    """Return which copies a redaction cannot change, and what to do about them."""
    lines = []
    if result.remotes:
        named = ", ".join(result.remotes)
        lines.append(
            f"Remotes still contain it ({named}): push with `git push --force-with-lease {result.remotes[0]}`, let its "
            "owner remove old objects, and do not pull before that."
        )
    lines.append("Other clones and backups still contain it: clone again from here, and create new backups.")
    return lines


VERB = Command(
    redact,
    {
        "commits": [str],
        "renamed": int,
        "facts": ["fact"],
        "events": [str],
        "old_head": str,
        "new_head": (str, None),
        "remains": [str],
        "remotes": [str],
        "dry_run": bool,
    },
    ("clawmem redact fact_1a2b --dry-run", "clawmem redact --pattern - --yes < the-secret"),
    ("facts",),
    person="rewrites the history",
)
