"""The events of one session."""

from __future__ import annotations

import json

from clawmem.index.tables.seals import check_event
from clawmem.index.tables.store import Index
from clawmem.model.records.event import Event, event_from_record


def events_of_session(index: Index, session: str) -> list[Event]:
    """Return the events of a session in their order, without recalled ones."""
    names = [
        name for (name,) in index.database.execute("SELECT name FROM sitting WHERE substr(name, 12) = ?", (session,))
    ]
    found = []
    query = "SELECT n, id, day, line, seal FROM event WHERE sitting = ? AND recalled = 0 ORDER BY place"
    for name in sorted(names):
        for n, event_id, day, line, seal in index.database.execute(query, (name,)):
            check_event(n, event_id, day, line, seal)
            found.append(event_from_record(json.loads(line)))
    return found
