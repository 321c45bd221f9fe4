"""Which facts are asked for, and which never were: what a person needs to see what this memory is good for."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, all_facts
from clawmem.index.tables.accesses import counted_fact
from clawmem.index.tables.store import Index
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import owner_of, visible_owners
from clawmem.vault.state.journal import add_accesses, count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault


class EntityUse(NamedTuple):
    """An entity with the number of its active facts, of those that were asked for, and of all accesses."""

    entity: str
    facts: int
    asked_for: int
    accesses: int


class Analytics(NamedTuple):
    """The active facts that were asked for most, those never asked for (oldest first), their totals, and each entity.

    Entities are in the order of their accesses.
    """

    facts: int
    asked_for: int
    accesses: int
    most: tuple[PlacedFact, ...]
    never: tuple[PlacedFact, ...]
    entities: tuple[EntityUse, ...]
    notices: tuple[str, ...] = ()


def analytics(vault: Vault, caller: Caller, limit: int) -> Analytics:
    """Return how the active facts that the caller may see are used, at most `limit` of each list.

    Accesses that the next heartbeat will fold count, too. Reading this counts as no access.
    """
    return run_query(vault, lambda index: _analytics(vault, index, caller, limit))


def _analytics(vault: Vault, index: Index, caller: Caller, limit: int) -> Analytics:
    owners, unkept = visible_owners(caller.agent), count_accesses(unfolded_accesses(vault))
    facts = [
        PlacedFact(add_accesses(counted_fact(index, placed.fact), unkept), placed.entity)
        for placed in all_facts(index)
        if placed.fact.status == "active" and (owner_of(placed.entity) or "") in owners
    ]
    asked = sorted(
        (placed for placed in facts if placed.fact.access_count), key=lambda placed: -placed.fact.access_count
    )
    never = sorted(
        (placed for placed in facts if not placed.fact.access_count), key=lambda placed: placed.fact.timestamp
    )
    by_entity: dict[str, list[int]] = defaultdict(list)
    for placed in facts:
        by_entity[placed.entity].append(placed.fact.access_count)
    uses = [EntityUse(name, len(counts), sum(map(bool, counts)), sum(counts)) for name, counts in by_entity.items()]
    uses.sort(key=lambda use: (-use.accesses, use.entity))
    total = sum(placed.fact.access_count for placed in asked)
    notices = index.notices
    return Analytics(
        len(facts), len(asked), total, tuple(asked[:limit]), tuple(never[:limit]), tuple(uses[:limit]), notices
    )
