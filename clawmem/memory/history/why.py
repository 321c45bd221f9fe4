"""Why a fact is in memory: its evidence, who recorded it in which commit, and the chain it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, find_fact
from clawmem.index.search.unreadable import unreadable_notices
from clawmem.index.tables.store import Index
from clawmem.memory.history.chains import chain_in
from clawmem.memory.history.evidence import find_event
from clawmem.memory.history.log import LostFact, beginnings, cut_off, fact_history, lost_fact, paths_of_fact
from clawmem.memory.permission import check_may_read
from clawmem.model.facts.fact import Fact
from clawmem.model.history.entry import HistoryEntry
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.vault.history.history import History, open_history
from clawmem.vault.state.journal import add_accesses, count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault


class ChainLink(NamedTuple):
    """One fact of a chain, its entity, and the commit that recorded it (None where no commit holds it yet, or where a
    shallow clone begins later: `begins` is its first commit then)."""

    fact: Fact
    entity: str
    recorded: HistoryEntry | None
    begins: HistoryEntry | None = None


class WhyResult(NamedTuple):
    """A fact with everything that explains it; `recorded` and `begins` as in its link of the chain; `chain` and
    `history` are oldest first; `removed` is the commit that took it out, where it is not in the vault any more."""

    fact: Fact
    entity: str
    event: Event | None
    recorded: HistoryEntry | None
    begins: HistoryEntry | None
    chain: tuple[ChainLink, ...]
    history: tuple[HistoryEntry, ...]
    notices: tuple[str, ...] = ()
    removed: HistoryEntry | None = None


def why(vault: Vault, reference: str, caller: Caller | None = None) -> WhyResult:
    """Explain the fact with this id or unique prefix, also one that was taken out again; raises NotFound, AmbiguousId,
    and NotPermitted where `caller` is an agent and it is another one's own."""
    return run_query(vault, lambda index: _why(vault, index, reference, caller), one_state=False)


def _why(vault: Vault, index: Index, reference: str, caller: Caller | None) -> WhyResult:
    with open_history(vault) as history:
        one, removed = _found(index, history, reference)
        check_may_read(caller, one.entity)
        members = [one] if removed else chain_in(index, one.fact.id)
        wanted = {each.fact.id: paths_of_fact(index, history, each.fact.id) for each in members}
        told = fact_history(history, wanted)
        begins = beginnings(history, wanted)
    chain = tuple(_link(each, told[each.fact.id], begins.get(each.fact.id)) for each in members)
    own = next(link for link in chain if link.fact.id == one.fact.id)
    event, problems = _evidence(vault, index, one.fact)
    fact = add_accesses(one.fact, count_accesses(unfolded_accesses(vault)))
    notices = (*index.notices, *unreadable_notices(index), *problems, *cut_off(vault))
    return WhyResult(
        fact, one.entity, event, own.recorded, own.begins, chain, tuple(told[one.fact.id]), notices, removed
    )


def _found(index: Index, history: History, reference: str) -> tuple[PlacedFact, HistoryEntry | None]:
    """The fact, and where it is only in the history the commit that took it out."""
    try:
        return find_fact(index, reference), None
    except NotFound:
        lost = lost_fact(index, history, reference)
        return PlacedFact(lost.fact, lost.entity), lost.removed


def gone(vault: Vault, reference: str) -> NotFound | None:
    """How to say that there is no such fact any more, where there was one."""

    def sought(index: Index) -> LostFact:
        with open_history(vault) as history:
            return lost_fact(index, history, reference)

    try:
        lost = run_query(vault, sought, one_state=False)
    except NotFound:
        return None
    by = f"{lost.removed.commit[:12]} ({lost.removed.subject})"
    return NotFound(
        f"{lost.fact.id} is not in the vault any more: {by} took it out.",
        f"`clawmem why {lost.fact.id}` shows it as it was; `clawmem undo {lost.removed.commit[:12]}` brings it back.",
    )


def _link(one: PlacedFact, entries: Sequence[HistoryEntry], begins: HistoryEntry | None) -> ChainLink:
    return ChainLink(one.fact, one.entity, None if begins else next(iter(entries), None), begins)


def _evidence(vault: Vault, index: Index, fact: Fact) -> tuple[Event | None, list[str]]:
    """The event the fact cites, and what is wrong with the evidence."""
    if fact.source_event is None:
        return None, []
    try:
        event = find_event(vault, index, fact.source_event)
    except ClawmemError as problem:
        return None, [f"the event cannot be shown: {problem.message}"]
    if event is None:
        return None, [f"the ledger has no event {fact.source_event}"]
    if fact.source_span and event.text[slice(*fact.source_span)] != fact.source_text:
        return event, [f"the quoted words are not what {event.id} has at characters {list(fact.source_span)}"]
    return event, []
