"""`clawmem forget`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from clawmem.errors import DONE, PARTIAL, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import commits_made
from clawmem.faces.verbs.redact import elsewhere
from clawmem.memory.facts.forget import Forgetting, named_everywhere
from clawmem.memory.facts.forget import forget as act
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.text import counted, one_line


def forget(
    call: Call,
    words: Annotated[str, Parameter("What is to be forgotten, in the words that it was said in.")],
    yes: Annotated[bool, Parameter("Hide what is shown, or remove it with --everywhere.", ("--yes",))],
    everywhere: Annotated[bool, Parameter("Name what the history has, too, and remove it there.", ("--everywhere",))],
) -> Answer:
    """Facts and messages that have all of the words are shown, with what goes of each. With --yes they are hidden from
    recall, context and pages; a longer name is not taken with a shorter one. `clawmem undo` brings them back.
    --everywhere removes the same words from the whole history, as `clawmem redact` does: that cannot be undone.
    `retract` is for what was never true, `supersede` for what changed, `forget` for what shall not be told, `redact`
    for a secret."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if everywhere:
        found, commit = named_everywhere(vault, words, caller), None
    else:
        found, commit = act(vault, words, caller, dry_run=not yes)
    if found is None:
        raise NotFound(
            f"Nothing that is known has the words: {one_line(words)[:80]}.", "Name it as `clawmem recall` shows it."
        )
    lines = [fact_line(placed.fact, placed.entity) for placed in found.facts]
    lines += [f"{event.id}  {event.timestamp[:10]}  {one_line(event.text)}" for event in found.events]
    data = {
        "facts": [placed.fact.id for placed in found.facts],
        "events": [event.id for event in found.events],
        "commit": commit,
    }
    if everywhere:
        return _everywhere(call, found, data, lines, dry_run=not yes)
    talk = [] if yes else ["Nothing is hidden yet: `clawmem forget ... --yes` hides exactly this."]
    return Answer(data, [*lines, *commits_made([commit] if commit else [])], talk=talk)


def _everywhere(call: Call, found: Forgetting, data: Mapping[str, object], lines: list[str], dry_run: bool) -> Answer:
    texts = dict.fromkeys((*(placed.fact.fact for placed in found.facts), *(event.text for event in found.events)))
    target = RedactTarget(texts=tuple(texts), stated=tuple(placed.fact.id for placed in found.facts))
    result = redact(call.runtime.vault(), target, call.runtime.caller(), "forgotten on request", dry_run)
    commits = counted(len(result.commits), "commit")
    if dry_run:
        talk = [
            f"Nothing is removed yet: `clawmem forget ... --everywhere --yes` takes this out of {commits} for good."
        ]
        return Answer(data, lines, talk=talk)
    lines += [f"removed from {commits}, renamed: {result.renamed:,}"]
    lines += [f"still present: {place}" for place in result.remains] + elsewhere(result)
    return Answer({**data, "commit": result.new_head}, lines, result.notices, PARTIAL if result.remains else DONE)


VERB = Command(
    forget,
    {"facts": [str], "events": [str], "commit": (str, None)},
    ("clawmem forget 'has a boat'", "clawmem forget 'cost 100 euros' --yes"),
    person="hides facts and messages",
)
