"""Which events read as orders: judged once, in the background, so that serving does not judge each text again.

A verdict is a mark made of the text, of who said it and of the version of the rules, turned over (`~`) where the event
reads as an order. Where a text, a verdict or the rules changed since, they do not fit together, and whoever serves the
event judges it anew: damage makes nothing clear.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from clawmem.index.tables.store import Index
from clawmem.model.proposals.quarantine import quarantined_event, verdict_key
from clawmem.model.records.event import Event, event_from_record

_AT_ONCE = 5_000


def reads_as_order(event: Event, verdicts: Collection[int | None]) -> bool:
    """Whether an event reads as an order, by what is kept of it if that fits, in a twentieth of the time."""
    mark = verdict_key(event)
    if mark in verdicts:
        return False
    return ~mark in verdicts or quarantined_event(event)


def judge_events(index: Index) -> int:
    """Judge every event that was not judged yet; returns how many were."""
    judged = 0
    while True:
        rows = index.database.execute("SELECT n, line FROM event WHERE verdict IS NULL LIMIT ?", (_AT_ONCE,)).fetchall()
        if rows:
            # Judged before the right to write is taken, so that other writers do not wait for the rules.
            found = [(_verdict(event_from_record(json.loads(line))), n, line) for n, line in rows]
            with index.writing():
                index.database.executemany("UPDATE event SET verdict = ? WHERE n = ? AND line = ?", found)
        judged += len(rows)
        if len(rows) < _AT_ONCE:
            return judged


def _verdict(event: Event) -> int:
    return ~verdict_key(event) if quarantined_event(event) else verdict_key(event)
