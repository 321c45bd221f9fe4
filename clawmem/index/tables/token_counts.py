"""Exact token counts in the index: writers store an upper bound, and the heartbeat replaces it."""

from __future__ import annotations

import json
from collections.abc import Callable

from clawmem.index.tables.outside import stakes
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.pages.tokens import context_line, event_line, note_line, word_counts
from clawmem.model.records.event import event_from_record
from clawmem.model.settings.acceptance import as_served

_BATCH = 500


def needs_counting(index: Index) -> bool:
    """Return whether there are uncounted lines, because importing a tokenizer takes 0.2 s."""
    query = "SELECT 1 FROM {} LIMIT 1"
    kinds = ("fact WHERE exact = 0", "note WHERE tokens IS NULL", "event WHERE tokens IS NULL")
    return any(index.database.execute(query.format(kind)).fetchone() for kind in kinds)


def count_exactly(index: Index, count: Callable[[str], int]) -> int:
    """Count the context line of every fact, note and event without an exact count. Return how many there were."""
    return sum(_in_batches(index, act, count) for act in (_count_facts, _count_notes, _count_events))


def count_events(index: Index, count: Callable[[str], int]) -> int:
    """Count the context line of every event without an exact count. Return how many there were."""
    return _in_batches(index, _count_events, count)


def _in_batches(index: Index, act: Callable[[Index, Callable[[str], int]], int], count: Callable[[str], int]) -> int:
    counted = 0
    while True:
        # In batches, so that other writers need not wait.
        with index.writing():
            number = act(index, count)
        counted += number
        if number < _BATCH:
            return counted


def _count_facts(index: Index, count: Callable[[str], int]) -> int:
    rows = index.database.execute("SELECT n, line FROM fact WHERE exact = 0 LIMIT ?", (_BATCH,)).fetchall()
    staked = stakes(index)
    facts = [(fact_from_record(json.loads(line)), n) for n, line in rows]
    found = [(count(context_line(as_served(fact, staked.get(fact.id)))), n) for fact, n in facts]
    index.database.executemany("UPDATE fact SET tokens = ?, exact = 1 WHERE n = ?", found)
    return len(rows)


def _count_notes(index: Index, count: Callable[[str], int]) -> int:
    rows = index.database.execute("SELECT n, text FROM note WHERE tokens IS NULL LIMIT ?", (_BATCH,)).fetchall()
    found = [(count(note_line(text)), n) for n, text in rows]
    index.database.executemany("UPDATE note SET tokens = ? WHERE n = ?", found)
    return len(rows)


def _count_events(index: Index, count: Callable[[str], int]) -> int:
    rows = index.database.execute("SELECT n, line FROM event WHERE tokens IS NULL LIMIT ?", (_BATCH,)).fetchall()
    events = [(event_from_record(json.loads(line)), n) for n, line in rows]
    found = [(count(event_line(event)), word_counts(event, count), n) for event, n in events]
    index.database.executemany("UPDATE event SET tokens = ?, words = ? WHERE n = ?", found)
    return len(rows)
