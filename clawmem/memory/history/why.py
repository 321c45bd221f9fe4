"""Explain a fact: its evidence, the commit that recorded it, and its chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound
from clawmem.index.refresh import run_query
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.lookup import PlacedFact, by_ids, event_day, facts_naming, find_fact, unreadable_notices
from clawmem.index.search.rival_values import rows_of_ids
from clawmem.index.tables.fact_marks import counted_fact
from clawmem.index.tables.store import Index
from clawmem.memory.history.log import (
    RemovedFact,
    fact_history,
    find_removed_fact,
    paths_of_fact,
    seen_by_viewer,
    shallow_notices,
    shallow_starts,
    without_forgotten,
    without_words,
)
from clawmem.memory.permission import check_may_read_fact, may_read_fact
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.history.entry import HistoryEntry
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.chain import chain_of, replaced_facts
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, ledger_path, parse_events
from clawmem.vault.history.history import History, open_history
from clawmem.vault.state.journal import add_accesses, count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault


class ChainLink(NamedTuple):
    """One fact of a chain, its entity, and the commit that recorded it.

    `recorded` is None if no commit contains the fact yet, or if the clone is shallow. In a shallow clone `begins` is
    the first commit."""

    fact: Fact
    entity: str
    recorded: HistoryEntry | None
    begins: HistoryEntry | None = None


class WhyResult(NamedTuple):
    """A fact with its explanation. `recorded` and `begins` are those of its ChainLink.

    `chain` and `history` are oldest first. `removed` is the commit that removed the fact from the vault, or None.
    `against` are the ids of the facts that it is in conflict with."""

    fact: Fact
    entity: str
    event: Event | None
    recorded: HistoryEntry | None
    begins: HistoryEntry | None
    chain: tuple[ChainLink, ...]
    history: tuple[HistoryEntry, ...]
    notices: tuple[str, ...] = ()
    removed: HistoryEntry | None = None
    against: tuple[str, ...] = ()


def why(vault: Vault, reference: str, caller: Caller | None = None) -> WhyResult:
    """Explain the fact with this id or unique prefix, also one that was removed.

    Raise NotFound, AmbiguousId, and NotPermitted if the fact belongs to another agent."""
    return run_query(vault, lambda index: _why(vault, index, reference, caller), one_state=False)


def _why(vault: Vault, index: Index, reference: str, caller: Caller | None) -> WhyResult:
    with open_history(vault) as history:
        placed, removed = _find(index, history, reference)
        check_may_read_fact(caller, placed)
        chain = [] if removed else find_chain(index, placed.fact.id)
        members = [each for each in chain if may_read_fact(caller, each)] or [placed]
        wanted = {each.fact.id: paths_of_fact(index, history, each.fact.id) for each in members}
        found = fact_history(history, wanted)
        begins = shallow_starts(history, wanted)
        histories: Mapping[str, Sequence[HistoryEntry]]
        histories = {name: without_forgotten(vault, index, entries) for name, entries in found.items()}
        if index.is_restricted:
            histories = {name: [*seen_by_viewer(index, entries)] for name, entries in histories.items()}
            begins = {name: without_words(entry) for name, entry in begins.items()}
    links = tuple(_link(each, histories[each.fact.id], begins.get(each.fact.id)) for each in members)
    own = next(link for link in links if link.fact.id == placed.fact.id)
    event, problems = _evidence(vault, index, placed.fact)
    fact = add_accesses(
        placed.fact if removed else counted_fact(index, placed.fact), count_accesses(unfolded_accesses(vault))
    )
    notices = (*index.notices, *unreadable_notices(index), *problems, *shallow_notices(vault))
    return WhyResult(
        fact,
        placed.entity,
        event,
        own.recorded,
        own.begins,
        links,
        tuple(histories[placed.fact.id]),
        notices,
        removed,
        () if removed or caller is None else _against(vault, index, placed.fact, caller),
    )


def _against(vault: Vault, index: Index, fact: Fact, caller: Caller) -> tuple[str, ...]:
    """Return the ids of the facts that a fact is in conflict with now, of those that the caller may read."""
    owners = ["", *([caller.agent] if caller.agent else [])]
    rows = rows_of_ids(index, [fact.id])
    catalog = vault.catalog_or_none() or Catalog({})
    return conflicting_ids(index, owners, catalog, stamp(caller.now), rows).get(fact.id, ()) if rows else ()


def _find(index: Index, history: History, reference: str) -> tuple[PlacedFact, HistoryEntry | None]:
    """Return the fact and, if it is only in the history, the commit that removed it."""
    try:
        return find_fact(index, reference), None
    except NotFound:
        if index.is_restricted:
            raise
        lost = find_removed_fact(index, history, reference)
        return PlacedFact(lost.fact, lost.entity), lost.removed


def removed_fact_error(vault: Vault, reference: str) -> NotFound | None:
    """Return the error for a fact that was removed from the vault, or None if there never was one."""

    def searched(index: Index) -> RemovedFact:
        with open_history(vault) as history:
            return find_removed_fact(index, history, reference)

    try:
        lost = run_query(vault, searched, one_state=False)
    except NotFound:
        return None
    by = f"{lost.removed.commit[:12]} ({lost.removed.subject})"
    return NotFound(
        f"{lost.fact.id} is not in the vault any more: {by} removed it.",
        f"`clawmem why {lost.fact.id}` shows its last state; `clawmem undo {lost.removed.commit[:12]}` restores it.",
    )


def _link(placed: PlacedFact, entries: Sequence[HistoryEntry], begins: HistoryEntry | None) -> ChainLink:
    return ChainLink(placed.fact, placed.entity, None if begins else next(iter(entries), None), begins)


def _evidence(vault: Vault, index: Index, fact: Fact) -> tuple[Event | None, list[str]]:
    """Return the event that the fact cites, and the problems of the evidence."""
    if fact.source_event is None:
        return None, []
    try:
        event = find_event(vault, index, fact.source_event)
    except ClawmemError as problem:
        return None, [f"the event cannot be shown: {problem.message}"]
    if event is None:
        return None, [f"the ledger has no event {fact.source_event}"]
    if fact.source_span and event.text[slice(*fact.source_span)] != fact.source_text:
        return event, [f"the quote differs from the text of {event.id} at characters {list(fact.source_span)}"]
    return event, []


def find_chain(index: Index, fact_id: str) -> list[PlacedFact]:
    """Return the facts of the chain, oldest first. Only the facts of the chain are read."""
    known: dict[str, PlacedFact] = {}
    queue = [fact_id]
    for current in queue:
        if current in known or not (found := by_ids(index, [current])):
            continue
        known.update(found)
        fact = found[current].fact
        after = [fact.superseded_by] if fact.superseded_by else []
        beside = [each.fact for each in facts_naming(index, current)]
        named = [fact.id for fact in beside if fact.superseded_by == current or current in replaced_facts(fact)]
        queue += [*after, *replaced_facts(fact), *named]
    return [known[fact.id] for fact in chain_of(fact_id, {key: each.fact for key, each in known.items()})]


Days = dict[str, dict[str, Event]]
"""The events of days that were read already, by day and id: many facts of one run may cite the same day."""


def find_event(vault: Vault, index: Index, event_id: str, days: Days | None = None) -> Event | None:
    """Return the event with this id, or None. Raise Unreadable if its ledger does not parse."""
    day = event_day(index, event_id)
    if day is None:
        return None
    days = {} if days is None else days
    if day not in days:
        path = ledger_path(day)
        days[day] = {event.id: event for event in parse_events(vault.read(path) or b"", path)}
    return days[day].get(event_id)


def with_evidence(vault: Vault, index: Index, fact: Fact, days: Days | None = None) -> Fact:
    """Return the fact with the span of its quote in the cited event. Without a quote the whole text is quoted.

    `days` keeps the ledgers between calls. Raise NotFound if the event does not exist, InvalidInput if it does not
    contain the quote.
    """
    if fact.source_event is None:
        return fact
    event = find_event(vault, index, fact.source_event, days)
    if event is None:
        raise NotFound(f"There is no event '{fact.source_event}'.", "`clawmem ingest` adds events.")
    quote = event.text if fact.source_text is None else fact.source_text
    start = event.text.find(quote)
    if start < 0:
        raise InvalidInput(
            f"The event {event.id} does not contain the exact words of the evidence.",
            "Quote the text of the event exactly.",
        )
    return fact._replace(source_text=quote, source_span=(start, start + len(quote)))
