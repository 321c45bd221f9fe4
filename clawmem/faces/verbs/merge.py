"""`clawmem merge`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import CATEGORY, FACT, IMPORTANCE, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import merge as act
from clawmem.model.facts.draft import draft_from_record


def merge(
    call: Call,
    facts: Annotated[list[str], FACT._replace(help="The ids of two or more facts to merge.")],
    into: Annotated[str, Parameter("The statement of the new fact, or - for stdin.", ("--into",), stdin=True)],
    reason: Annotated[str | None, Parameter("Why the facts are merged.", ("--reason",))],
    category: Annotated[str | None, CATEGORY],
    importance: Annotated[float | None, IMPORTANCE],
) -> Answer:
    """The merged facts remain in the vault, marked as superseded, with a pointer to the new one."""
    caller = call.runtime.caller()
    record = {"fact": into, "category": category, "importance": importance}
    draft = draft_from_record({key: value for key, value in record.items() if value is not None}, caller.now)
    return revised(act(call.runtime.vault(), facts, draft, caller, check_reason(reason)))


VERB = Command(
    merge,
    REVISED,
    ("clawmem merge fact_1a2b fact_5e6f --into 'Jane lives in Oslo, in Grünerløkka.'",),
    ("facts",),
)
