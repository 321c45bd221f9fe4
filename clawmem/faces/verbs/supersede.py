"""`clawmem supersede`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import CATEGORY, CONFIDENCE, EVIDENCE, FACT, IMPORTANCE, SOURCE, TRUST, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import supersede as act
from clawmem.model.facts.draft import draft_from_record


def supersede(
    call: Call,
    fact: Annotated[str, FACT._replace(help="The id of the fact to replace, or a unique prefix.")],
    text: Annotated[str, Parameter("What is true now, or - for stdin.", stdin=True)],
    reason: Annotated[str | None, Parameter("Why it changed.", ("--reason",))],
    valid_from: Annotated[
        str | None, Parameter("The day or time from which the new fact is true (default: now).", ("--valid-from",))
    ],
    object: Annotated[str | None, Parameter("The new other end of the relation.", ("--object",))],
    category: Annotated[str | None, CATEGORY],
    tags: Annotated[list[str] | None, Parameter("A further tag; may be repeated.", ("--tag", "-t"))],
    confidence: Annotated[float | None, CONFIDENCE],
    importance: Annotated[float | None, IMPORTANCE],
    source: Annotated[str | None, SOURCE],
    trust: Annotated[str | None, TRUST],
    source_text: Annotated[str | None, EVIDENCE],
) -> Answer:
    """The old fact remains in the vault, marked, with a pointer to the new one. Its validity ends when that of the new
    fact begins. A statement of a tool or the web that contradicts a person or an agent waits for review instead."""
    argument = dict(locals())
    del argument["call"], argument["fact"], argument["text"], argument["reason"]
    caller = call.runtime.caller()
    record = {"fact": text, **{key: value for key, value in argument.items() if value is not None}}
    draft = draft_from_record(record, caller.now)
    return revised(act(call.runtime.vault(), fact, draft, caller, check_reason(reason)))


VERB = Command(
    supersede,
    REVISED,
    ("clawmem supersede fact_1a2b 'Jane lives in Bergen.' --reason 'She moved.' --valid-from 2026-11-01",),
    ("facts",),
)
