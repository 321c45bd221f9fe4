"""`clawmem deprecate`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, REASON, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.claims import deprecate as act
from clawmem.memory.facts.revise import check_reason


def deprecate(
    call: Call,
    fact: Annotated[str, FACT],
    instead: Annotated[str, FACT._replace(help="The fact that takes its place.", flags=("--for",))],
    until: Annotated[str, Parameter("The last day of the fact.", ("--until",), metavar="DATE")],
    reason: Annotated[str | None, REASON._replace(help="Why it is deprecated.")],
) -> Answer:
    """Up to and with the day, the fact is served with a warning that names the new one. After it, the heartbeat
    archives the fact and marks what rests on it. `undo` takes that back. An agent that deprecates what a person stated
    files a proposal."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    return revised(act(vault, fact, instead, until, caller, check_reason(reason)))


VERB = Command(
    deprecate,
    REVISED,
    ("clawmem deprecate fact_1a2b --for fact_5e6f --until 2026-12-31",),
    ("facts",),
)
