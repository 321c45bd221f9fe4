"""Verdicts on which events read as orders: computed once in the background, so that reads need not check each text.

A verdict is a hash of the text, its speaker and the version of the rules, inverted (`~`) if the event reads as an
order. If one of them has changed, the hash does not match, and the event is checked again. So damage never makes an
order pass.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from clawmem.index.tables.store import Index
from clawmem.model.proposals.quarantine import quarantined_event, verdict_key
from clawmem.model.records.event import Event, event_from_record

_BATCH = 5_000


def reads_as_order(event: Event, verdicts: Collection[int | None]) -> bool:
    """Return whether an event reads as an order, from its stored verdicts if they match, which is 20 times as fast."""
    mark = verdict_key(event)
    if mark in verdicts:
        return False
    return ~mark in verdicts or quarantined_event(event)


def judge_events(index: Index) -> int:
    """Store verdicts for all events without one. Return how many there were."""
    judged = 0
    while True:
        rows = index.database.execute("SELECT n, line FROM event WHERE verdict IS NULL LIMIT ?", (_BATCH,)).fetchall()
        if rows:
            # Judged before the write lock is taken, so that other writers do not wait for the rules.
            found = [(_verdict(event_from_record(json.loads(line))), n, line) for n, line in rows]
            with index.writing():
                index.database.executemany("UPDATE event SET verdict = ? WHERE n = ? AND line = ?", found)
        judged += len(rows)
        if len(rows) < _BATCH:
            return judged


def _verdict(event: Event) -> int:
    return ~verdict_key(event) if quarantined_event(event) else verdict_key(event)
