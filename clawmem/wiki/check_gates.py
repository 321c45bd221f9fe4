"""Say which facts pass the gates of the wiki, and why."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import NotFound
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, entity_exists, facts_of, find_fact
from clawmem.index.tables.store import Index
from clawmem.memory.facts.gates import gate_context, judge
from clawmem.memory.permission import check_may_read
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.records.caller import Caller
from clawmem.model.wiki.gates import GateResult
from clawmem.vault.vault import Vault


class GatedFact(NamedTuple):
    """A fact with the verdict of each gate."""

    placed: PlacedFact
    results: tuple[GateResult, ...]


def gate_fact(vault: Vault, caller: Caller, reference: str) -> GatedFact:
    """Return the verdicts about one fact. Raise NotFound, AmbiguousId, or NotPermitted for another agent's."""

    def read(index: Index) -> GatedFact:
        placed = find_fact(index, reference)
        check_may_read(caller, placed.entity)
        return _gated(vault, caller, index, [placed])[0]

    return run_query(vault, read)


def gate_entity(vault: Vault, caller: Caller, name: str) -> tuple[GatedFact, ...]:
    """Return the active facts of an entity, each with its verdicts. Raise NotFound for an unknown entity."""
    check_may_read(caller, name)

    def read(index: Index) -> tuple[GatedFact, ...]:
        if not entity_exists(index, name):
            raise NotFound(f"There is no entity {name}.", "`clawmem entity list` shows all.")
        return _gated(
            vault, caller, index, [placed for placed in facts_of(index, name) if placed.fact.status == ACTIVE]
        )

    return run_query(vault, read)


def _gated(vault: Vault, caller: Caller, index: Index, placed: list[PlacedFact]) -> tuple[GatedFact, ...]:
    judged = judge(index, gate_context(vault.settings, vault.catalog, caller), placed)
    return tuple(GatedFact(other_placed, judged.results[other_placed.fact.id]) for other_placed in placed)
