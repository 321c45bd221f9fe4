"""Browsing: one fact whole, or all facts of some kind, with the counts that no commit holds yet."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound
from clawmem.index.channels import Filter, all_passing
from clawmem.index.lookup import Placed
from clawmem.index.lookup import find as find_fact
from clawmem.index.refresh import answered
from clawmem.index.store import Index
from clawmem.memory.chains import chain_in
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.fact import Fact
from clawmem.model.ranking import ordered
from clawmem.model.validity import true_instead, why_untrue
from clawmem.serving.recall import standing_of, unreadable
from clawmem.vault.journal import accesses, record_access, unfolded, with_access
from clawmem.vault.vault import Vault


class Truth(NamedTuple):
    """Whether a fact was true at a time: why not (None where it was), and what of its chain was true instead."""

    as_of: str
    why_not: str | None
    instead: Placed | None


class Shown(NamedTuple):
    """A fact with the counts that no commit holds yet, its entity, whether it was true then, asides."""

    fact: Fact
    entity: str
    truth: Truth | None
    notices: tuple[str, ...] = ()


class Listed(NamedTuple):
    """Facts in their order of standing, each with its tier, and how many there are in all."""

    facts: tuple[tuple[Placed, str], ...]
    total: int
    notices: tuple[str, ...] = ()


def show(vault: Vault, reference: str, caller: Caller, as_of: str | None = None) -> Shown:
    """One fact by id or unique prefix, and with `as_of` whether it was true then; showing it counts as an access."""
    try:
        shown = answered(vault, lambda index: _shown(index, reference, as_of))
    except NotFound:
        _refuse_later(vault, reference)
        raise
    counted = accesses(unfolded(vault))
    problem = record_access(vault, stamp(caller.now), [shown.fact.id])
    notices = (*shown.notices, problem) if problem else shown.notices
    return shown._replace(fact=with_access(shown.fact, counted), notices=notices)


def _shown(index: Index, reference: str, as_of: str | None) -> Shown:
    placed = find_fact(index, reference)
    if as_of is None:
        return Shown(placed.fact, placed.entity, None, index.notices)
    reason = why_untrue(placed.fact, as_of)
    instead = None
    if reason:
        chain = {one.fact.id: one for one in chain_in(index, placed.fact.id)}
        then = true_instead((one.fact for one in chain.values()), as_of)
        instead = chain[then.id] if then else None
    return Shown(placed.fact, placed.entity, Truth(as_of, reason, instead), index.notices)


def _refuse_later(vault: Vault, reference: str) -> None:
    """Raise NotFound that says so where a fact is in the vault now and was not yet, or no more, at a point."""
    if vault.present is None:
        return
    try:
        fact = answered(vault.present, lambda index: find_fact(index, reference)).fact
    except ClawmemError:
        return  # it is in neither, and the caller says so
    raise NotFound(
        f"{fact.id} was not in the vault then; it was recorded at {fact.timestamp}.",
        f"`clawmem log {fact.id}` tells its history.",
    )


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
    standings = ordered(
        standing_of(one.fact, one.entity, caller.now, caller.agent, wanted.as_of) for one in shown.values()
    )
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
