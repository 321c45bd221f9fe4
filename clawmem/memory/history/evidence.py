"""Evidence: find the event that a fact cites, and the span of the quote in it."""

from __future__ import annotations

from clawmem.errors import InvalidInput, NotFound
from clawmem.index.search.lookup import event_day
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact
from clawmem.model.records.event import Event, ledger_path, parse_events
from clawmem.vault.vault import Vault

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
