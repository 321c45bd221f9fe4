"""`clawmem supersede`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import CATEGORY, CONFIDENCE, EVIDENCE, FACT, IMPORTANCE, SOURCE, TRUST, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.claims import deprecate
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import supersede as act
from clawmem.model.facts.draft import draft_from_record

_CHANGED = "clawmem supersede fact_1a2b 'Jane lives in Bergen.' --reason 'She moved.' --valid-from 2026-11-01"
_ANNOUNCED = "clawmem supersede fact_1a2b --for fact_5e6f --until 2026-12-31"


def supersede(
    call: Call,
    fact: Annotated[str, FACT._replace(help="The id of the fact to replace, or a unique prefix.")],
    text: Annotated[str | None, Parameter("What is true now, or - for stdin.", stdin=True)],
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
    instead: Annotated[
        str | None, Parameter("A stored fact that takes its place after --until.", ("--for",), completes="fact")
    ],
    until: Annotated[str | None, Parameter("The last day of the fact, with --for.", ("--until",), metavar="DATE")],
) -> Answer:
    """The old fact remains in the vault, marked, with a pointer to the new one. Its validity ends when that of the new
    fact begins. A statement of a tool or the web that contradicts a person or an agent waits for review instead.
    `retract` is for what was never true, `supersede` for what changed, `forget` for what shall not be told, `redact`
    for a secret.

    With --for and --until, the change is announced: up to and with the day, the fact is served with a warning that
    names the new one. After it, the heartbeat archives the fact and marks what rests on it. `undo` takes that back. An
    agent that announces the end of what a person stated files a proposal."""
    argument = dict(locals())
    for name in ("call", "fact", "text", "reason", "instead", "until"):
        del argument[name]
    caller = call.runtime.caller()
    values = {key: value for key, value in argument.items() if value is not None}
    if instead is not None or until is not None:
        if instead is None or until is None or text is not None or values:
            raise InvalidInput(
                "An announced change takes a fact, --for, --until and --reason.", f"Example: {_ANNOUNCED}."
            )
        return revised(deprecate(call.runtime.vault(), fact, instead, until, caller, check_reason(reason)))
    if text is None:
        raise InvalidInput("What is true now is missing.", f"Example: {_CHANGED}.")
    record = {"fact": text, **values}
    draft = draft_from_record(record, caller.now)
    return revised(act(call.runtime.vault(), fact, draft, caller, check_reason(reason)))


VERB = Command(
    supersede,
    REVISED,
    (_ANNOUNCED, _CHANGED),
    ("facts",),
)
