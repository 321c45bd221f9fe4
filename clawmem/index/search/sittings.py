"""The events of one session, and events by id."""

from __future__ import annotations

import json
from collections.abc import Collection

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


def events_by_id(index: Index, ids: Collection[str]) -> dict[str, Event]:
    """Return the events with these ids, also recalled ones. Raise RowDamaged if a row is damaged."""
    found = {}
    query = (
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value"
        " ORDER BY day, n"
    )
    for n, event_id, day, line, seal in index.database.execute(query, (json.dumps(sorted(ids)),)):
        check_event(n, event_id, day, line, seal)
        found[event_id] = event_from_record(json.loads(line))
    return found
