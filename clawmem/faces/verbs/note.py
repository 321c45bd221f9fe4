"""`clawmem note`."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import check_is_text
from clawmem.learning.ingest import hide_noted
from clawmem.learning.ingest import note as act
from clawmem.model.language.dates import parse_state, stamp


def note(
    call: Call,
    text: Annotated[str, Parameter("What happened, or - for stdin.", stdin=True)],
    date: Annotated[str | None, Parameter("The day that the note is of, if not today.", ("--date",))],
) -> Answer:
    """The next heartbeat reads the line and learns facts from it. `clawmem recall '' --in notes --since
    'last week'` lists notes."""
    check_is_text(text, "note")
    caller = call.runtime.caller()
    day = parse_state(date, caller.now)[:10] if date else None
    if day and day > stamp(caller.now)[:10]:
        remember = f"clawmem remember {quote(text)} --valid-from {day} --valid-to {day}"
        raise InvalidInput(f"{day} is still to come.", f"Announce it: `{remember}`.")
    result = act(call.runtime.vault(), text, caller, day)
    hidden = hide_noted(call.runtime.vault(), caller, text)
    data = {"line": result.line, "path": result.path, "commit": result.commit}
    return Answer(data, [f"noted in {result.path}: {result.line}"], (*result.notices, *hidden))


VERB = Command(
    note,
    {"line": str, "path": str, "commit": str},
    ("clawmem note 'Met Jane in Oslo.'", "clawmem note 'The garden is dug.' --date yesterday"),
)
