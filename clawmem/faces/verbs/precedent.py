"""`clawmem precedent`."""

from __future__ import annotations

from typing import Annotated, Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, reach_of
from clawmem.faces.parts.parameters import LIMIT, PROJECT, SCOPE, WORKFLOW, Parameter
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_data, origin_warnings, project_words
from clawmem.model.facts.precedents import DECISION, outcomes_of
from clawmem.serving.recall.recall import LEAST_SCORE, recall

_MOST = 5


def precedent(
    call: Call,
    task: Annotated[str, Parameter("The task, or - for stdin.", stdin=True)],
    limit: Annotated[int | None, LIMIT],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
) -> Answer:
    """The most similar earlier decisions come first, each with its reason, what was rejected, and what became of it."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    wanted = filter_of(vault, caller, category=DECISION, reach=reach_of(call, workflow, scope, project))
    result = recall(vault, task, caller, wanted, limit or _MOST, least=LEAST_SCORE)
    data = [
        {
            **fact_data(hit.fact, hit.entity),
            "score": hit.score,
            "outcomes": [dict(each) for each in outcomes_of(hit.fact)],
        }
        for hit in result.found
    ]
    lines = [line for hit in result.found for line in _lines(hit.fact)]
    talk = () if data else ("No earlier decision fits this task.",)
    return Answer({"facts": data}, lines, result.notices, talk=talk)


def _lines(fact: Fact) -> list[str]:
    details: Any = fact.details or {}
    about = "".join(f"  ({words})" for words in (*origin_warnings(fact), *project_words(fact)))
    lines = [f"{fact.id}  {fact.timestamp[:10]}  {fact.fact}{about}"]
    lines += [f"    why: {details['why']}"] if details.get("why") else []
    for alternative in details.get("alternatives", ()):
        lines.append(
            f"    not: {alternative.get('option', '')}{f' ({why})' if (why := alternative.get('why')) else ''}"
        )
    for each in outcomes_of(fact):
        note = each.get("note")
        lines.append(f"    {each.get('outcome')} {str(each.get('at', ''))[:10]}{f': {note}' if note else ''}")
    return lines


VERB = Command(
    precedent,
    {"facts": [{"...": "fact", "score": float, "outcomes": [{str: object}]}]},
    ("clawmem precedent 'uploads of large files'",),
    ("facts",),
)
