"""`clawmem merge`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import CATEGORY, FACT, IMPORTANCE, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import merge as act
from clawmem.model.facts.draft import draft_from_record


def merge(
    call: Call, facts: list[str], into: str, reason: str | None, category: str | None, importance: float | None
) -> Answer:
    """The merged facts remain in the vault, marked as superseded, with a pointer to the new one."""
    caller = call.runtime.caller()
    given = {"fact": into, "category": category, "importance": importance}
    draft = draft_from_record({key: value for key, value in given.items() if value is not None}, caller.now)
    return revised(act(call.runtime.vault(), facts, draft, caller, check_reason(reason)))


VERB = Command(
    merge,
    (
        FACT._replace(name="facts", help="The ids of two or more facts to merge.", repeated=True),
        Parameter("into", "The statement of the new fact, or - for stdin.", ("--into",), required=True, stdin=True),
        Parameter("reason", "Why the facts are merged.", ("--reason",)),
        CATEGORY,
        IMPORTANCE,
    ),
    REVISED,
    ("clawmem merge fact_1a2b fact_5e6f --into 'Jane lives in Oslo, in Grünerløkka.'",),
    ("facts",),
)
