"""Events by their ids, whatever their day."""

from __future__ import annotations

import json
from collections.abc import Collection

from clawmem.index.tables.seals import check_event
from clawmem.index.tables.store import Index
from clawmem.model.records.event import Event, event_from_record


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
