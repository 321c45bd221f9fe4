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
    done = act(call.runtime.vault(), call.runtime.caller(), limit)
    data = {
        "total": {"facts": done.facts, "asked_for": done.asked_for, "accesses": done.accesses},
        "most": [_fact(one) for one in done.most],
        "never": [_fact(one) for one in done.never],
        "entities": [one._asdict() for one in done.entities],
    }
    return Answer(data, _lines(done), done.notices)


def _fact(one: PlacedFact) -> dict[str, object]:
    fact = one.fact
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": one.entity,
        "access_count": fact.access_count,
        "last_accessed": fact.last_accessed,
        "timestamp": fact.timestamp,
    }


def _lines(done: Analytics) -> Iterator[str]:
    accesses = counted(done.accesses, "access", "accesses")
    yield f"{counted(done.facts, 'active fact')}: {done.asked_for} asked for, {accesses}"
    if done.most:
        yield "Asked for most:"
        yield from (_line(f"{one.fact.access_count:>4}", one) for one in done.most)
    if done.never:
        yield f"Never asked for, oldest first ({done.facts - done.asked_for} in all):"
        yield from (_line(one.fact.timestamp[:10], one) for one in done.never)
    if done.entities:
        yield "By entity (facts, asked for, accesses):"
        yield from map(_entity, done.entities)


def _line(first: str, one: PlacedFact) -> str:
    return f"  {first}  {one.fact.id}  {one.fact.fact}  ({one.entity})"


def _entity(one: EntityUse) -> str:
    return f"  {one.facts:>4} {one.asked_for:>4} {one.accesses:>4}  {one.entity}"


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
