"""List the facts that are stale, the most important first."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.channels import FactFilter, passing_with_more
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.search.sittings import events_by_id
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact, importance_of
from clawmem.model.lifecycle.staleness import stale_reason
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.vault.vault import Vault


class StaleFacts(NamedTuple):
    """Stale facts, each with the reason, and their total number."""

    facts: tuple[tuple[PlacedFact, str], ...]
    total: int


def list_stale(vault: Vault, caller: Caller, wanted: FactFilter, limit: int) -> StaleFacts:
    """Return the stale facts that pass the filter, at most `limit`."""
    days = vault.settings.whole("stale.days")

    def read(index: Index) -> list[tuple[PlacedFact, str]]:
        # No other fact can have a reason.
        placed = passing_with_more(index, wanted)
        sources = sources_of(index, (other_placed.fact for other_placed in placed))
        reasons = (
            (other_placed, stale_reason(other_placed.fact, caller.now, days, sources)) for other_placed in placed
        )
        return [(other_placed, why) for other_placed, why in reasons if why is not None]

    found = run_query(vault, read)
    found.sort(key=lambda pair: (-importance_of(pair[0].fact), pair[0].fact.timestamp, pair[0].fact.id))
    return StaleFacts(tuple(found[:limit]), len(found))


def sources_of(index: Index, facts: Iterable[Fact]) -> dict[str, Event]:
    """Return the events that some facts cite, by id."""
    return events_by_id(index, {fact.source_event for fact in facts if fact.source_event is not None})
