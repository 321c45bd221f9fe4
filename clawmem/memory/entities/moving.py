"""Move facts to the entities that they are about. A fact keeps its id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.index.search.lookup import entity_exists
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.scope import WriteScope, items_write
from clawmem.model.facts.fact import Fact
from clawmem.model.records.entity import is_candidate_place, items_path


class FactMove(NamedTuple):
    """A changed fact, the entity that it stands in (None for a new fact), its target, and the title of a new target."""

    fact: Fact
    source: str | None
    target: str
    title: str | None = None


def move_writes(work: WriteScope, moves: Iterable[FactMove]) -> dict[str, bytes | None]:
    """Return the files in which each fact stands in its target, and no longer in another entity.

    A target that does not exist is created. A place of candidates without facts is removed.
    """
    facts: dict[str, dict[str, Fact]] = {}
    writes: dict[str, bytes | None] = {}

    def of(entity: str) -> dict[str, Fact]:
        if entity not in facts:
            facts[entity] = {fact.id: fact for fact in work.facts(entity)}
        return facts[entity]

    for move in moves:
        if move.source and move.source != move.target:
            of(move.source).pop(move.fact.id, None)
        if move.target != move.source and not entity_exists(work.index, move.target):
            writes.update(new_entity_files(move.target, work.caller, move.title))
        of(move.target)[move.fact.id] = move.fact
    for entity, left in facts.items():
        empty = not left and is_candidate_place(entity)
        writes.update({items_path(entity): None} if empty else items_write(entity, list(left.values())))
    return writes
