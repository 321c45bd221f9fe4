"""Evidence: the event a fact cites, found in its day's ledger, and the place of the quoted words in it."""

from __future__ import annotations

from clawmem.errors import InvalidInput, NotFound
from clawmem.index.search.lookup import event_day
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact
from clawmem.model.records.event import Event, ledger_path, parse_events
from clawmem.vault.vault import Vault


def find_event(vault: Vault, index: Index, event_id: str) -> Event | None:
    """The event of that id, or None where the ledger holds none."""
    day = event_day(index, event_id)
    if day is None:
        return None
    path = ledger_path(day)
    events = parse_events(vault.read(path) or b"", path)
    return next((event for event in events if event.id == event_id), None)


def with_evidence(vault: Vault, index: Index, fact: Fact) -> Fact:
    """The fact with the exact span of its quote in the event it cites; the whole text where it quotes nothing.

    Raises NotFound for an unknown event and InvalidInput where the event does not hold the quoted words.
    """
    if fact.source_event is None:
        return fact
    event = find_event(vault, index, fact.source_event)
    if event is None:
        raise NotFound(f"There is no event '{fact.source_event}'.", "`clawmem ingest` adds events.")
    quote = event.text if fact.source_text is None else fact.source_text
    start = event.text.find(quote)
    if start < 0:
        raise InvalidInput(
            f"The evidence is not in the event {event.id}, to the character.", "Quote the event's text verbatim."
        )
    return fact._replace(source_text=quote, source_span=(start, start + len(quote)))
