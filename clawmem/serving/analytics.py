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
        PlacedFact(add_accesses(counted_fact(index, one.fact), unkept), one.entity)
        for one in all_facts(index)
        if one.fact.status == "active" and (owner_of(one.entity) or "") in owners
    ]
    asked = sorted((one for one in facts if one.fact.access_count), key=lambda one: -one.fact.access_count)
    never = sorted((one for one in facts if not one.fact.access_count), key=lambda one: one.fact.timestamp)
    by_entity: dict[str, list[int]] = defaultdict(list)
    for one in facts:
        by_entity[one.entity].append(one.fact.access_count)
    uses = [EntityUse(name, len(counts), sum(map(bool, counts)), sum(counts)) for name, counts in by_entity.items()]
    uses.sort(key=lambda one: (-one.accesses, one.entity))
    total = sum(one.fact.access_count for one in asked)
    notices = index.notices
    return Analytics(
        len(facts), len(asked), total, tuple(asked[:limit]), tuple(never[:limit]), tuple(uses[:limit]), notices
    )
