"""`clawmem deprecate`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, REASON, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.claims import deprecate as act
from clawmem.memory.facts.revise import check_reason


def deprecate(call: Call, fact: str, instead: str, until: str, reason: str | None) -> Answer:
    """Up to and with the day, the fact is served with a warning that names the new one. After it, the heartbeat
    archives the fact and marks what rests on it. `undo` takes that back. An agent that deprecates what a person stated
    files a proposal."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    return revised(act(vault, fact, instead, until, caller, check_reason(reason)))


VERB = Command(
    deprecate,
    (
        FACT,
        FACT._replace(name="instead", help="The fact that takes its place.", flags=("--for",)),
        Parameter("until", "The last day of the fact.", ("--until",), required=True, metavar="DATE"),
        REASON._replace(help="Why it is deprecated."),
    ),
    REVISED,
    ("clawmem deprecate fact_1a2b --for fact_5e6f --until 2026-12-31",),
    ("facts",),
)
