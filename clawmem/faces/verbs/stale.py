"""`clawmem stale`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, reach_of
from clawmem.faces.parts.parameters import LIMIT, OF_CATEGORY, OF_ENTITY, PROJECT, SCOPE, WORKFLOW
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.serving.stale import list_stale


def stale(
    call: Call,
    entity: Annotated[str | None, OF_ENTITY],
    category: Annotated[str | None, OF_CATEGORY],
    limit: Annotated[int | None, LIMIT],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
) -> Answer:
    """List the facts that somebody should check: their day for review has passed, their source was revoked, redacted or
    changed, what they rest on was replaced or withdrawn, or nobody has used them for `stale.days` days."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    wanted = filter_of(vault, caller, entity, category, reach=reach_of(call, workflow, scope, project))
    facts = list_stale(vault, caller, wanted, limit or 50)
    data = {
        "facts": [{**fact_data(placed.fact, placed.entity), "why": why} for placed, why in facts.facts],
        "total": facts.total,
    }
    lines = [f"{fact_line(placed.fact, placed.entity)}  {why}" for placed, why in facts.facts]
    return Answer(data, lines, talk=() if lines else ("No fact is stale.",))


VERB = Command(
    stale,
    {"facts": [{"...": "fact", "why": str}], "total": int},
    ("clawmem stale", "clawmem stale --category lesson"),
    ("facts",),
)
