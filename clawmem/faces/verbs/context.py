"""`clawmem context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, mark_session, point_in_time, reach_of
from clawmem.faces.parts.parameters import AS_OF, AT, EXPLAIN, OF_ENTITY, PROJECT, SCOPE, WORKFLOW, Parameter
from clawmem.faces.parts.words import context_data
from clawmem.serving.context.context import context as act

if TYPE_CHECKING:
    from clawmem.serving.context.for_task import ItemReason


def context(
    call: Call,
    question: str | None,
    budget: int | None,
    entity: str | None,
    as_of: str | None,
    at: str | None,
    evidence: bool,
    workflow: str | None,
    scope: str | None,
    project: str | None,
    explain: bool,
) -> Answer:
    """The text can be used in a system prompt. It states what was left out."""
    here = point_in_time(call, at)
    caller, vault = here.caller, here.vault
    asked = question.strip() if question else None
    wanted = filter_of(vault, caller, entity, as_of=as_of)
    reach = reach_of(call, workflow, scope, project)
    most = budget or vault.settings.whole("context.budget")
    done = act(vault, caller, most, asked, wanted.entity, wanted.as_of, evidence, reach)
    mark_session(here, done.facts)
    data = {"context": context_data(done), **here.data}
    if explain:
        data["items"] = [_item(one) for one in done.explained]
    lines = [done.text, *(_line(one) for one in done.explained if explain)]
    return Answer(data, lines, (*here.notices, *done.notices))


def _item(one: ItemReason) -> dict[str, Any]:
    factors = {name: round(value, 3) for name, value in one.factors._asdict().items()}
    about = {"id": one.id, "section": one.section, "scope": one.scope, "pass": one.at_pass}
    return {**about, "score": round(one.factors.score, 3), "factors": factors}


def _line(one: ItemReason) -> str:
    factors = " x ".join(f"{name} {value:.2f}" for name, value in one.factors._asdict().items())
    return f"{one.id}  {one.section}, scope {one.scope}, pass {one.at_pass}: {one.factors.score:.2f} = {factors}"


VERB = Command(
    context,
    (
        Parameter("question", "The task of the agent, or - for stdin.", stdin=True),
        Parameter("budget", "The maximum number of tokens.", ("--budget", "-b"), int, least=1),
        OF_ENTITY,
        AS_OF,
        AT,
        Parameter("evidence", "Include the quote, event and day of each fact.", ("--evidence",), bool, False),
        WORKFLOW,
        SCOPE,
        PROJECT,
        EXPLAIN._replace(help="Say of each fact of the scope why it is there."),
    ),
    {
        "context": "context",
        "at?": "point",
        "items?": [
            {
                "id": str,
                "section": str,
                "scope": (str, None),
                "pass": int,
                "score": float,
                "factors": {str: float},
            }
        ],
    },
    ("clawmem context 'plan the dinner for Friday' --budget 1000",),
    ("context",),
)
