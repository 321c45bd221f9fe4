"""`clawmem analytics`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.index.search.lookup import PlacedFact
from clawmem.model.language.text import counted
from clawmem.serving.analytics import Analytics, EntityUse
from clawmem.serving.analytics import analytics as act


def analytics(
    call: Call,
    limit: Annotated[
        int, Parameter("The maximum number of rows of each list.", ("--limit", "-n"), default=10, least=1, most=1000)
    ],
) -> Answer:
    """Active facts only. An access is a retrieval: recall, show, the answers of a context, and what the settings
    `access.*` add."""
    result = act(call.runtime.vault(), call.runtime.caller(), limit)
    data = {
        "total": {"facts": result.facts, "asked_for": result.asked_for, "accesses": result.accesses},
        "most": [_fact(placed) for placed in result.most],
        "never": [_fact(placed) for placed in result.never],
        "entities": [entity._asdict() for entity in result.entities],
    }
    return Answer(data, _lines(result), result.notices)


def _fact(placed: PlacedFact) -> dict[str, object]:
    fact = placed.fact
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": placed.entity,
        "access_count": fact.access_count,
        "last_accessed": fact.last_accessed,
        "timestamp": fact.timestamp,
    }


def _lines(analytics: Analytics) -> Iterator[str]:
    accesses = counted(analytics.accesses, "access", "accesses")
    yield f"{counted(analytics.facts, 'active fact')}: {analytics.asked_for} asked for, {accesses}"
    if analytics.most:
        yield "Asked for most:"
        yield from (_line(f"{placed.fact.access_count:>4}", placed) for placed in analytics.most)
    if analytics.never:
        yield f"Never asked for, oldest first ({analytics.facts - analytics.asked_for} in all):"
        yield from (_line(placed.fact.timestamp[:10], placed) for placed in analytics.never)
    if analytics.entities:
        yield "By entity (facts, asked for, accesses):"
        yield from map(_entity, analytics.entities)


def _line(first: str, placed: PlacedFact) -> str:
    return f"  {first}  {placed.fact.id}  {placed.fact.fact}  ({placed.entity})"


def _entity(use: EntityUse) -> str:
    return f"  {use.facts:>4} {use.asked_for:>4} {use.accesses:>4}  {use.entity}"


_FACT = {
    "id": str, "fact": str, "entity": str, "access_count": int, "last_accessed": (str, None), "timestamp": str,
}  # fmt: skip

VERB = Command(
    analytics,
    {
        "total": {"facts": int, "asked_for": int, "accesses": int},
        "most": [_FACT],
        "never": [_FACT],
        "entities": [{"entity": str, "facts": int, "asked_for": int, "accesses": int}],
    },
    ("clawmem analytics --limit 20",),
    ("most",),
)
