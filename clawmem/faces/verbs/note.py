"""`clawmem note`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import check_is_text
from clawmem.memory.pages.notes import note as act


def note(call: Call, text: Annotated[str, Parameter("What happened, or - for stdin.", stdin=True)]) -> Answer:
    """The next heartbeat reads the line and learns facts from it."""
    check_is_text(text, "note")
    result = act(call.runtime.vault(), text, call.runtime.caller())
    data = {"line": result.line, "path": result.path, "commit": result.commit}
    return Answer(data, [f"noted in {result.path}: {result.line}"], result.notices)


VERB = Command(
    note,
    {"line": str, "path": str, "commit": str},
    ("clawmem note 'Met Jane in Oslo.'",),
)
