"""Browsing: one fact whole, or all facts of some kind, with the counts that no commit holds yet."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.channels import Filter, all_passing
from clawmem.index.lookup import Placed
from clawmem.index.lookup import find as find_fact
from clawmem.index.refresh import answered
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.ranking import ordered
from clawmem.serving.recall import standing_of, unreadable
from clawmem.vault.journal import accesses, record_access, unfolded, with_access
from clawmem.vault.vault import Vault


class Listed(NamedTuple):
    """Facts in their order of standing, each with its tier, and how many there are in all."""

    facts: tuple[tuple[Placed, str], ...]
    total: int
    notices: tuple[str, ...] = ()


def show(vault: Vault, reference: str, caller: Caller) -> tuple[Placed, tuple[str, ...]]:
    """One fact by id or unique prefix; showing it counts as an access."""
    placed, notices = answered(vault, lambda index: (find_fact(index, reference), index.notices))
    counted = accesses(unfolded(vault))
    problem = record_access(vault, stamp(caller.now), [placed.fact.id])
    return Placed(with_access(placed.fact, counted), placed.entity), (*notices, *([problem] if problem else []))


def list_facts(
    vault: Vault,
    caller: Caller,
    wanted: Filter,
    limit: int | None = None,
    tier: str | None = None,
    status: str | None = None,
) -> Listed:
    """The facts that pass a filter, hot before warm before cold; listing counts as no access."""
    passing, notices = answered(vault, lambda index: (all_passing(index, wanted), (*index.notices, *unreadable(index))))
    counted = accesses(unfolded(vault))
    shown = {one.fact.id: Placed(with_access(one.fact, counted), one.entity) for one in passing}
    standings = ordered(standing_of(one.fact, one.entity, caller.now, caller.agent) for one in shown.values())
    rows = [
        (shown[one.id], one.tier)
        for one in standings
        if (tier is None or one.tier == tier) and (status is None or shown[one.id].fact.status == status)
    ]
    return Listed(tuple(rows[:limit]), len(rows), notices)


def peek(vault: Vault, reference: str) -> Placed:
    """One fact by id or unique prefix, without counting an access."""
    placed = answered(vault, lambda index: find_fact(index, reference))
    return Placed(with_access(placed.fact, accesses(unfolded(vault))), placed.entity)
