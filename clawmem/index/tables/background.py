"""Exact token counts in the index: writers store an upper bound, and the heartbeat replaces it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

from clawmem.errors import StorageFailed
from clawmem.index.tables.fact_marks import stakes
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.pages.tokens import context_line, event_line, note_line, word_counts
from clawmem.model.proposals.quarantine import as_served, quarantined_event, verdict_key
from clawmem.model.records.event import Event, event_from_record

# Count the cl100k_base tokens of a text with the vocabulary in this package. Nothing is ever downloaded.

VOCABULARY = Path(__file__).with_name("cl100k_base.tiktoken.gz")
# Of the uncompressed file, as tiktoken checks its download.
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# How cl100k_base splits a text into the pieces that are encoded separately.
_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@cache
def exact_counter() -> Callable[[str], int]:
    """Return a function that counts the tokens of a text. Making it, once in a process, takes about 0.2 s.

    Raise StorageFailed if the vocabulary in this package is damaged.
    """
    import binascii

    import tiktoken  # 0.1 s with its vocabulary: never imported by a search

    words = _vocabulary().split()
    ranks = dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
    encoding = tiktoken.Encoding("cl100k_base", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def _vocabulary() -> bytes:
    import gzip
    import hashlib
    import zlib

    try:
        data = gzip.decompress(VOCABULARY.read_bytes())
    except (OSError, EOFError, zlib.error) as problem:
        raise _damaged(str(problem)) from problem
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise _damaged("its SHA-256 is wrong")
    return data


def _damaged(why: str) -> StorageFailed:
    return StorageFailed(f"The token vocabulary {VOCABULARY} cannot be read: {why}.", "Install clawmem again.")


_BATCH = 500


def needs_counting(index: Index) -> bool:
    """Return whether there are uncounted lines, because importing a tokenizer takes 0.2 s."""
    query = "SELECT 1 FROM {} LIMIT 1"
    kinds = ("fact WHERE exact = 0", "note WHERE tokens IS NULL", "event WHERE tokens IS NULL")
    return any(index.database.execute(query.format(kind)).fetchone() for kind in kinds)


def count_exactly(index: Index, count: Callable[[str], int]) -> int:
    """Count the context line of every fact, note and event without an exact count. Return how many there were."""
    return sum(_in_batches(index, act, count) for act in (_count_facts, _count_notes, _count_events))


def count_recent(index: Index, count: Callable[[str], int]) -> int:
    """Count the context line of every event without an exact count, and of a batch of facts and of notes: of an index
    that was rebuilt, the heartbeat counts the others. Return the number of events."""
    with index.writing():
        _count_facts(index, count)
        _count_notes(index, count)
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


# Verdicts on which events read as orders: computed once in the background, so that reads need not check each text.

_JUDGED_AT_ONCE = 5_000


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
        rows = index.database.execute(
            "SELECT n, line FROM event WHERE verdict IS NULL LIMIT ?", (_JUDGED_AT_ONCE,)
        ).fetchall()
        if rows:
            # Judged before the write lock is taken, so that other writers do not wait for the rules.
            found = [(_verdict(event_from_record(json.loads(line))), n, line) for n, line in rows]
            with index.writing():
                index.database.executemany("UPDATE event SET verdict = ? WHERE n = ? AND line = ?", found)
        judged += len(rows)
        if len(rows) < _JUDGED_AT_ONCE:
            return judged


def _verdict(event: Event) -> int:
    return ~verdict_key(event) if quarantined_event(event) else verdict_key(event)
