"""Export: the facts that a caller may read, as an OKF bundle or as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, entities, facts_of
from clawmem.index.search.unreadable import unreadable_notices
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import find_entity
from clawmem.memory.permission import may_read
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import Entity
from clawmem.vault.vault import Vault


class Concept(NamedTuple):
    """An entity with its facts, as a page of an export has them."""

    entity: Entity
    facts: Sequence[Fact]


class ExportedMemory(NamedTuple):
    """Entities in order of their names, each with its current and superseded facts; and notices."""

    concepts: tuple[Concept, ...]
    notices: Sequence[str]

    def facts(self) -> Iterator[PlacedFact]:
        """Yield the facts, each with its entity."""
        for concept in self.concepts:
            for fact in concept.facts:
                yield PlacedFact(fact, concept.entity.name)


def export_memory(vault: Vault, caller: Caller, entity: str | None = None) -> ExportedMemory:
    """Return what the caller may read, or one entity. Retracted facts are left out. It does not count as an access.

    Raise NotFound if there is no such entity.
    """

    def act(index: Index) -> ExportedMemory:
        name = find_entity(index, entity, caller) if entity else None
        chosen = (
            other_entity
            for other_entity in entities(index)
            if may_read(caller, other_entity.name) and name in (None, other_entity.name)
        )
        concepts = tuple(
            Concept(
                other_entity,
                tuple(placed.fact for placed in facts_of(index, other_entity.name) if _is_exported(placed)),
            )
            for other_entity in chosen
        )
        return ExportedMemory(concepts, (*index.notices, *unreadable_notices(index)))

    return run_query(vault, act)


def _is_exported(placed: PlacedFact) -> bool:
    return placed.fact.is_current or placed.fact.status == SUPERSEDED
