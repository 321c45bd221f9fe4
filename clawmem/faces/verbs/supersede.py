"""`clawmem supersede`."""

from __future__ import annotations

from typing import Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import CATEGORY, CONFIDENCE, EVIDENCE, FACT, IMPORTANCE, SOURCE, TRUST, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import supersede as act
from clawmem.model.facts.draft import draft_from_record


def supersede(call: Call, fact: str, text: str, reason: str | None, **given: Any) -> Answer:
    """The old fact remains in the vault, marked, with a pointer to the new one. Its validity ends when that of the new
    fact begins. A statement of a tool or the web that contradicts a person or an agent waits for review instead."""
    caller = call.runtime.caller()
    record = {"fact": text, **{key: value for key, value in given.items() if value is not None}}
    draft = draft_from_record(record, caller.now)
    return revised(act(call.runtime.vault(), fact, draft, caller, check_reason(reason)))


VERB = Command(
    supersede,
    (
        FACT._replace(help="The id of the fact to replace, or a unique prefix."),
        Parameter("text", "What is true now, or - for stdin.", required=True, stdin=True),
        Parameter("reason", "Why it changed.", ("--reason",)),
        Parameter("valid_from", "The day or time from which the new fact is true (default: now).", ("--valid-from",)),
        Parameter("object", "The new other end of the relation.", ("--object",)),
        CATEGORY,
        Parameter("tags", "A further tag; may be repeated.", ("--tag", "-t"), repeated=True),
        CONFIDENCE,
        IMPORTANCE,
        SOURCE,
        TRUST,
        EVIDENCE,
    ),
    REVISED,
    ("clawmem supersede fact_1a2b 'Jane lives in Bergen.' --reason 'She moved.' --valid-from 2026-11-01",),
    ("facts",),
)
