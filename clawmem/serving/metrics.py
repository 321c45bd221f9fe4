"""Metrics of the memory: facts by tier and workflow, what is stale or in conflict, and what each week brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.by_tier import ALWAYS, PAST, ReaderScope, count_tiers
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.totals import active_by_workflow, active_rows, fact_owners
from clawmem.index.tables.store import Index
from clawmem.memory.history.compare import fact_changes
from clawmem.model.facts.catalog import Catalog
from clawmem.model.history.comparison import CORRECTED, FORGOTTEN_KINDS, LEARNED, count_kinds, told_changes
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import COLD, HOT
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import ledger_path
from clawmem.model.records.model_run import runs_in, total_cents
from clawmem.serving.stale import list_stale
from clawmem.vault.history.points import last_commit_at
from clawmem.vault.vault import Vault


class WeekChanges(NamedTuple):
    """How many facts were learned, corrected and forgotten between two commits, as the report of the wiki counts
    them; but the facts that belong to one agent are counted, too."""

    learned: int = 0
    corrected: int = 0
    forgotten: int = 0


class Week(NamedTuple):
    """One week: the Monday on which it begins (UTC), its changes, and the cents of its recorded model runs."""

    begins: str
    changes: WeekChanges
    cents: float


class MemoryMetrics(NamedTuple):
    """Active facts by tier and by workflow ('' for none), stale facts, pairs of facts in conflict, and the last weeks,
    oldest first."""

    by_tier: Mapping[str, int]
    by_workflow: Mapping[str, int]
    stale: int
    conflicts: int
    weeks: tuple[Week, ...]
    notices: tuple[str, ...] = ()


KnownWeeks = MutableMapping[tuple[str | None, str], WeekChanges]
"""The changes between two commits, which never change: a process that asks again keeps them."""


def memory_metrics(vault: Vault, caller: Caller, weeks: int, known: KnownWeeks | None = None) -> MemoryMetrics:
    """Return the metrics. `weeks` is how many weeks are counted, with the present one."""
    by_tier, by_workflow, owners, conflicts, notices = run_query(vault, lambda index: _counted(vault, index, caller))
    stale = list_stale(vault, caller, FactFilter(owners=owners), 0).total
    counted = tuple(_weeks(vault, caller.now, weeks, {} if known is None else known))
    return MemoryMetrics(by_tier, by_workflow, stale, conflicts, counted, notices)


def _counted(
    vault: Vault, index: Index, caller: Caller
) -> tuple[dict[str, int], dict[str, int], tuple[str, ...], int, tuple[str, ...]]:
    owners = fact_owners(index)
    tiers = count_tiers(index, ReaderScope(owners, caller.now))
    tiers[HOT] += tiers.pop(ALWAYS)
    tiers[COLD] += tiers.pop(PAST)
    catalog = vault.catalog_or_none() or Catalog({})
    against = conflicting_ids(index, owners, catalog, stamp(caller.now), active_rows(index))
    pairs = {frozenset((text, other)) for text, others in against.items() for other in others}
    return tiers, active_by_workflow(index), owners, len(pairs), index.notices


def _weeks(vault: Vault, now: datetime, count: int, known: KnownWeeks) -> Iterator[Week]:
    monday = now.date() - timedelta(days=now.weekday())
    days = [monday - timedelta(weeks=back) for back in range(count - 1, -2, -1)]
    commits = [last_commit_at(vault, f"{(day - timedelta(days=1)).isoformat()}T23:59:59Z") for day in days]
    for begins, start, end in zip(days, commits, commits[1:], strict=False):
        changes = WeekChanges()
        if end is not None and end != start:
            if (start, end) not in known:
                known[start, end] = _changes(vault, start, end)
            changes = known[start, end]
        yield Week(begins.isoformat(), changes, _cents(vault, begins))


def _changes(vault: Vault, start: str | None, end: str) -> WeekChanges:
    counts = count_kinds(told_changes(fact_changes(vault, start, end)))
    return WeekChanges(counts[LEARNED], counts[CORRECTED], sum(counts[kind] for kind in FORGOTTEN_KINDS))


def _cents(vault: Vault, monday: date) -> float:
    """Return what the model runs that the ledger records cost in a week, in cents."""
    total = 0.0
    for step in range(7):
        path = ledger_path((monday + timedelta(days=step)).isoformat())
        try:
            total += total_cents(runs_in(vault.read(path) or b"", path))
        except Unreadable:
            continue  # `status` names the file
    return total
