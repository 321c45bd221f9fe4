"""Totals over the whole memory, which the index counts without reading any fact."""

from __future__ import annotations

from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.facts.reach import workflow_of_realm


def fact_owners(index: Index) -> tuple[str, ...]:
    """Return the agents that have facts of their own; '' is the global memory, which is always there."""
    rows = index.database.execute("SELECT DISTINCT owner FROM fact")
    return tuple(sorted({"", *(owner for (owner,) in rows)}))


def active_by_workflow(index: Index) -> dict[str, int]:
    """Return the number of active facts of each workflow; '' stands for those of none."""
    found: dict[str, int] = {}
    for realm, number in index.database.execute(
        f"SELECT realm, COUNT(*) FROM fact WHERE status = '{ACTIVE}' GROUP BY realm ORDER BY realm"
    ):
        name = workflow_of_realm(realm) or ""
        found[name] = found.get(name, 0) + number
    return found


def active_rows(index: Index) -> dict[int, str]:
    """Return the ids of the active facts by row."""
    return dict(index.database.execute(f"SELECT n, id FROM fact WHERE status = '{ACTIVE}'").fetchall())
