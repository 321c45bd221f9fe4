"""`clawmem redact` and `clawmem forget`: what is removed from the history, and what is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Annotated

from clawmem.errors import DONE, PARTIAL, ClawmemError, InvalidInput, Refused
from clawmem.extension import answer_of
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.faces.parts.words import commits_made, data_of
from clawmem.memory.facts import redact as acts
from clawmem.memory.facts.forget import erase
from clawmem.memory.facts.forget import forget as forget_act
from clawmem.memory.facts.redact import RedactResult, RedactTarget
from clawmem.memory.facts.revise import check_reason
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.text import counted, one_line

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
        would = acts.redact(vault, what, caller, why, dry_run=True)
        if not call.confirmed(_lines(would, dry_run=True), "Rewrite history?"):
            raise Refused(
                f"This rewrites {counted(would.renamed, 'commit')} permanently and needs a confirmation.",
                "Check with --dry-run, then run it again with --yes.",
            )
    result = acts.redact(vault, what, caller, why, dry_run)
    data = data_of(result, dry_run=dry_run)
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
            f"Remotes still contain it ({named}): push with `git push --force {result.remotes[0]} HEAD`, let its "
            "owner remove old objects, and do not pull before that."
        )
    lines.append("Other clones and backups still contain it: clone again from here, and create new backups.")
    return lines


def forget(
    call: Call,
    words: Annotated[str, Parameter("What is to be forgotten, in the words that it was said in, or as what it is.")],
    yes: Annotated[bool, Parameter("Hide what is shown, or remove it with --everywhere.", ("--yes",))],
    everywhere: Annotated[bool, Parameter("Name what the history has, too, and remove it there.", ("--everywhere",))],
) -> Answer:
    """Facts, messages and notes that have all of the words are shown, and what is filed under an entity of that
    name; of other facts, their reasons and tags. Where nothing has the words, they may say what a fact is about ("her
    job"). If several facts fit, they are listed, and none goes; "everything about" means all. Of a sentence that says
    several things, what was not named stays. With --yes the rest is hidden from answers and pages; a longer name is not
    taken with a shorter one. `clawmem undo` brings it back.
    --everywhere removes the same words from the whole history, as `clawmem redact` does: that cannot be undone.
    `retract` is for what was never true, `supersede` for what changed, `forget` for what shall not be told,
    `redact` for a secret."""
    vault, caller, result = call.runtime.vault(), call.runtime.caller(), None
    if everywhere:
        (found, result), commit = erase(vault, words, caller, dry_run=not yes), None
    else:
        found, commit = forget_act(vault, words, caller, dry_run=not yes)
    shown = found.facts if commit else found.before
    lines = [fact_line(placed.fact, placed.entity) for placed in shown]
    lines += [f"{event.id}  {event.timestamp[:10]}  {one_line(event.text)}" for event in found.events]
    texts = {event.text for event in found.events}
    lines += [f"daily note: {note}" for note in found.notes if note not in texts]
    lines += [f"beside {fact_id}, which stays: {one_line(text)}" for fact_id, text in found.beside]
    lines += [f"stays: {fact_line(placed.fact, placed.entity)}" for placed in found.rests]
    data = {
        "facts": [placed.fact.id for placed in found.facts],
        "events": [event.id for event in found.events],
        "notes": list(found.notes),
        "beside": [{"fact": fact_id, "text": text} for fact_id, text in found.beside],
        "stay": found.stay,
        "commit": commit,
    }
    notices = [
        f"{name} says more, and all of it goes: `clawmem supersede {name}` changes a part" for name in found.more
    ]
    notices += [f"spelled nearly so, and left: {', '.join(found.near)}"] if found.near else []
    if result:
        answer = _everywhere(words, result, data, lines, dry_run=not yes)
        return answer._replace(notices=(*notices, *answer.notices))
    notices += _without_on_pages(call) if commit else []
    talk = [] if yes else [f"Nothing is hidden yet: `clawmem forget {quote(words)} --yes` hides exactly this."]
    if found.stay:
        name = "name it and stay" if found.stay > 1 else "names it and stays"
        talk.append(f"{found.stay} more {name}: `clawmem recall {quote(words)}`")
    return Answer(data, [*lines, *commits_made([commit] if commit else [])], notices, talk=talk)


def _without_on_pages(call: Call) -> list[str]:
    """Build the pages of the wiki, which have the words until then. Return a notice if that fails."""
    vault = call.runtime.vault()
    if not (vault.root / "wiki").exists() or (build := answer_of("wiki build")) is None:
        return []
    try:
        build(vault, call.runtime.caller())
    except ClawmemError as problem:
        return [f"the wiki may still have the words, until `clawmem wiki build`: {problem.message}"]
    return []


def _everywhere(
    words: str, result: RedactResult, data: Mapping[str, object], lines: list[str], dry_run: bool
) -> Answer:
    commits = counted(len(result.commits), "commit")
    if dry_run:
        line = f"clawmem forget {quote(words)} --everywhere --yes"
        return Answer(data, lines, talk=[f"Nothing is removed yet: `{line}` takes this out of {commits} for good."])
    lines += [f"removed from {commits}, renamed: {result.renamed:,}"]
    lines += [f"still present: {place}" for place in result.remains] + elsewhere(result)
    return Answer({**data, "commit": result.new_head}, lines, result.notices, PARTIAL if result.remains else DONE)


_BESIDE = {"fact": str, "text": str}
VERBS = {
    "redact": Command(
        redact,
        {"...": RedactResult, "dry_run": bool},
        ("clawmem redact fact_1a2b --dry-run", "clawmem redact --pattern - --yes < the-secret"),
        ("facts",),
        person="rewrites the history",
    ),
    "forget": Command(
        forget,
        {"facts": [str], "events": [str], "notes": [str], "beside": [_BESIDE], "stay": int, "commit": (str, None)},
        ("clawmem forget 'has a boat'", "clawmem forget 'cost 100 euros' --yes"),
        person="hides facts and messages",
    ),
}
