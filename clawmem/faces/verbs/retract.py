"""`clawmem retract`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import retract as act


def retract(
    call: Call,
    fact: Annotated[str, FACT],
    reason: Annotated[str | None, Parameter("Why it was not true.", ("--reason",))],
) -> Answer:
    """The fact remains in the vault and in history, but recall and context no longer return it."""
    return revised(act(call.runtime.vault(), fact, call.runtime.caller(), check_reason(reason)))


VERB = Command(
    retract,
    REVISED,
    ("clawmem retract fact_1a2b --reason 'It was another Jane.'",),
    ("facts",),
)
