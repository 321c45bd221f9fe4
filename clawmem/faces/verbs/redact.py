"""`clawmem redact`."""

from __future__ import annotations

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
    call: Call, fact: str | None, pattern: str | None, event: str | None, reason: str | None, dry_run: bool, yes: bool
) -> Answer:
    """Rewrites history: every commit from the first that holds it gets a new name. Remotes, clones and backups still
    have it. Of a fact or an event, its credentials go; where it has none, its whole text. Cannot be undone."""
    if sum(one is not None for one in (fact, pattern, event)) != 1:
        raise InvalidInput("Name one thing to redact.", "A fact, or --event ID, or --pattern TEXT.")
    what = RedactTarget(fact, event, pattern)
    vault, caller, why = call.runtime.vault(), call.runtime.caller(), check_reason(reason)
    if not dry_run and not yes:
        would = act(vault, what, caller, why, dry_run=True)
        if not call.confirmed(_lines(would, dry_run=True), "Rewrite history?"):
            raise Refused(
                f"This rewrites {counted(would.renamed, 'commit')} for good, so it must be said twice.",
                "Look with --dry-run, then run it again with --yes.",
            )
    done = act(vault, what, caller, why, dry_run)
    data = {
        "commits": list(done.commits),
        "renamed": done.renamed,
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "events": list(done.events),
        "old_head": done.old_head,
        "new_head": done.new_head,
        "remains": list(done.remains),
        "remotes": list(done.remotes),
        "dry_run": dry_run,
    }
    return Answer(data, _lines(done, dry_run), done.notices, PARTIAL if done.remains and not dry_run else DONE)


def _lines(done: RedactResult, dry_run: bool) -> list[str]:
    would = "would be " if dry_run else ""
    lines = [f"{would}redacted in {counted(len(done.commits), 'commit')}, {would}renamed: {done.renamed:,}"]
    lines += [f"  {commit[:12]}" for commit in done.commits[:_SHOWN]]
    lines += [f"  and {len(done.commits) - _SHOWN} more"] if len(done.commits) > _SHOWN else []
    lines += [f"fact: {fact_line(one.fact, one.entity)}" for one in done.facts]
    lines += [f"event: {one}" for one in done.events]
    lines += [f"still there: {place}" for place in done.remains]
    if done.new_head:
        lines.append(f"the branch was at {done.old_head[:12]} and is at {done.new_head[:12]}")
    elif dry_run:
        lines.append("nothing was changed: this was a dry run")
    lines += _elsewhere(done)
    return lines


def _elsewhere(done: RedactResult) -> list[str]:
    """What nobody here can reach, and what to do about it."""
    lines = ["A secret that was once written down is known: change it where it is used."]
    if done.remotes:
        named = ", ".join(done.remotes)
        lines.append(
            f"Remotes still hold it ({named}): push with `git push --force-with-lease {done.remotes[0]}`, let its "
            "owner remove old objects, and do not pull before."
        )
    lines.append("Other clones and backups still hold it: clone anew from here, and make new backups.")
    return lines


VERB = Command(
    redact,
    (
        Parameter("fact", "The id of a fact that holds the secret.", completes="fact"),
        Parameter("pattern", "The text itself, or - for stdin, which no shell keeps.", ("--pattern",), stdin=True),
        Parameter("event", "The id of an event that holds the secret.", ("--event",)),
        Parameter("reason", "Why; it is kept with the record.", ("--reason",)),
        DRY_RUN._replace(help="Say which commits change, and change nothing."),
        Parameter("yes", "Do not ask.", ("--yes",), bool, False),
    ),
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
)
