"""`clawmem forget`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import commits_made
from clawmem.memory.facts.forget import forget as act
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.text import one_line


def forget(
    call: Call,
    words: Annotated[str, Parameter("What is to be forgotten, in the words that it was said in.")],
    yes: Annotated[bool, Parameter("Hide what is shown.", ("--yes",))],
) -> Answer:
    """Facts and messages that have all of the words are shown. With --yes they are hidden from recall, context and
    pages; a longer name is not taken with a shorter one. `clawmem undo` brings them back, `clawmem redact` removes a
    text from the history."""
    found, commit = act(call.runtime.vault(), words, call.runtime.caller(), dry_run=not yes)
    if found is None:
        raise NotFound(
            f"Nothing that is known has the words: {one_line(words)[:80]}.", "Name it as `clawmem recall` shows it."
        )
    lines = [fact_line(one.fact, one.entity) for one in found.facts]
    lines += [f"{one.id}  {one.timestamp[:10]}  {one_line(one.text)[:120]}" for one in found.events]
    data = {"facts": [one.fact.id for one in found.facts], "events": [one.id for one in found.events], "commit": commit}
    talk = [] if yes else ["Nothing is hidden yet: `clawmem forget ... --yes` hides exactly this."]
    return Answer(data, [*lines, *commits_made([commit] if commit else [])], talk=talk)


VERB = Command(
    forget,
    {"facts": [str], "events": [str], "commit": (str, None)},
    ("clawmem forget 'has a boat'", "clawmem forget 'cost 100 euros' --yes"),
    person="hides facts and messages",
)
