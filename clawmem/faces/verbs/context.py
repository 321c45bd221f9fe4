"""`clawmem context`."""

from __future__ import annotations

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, point_in_time
from clawmem.faces.parts.parameters import AS_OF, AT, NARRATIVE, OF_ENTITY, Parameter
from clawmem.faces.parts.words import NARRATED, context_data
from clawmem.serving.context.context import context as act


def context(
    call: Call,
    question: str | None,
    budget: int | None,
    entity: str | None,
    as_of: str | None,
    at: str | None,
    evidence: bool,
    narrative: bool,
) -> Answer:
    """The text can be used in a system prompt. It states what was left out."""
    if narrative and not (question or "").strip():
        raise InvalidInput("--narrative needs a question.", "Example: clawmem context 'what is due?' --narrative")
    here = point_in_time(call, at)
    caller, vault = here.caller, here.vault
    asked = question.strip() if question else None
    wanted = filter_of(vault, caller, entity, as_of=as_of)
    most = budget or vault.settings.whole("context.budget")
    done = act(vault, caller, most, asked, wanted.entity, wanted.as_of, evidence)
    data = {"context": context_data(done), **here.data}
    if narrative:
        from clawmem.faces.parts.narrated import narrated  # few calls ask for it
        from clawmem.serving.narrative import facts_named

        told = narrated(call, vault, caller, asked or "", facts_named(vault, done.facts))
        notices = (*here.notices, *done.notices, *told.notices)
        return Answer({**data, "narrative": told.data}, [told.text or done.text], notices, told.exit_code)
    return Answer(data, [done.text], (*here.notices, *done.notices))


VERB = Command(
    context,
    (
        Parameter("question", "The task of the agent, or - for stdin.", stdin=True),
        Parameter("budget", "The maximum number of tokens.", ("--budget", "-b"), int, least=1),
        OF_ENTITY,
        AS_OF,
        AT,
        Parameter("evidence", "Include the quote, event and day of each fact.", ("--evidence",), bool, False),
        NARRATIVE,
    ),
    {"context": "context", "narrative?": NARRATED, "at?": "point"},
    ("clawmem context 'plan the dinner for Friday' --budget 1000",),
    ("context",),
)
