"""`clawmem retract`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import retract as act


def retract(call: Call, fact: str, reason: str | None) -> Answer:
    """The fact remains in the vault and in history, but recall and context no longer return it."""
    return revised(act(call.runtime.vault(), fact, call.runtime.caller(), check_reason(reason)))


VERB = Command(
    retract,
    (FACT, Parameter("reason", "Why it was not true.", ("--reason",))),
    REVISED,
    ("clawmem retract fact_1a2b --reason 'It was another Jane.'",),
    ("facts",),
)
