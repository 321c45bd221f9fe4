"""`clawmem context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from clawmem.extension import ask
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import entity_or_page, filter_of, mark_session, point_in_time, reach_of
from clawmem.faces.parts.parameters import (
    AS_OF,
    AT,
    EXPLAIN,
    OF_ENTITY,
    PROJECT,
    SCOPE,
    SINCE,
    UNTIL,
    WORKFLOW,
    Parameter,
)
from clawmem.faces.parts.words import OF_ORGANISATION, ORG, context_data
from clawmem.serving.answers import hidden_notices
from clawmem.serving.context.context import context as act

if TYPE_CHECKING:
    from clawmem.serving.context.units import ItemReason


def context(
    call: Call,
    question: Annotated[str | None, Parameter("The task of the agent, or - for stdin.", stdin=True)],
    budget: Annotated[int | None, Parameter("The maximum number of tokens.", ("--budget", "-b"), least=1)],
    entity: Annotated[str | None, OF_ENTITY],
    as_of: Annotated[str | None, AS_OF],
    at: Annotated[str | None, AT],
    since: Annotated[str | None, SINCE],
    until: Annotated[str | None, UNTIL],
    evidence: Annotated[bool, Parameter("Include the quote, event and day of each fact.", ("--evidence",))],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
    explain: Annotated[
        bool, EXPLAIN._replace(help="Say of each fact of the scope or of a further pass why it is there.")
    ],
    org: Annotated[bool, ORG],
) -> Answer:
    """The text can be used in a system prompt. It states what was left out."""
    here = point_in_time(call, at)
    caller, vault = here.caller, here.vault
    asked = question.strip() if question else None
    reach = reach_of(call, workflow, scope, project)
    place = entity_or_page(call, vault, entity, project, reach)
    wanted = filter_of(vault, caller, place, as_of=as_of, since=since, until=until)
    most = budget or vault.settings.whole("context.budget")
    days = (wanted.since, wanted.until)
    result = act(vault, caller, most, asked, wanted.entity, wanted.as_of, evidence, reach, *days)
    mark_session(here, result.facts)
    hidden = hidden_notices(vault, asked, caller, wanted._replace(reach=reach)) if reach else []
    notices = [*here.notices, *result.notices, *hidden]
    data: dict[str, Any] = {}
    if org:
        beside = ask("hub", "beside")(here, asked, vault.settings.whole("defaults.limit"), result.facts, wanted.as_of)
        result, left_out = beside.joined(result, most)
        notices += [*beside.notices(), *left_out]
        data["organisation"] = beside.data()
    data = {"context": context_data(result), **data, **here.data}
    if explain:
        data["items"] = [_item(reason) for reason in result.explained]
    return Answer(data, [result.text, *(_line(reason) for reason in result.explained if explain)], notices)


def _item(reason: ItemReason) -> dict[str, Any]:
    factors = {name: round(value, 3) for name, value in reason.factors.items()}
    about = {
        "id": reason.id,
        "section": reason.section,
        "scope": reason.scope,
        "pass": reason.at_pass,
        "via": reason.via,
    }
    return {**about, "score": round(reason.score, 3), "factors": factors}


def _line(reason: ItemReason) -> str:
    found = f"{reason.id}  {reason.section}, scope {reason.scope}, pass {reason.at_pass}"
    if reason.via:
        words = reason.factors["words"]
        return f"{found}, by way of {reason.via}: {reason.score:.2f}; both have {words:.0%} of the question's words"
    factors = " x ".join(f"{name} {value:.2f}" for name, value in reason.factors.items())
    return f"{found}: {reason.score:.2f} = {factors}"


VERB = Command(
    context,
    {
        "context": "context",
        "organisation?": OF_ORGANISATION,
        "at?": "point",
        "items?": [
            {
                "id": str,
                "section": str,
                "scope": (str, None),
                "pass": int,
                "via": (str, None),
                "score": float,
                "factors": {str: float},
            }
        ],
    },
    ("clawmem context 'plan the dinner for Friday' --budget 1000", "clawmem context --since 'last week'"),
    ("context",),
)
