"""Search events, notes and summaries for a question, so that a turn is found even if no fact was learned from it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from clawmem.index.search.channels import ChannelHits
from clawmem.index.search.events import (
    NoteLineRow,
    event_keywords,
    note_keywords,
    passage_count,
    passages_in_span,
    rank_by_meaning,
    read_events,
    read_note_lines,
    word_scores,
)
from clawmem.index.search.notes import event_records
from clawmem.index.tables.order_verdicts import reads_as_order
from clawmem.index.tables.store import Index
from clawmem.index.vectors.search import events_by_meaning, notes_by_meaning
from clawmem.model.facts.reach import Reach
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import search_words, time_asked
from clawmem.model.records.event import Event, is_visible_to
from clawmem.model.search.event_ranking import BESIDE, coverage
from clawmem.model.search.passage import row_of
from clawmem.model.search.ranking import RankedFact, event_weights, fuse, meaning_share, scaled, word_weight
from clawmem.serving.recall.recall import (
    EVENTS,
    NOTES,
    SUMMARIES,
    WORDS_ONLY,
    EventHit,
    NoteHit,
    RecallQuery,
    page_kind,
)
from clawmem.vault.vault import Vault

# How many of the best hits tell which part of the question is answered.
_STRONGEST = 3
_EQUALS = 500  # further hits with the same score that are looked at


class EventResults(NamedTuple):
    """The best events and lines of pages, and the hits of each channel."""

    heard: tuple[EventHit, ...]
    noted: tuple[NoteHit, ...]
    hits: tuple[Mapping[str, ChannelHits], ...]


def find_said(vault: Vault, index: Index, asked: RecallQuery) -> EventResults:
    """Return the events, notes and summaries that answer a question best.

    A note that is also an event in the ledger appears once, if both are searched. Filters of entity, category and tag
    are for facts and do not apply here.
    """
    question, owners, limit, where = asked.words, asked.wanted.owners, asked.limit, asked.where
    words = word_scores(index, search_words(question))
    passages = passage_count(index)
    span = time_asked(question, asked.caller.now)
    heard: tuple[EventHit, ...] = ()
    noted: tuple[NoteHit, ...] = ()
    hits: list[Mapping[str, ChannelHits]] = []
    if EVENTS in where:
        keyword = _spoken(event_keywords(index, question, words), words)
        day = stamp(asked.caller.now)[:10]
        close = events_by_meaning(vault, index, question, day) if asked.by_meaning else WORDS_ONLY
        meant = rank_by_meaning(index, question, close)
        near = {*keyword.scores, *meant.scores}
        hits.append({"keyword": keyword, "vector": meant, "time": passages_in_span(index, "event", span, near)})
        ranked = _fused(hits[-1], words)
        strength = _strength(hits[-1], words, passages, close)
        heard = _heard(index, ranked, strength, limit, owners, NOTES in where, asked.wanted.reach)
    if NOTES in where or SUMMARIES in where:
        keyword = _spoken(note_keywords(index, words, owners), words)
        close = notes_by_meaning(vault, index, question, owners, stamp(asked.caller.now)[:10])
        near = {*keyword.scores, *close.scores}
        hits.append({"keyword": keyword, "vector": close, "time": passages_in_span(index, "note", span, near, owners)})
        kinds = {NOTES, SUMMARIES} & set(where)
        ranked = _fused(hits[-1], words)
        strength = _strength(hits[-1], words, passages, close)
        noted = _noted(index, ranked, strength, limit, lambda path: page_kind(path) in kinds)
    return EventResults(heard, noted, tuple(hits))


def _spoken(hits: ChannelHits, words: Collection[object]) -> ChannelHits:
    return hits if words else ChannelHits({}, False, "the question has no words to search for")


def _heard(
    index: Index,
    ranked: Sequence[RankedFact],
    strength: float,
    limit: int,
    owners: Collection[str],
    without_notes: bool,
    reach: Reach | None,
) -> tuple[EventHit, ...]:
    # Notes and repetitions are few, so a margin is usually enough.
    for margin in (limit + (limit if without_notes else 0) + 20, len(ranked)):
        best = _with_equals(ranked, margin)
        found = read_events(index, [int(one.id) for one in best])
        heard = [
            _event_hit(found[int(one.id)], scaled(one, strength))
            for one in best
            if int(one.id) in found
            and is_visible_to(found[int(one.id)], owners, reach)
            and not (without_notes and found[int(one.id)].role == "note")
        ]
        if len(heard) >= limit:
            break
    heard.sort(key=lambda one: (one.event.timestamp, one.event.id), reverse=True)
    return tuple(sorted(heard, key=lambda one: -one.score)[:limit])


def with_verdicts(index: Index, heard: Sequence[EventHit]) -> tuple[EventHit, ...]:
    """Return the events with whether each reads as an order."""
    records = event_records(index, [one.event.id for one in heard])
    return tuple(one._replace(is_order=reads_as_order(one.event, records[one.event.id].verdicts)) for one in heard)


def _noted(
    index: Index, ranked: Sequence[RankedFact], strength: float, limit: int, wanted: Callable[[str], bool]
) -> tuple[NoteHit, ...]:
    # Most lines are of the wanted kind, so a margin is usually enough.
    for margin in (limit + 20, len(ranked)):
        best = _with_equals(ranked, margin)
        found = read_note_lines(index, [int(one.id) for one in best])
        noted = [
            _note_hit(found[int(one.id)], scaled(one, strength)) for one in best if wanted(found[int(one.id)].path)
        ]
        if len(noted) >= limit:
            break
    noted.sort(key=lambda one: (one.path, one.place))
    noted.sort(key=lambda one: one.day or "", reverse=True)
    return tuple(sorted(noted, key=lambda one: -one.score)[:limit])


def _with_equals(ranked: Sequence[RankedFact], count: int) -> Sequence[RankedFact]:
    """Return the best hits and all others with the score of the last one; the newest of them are then preferred."""

    end = min(count, len(ranked))
    while end < min(len(ranked), count + _EQUALS) and round(ranked[end].score, 4) == round(ranked[count - 1].score, 4):
        end += 1
    return ranked[:end]


def _share(words: Sequence[Mapping[int, float]], passages: int, best: Sequence[int]) -> float:
    """Return which part of the question's words the best hits have, by how telling the words are; the highest of them.

    A word in a neighbouring event counts as much as in ranking.
    """
    weights = [word_weight(passages, len(scores)) for scores in words]
    rows = [{row_of(piece) for piece in scores} for scores in words]
    whole = sum(weights)
    shares = (
        sum(weight * _nearness(row, each) for weight, row in zip(weights, rows, strict=True)) / whole for each in best
    )
    return max(shares, default=0.0) if whole else 0.0


def _nearness(rows: Collection[int], n: int) -> float:
    if n in rows:
        return 1.0
    return max((worth for step, worth in BESIDE.items() if n - step in rows or n + step in rows), default=0.0)


def _event_hit(event: Event, one: RankedFact) -> EventHit:
    return EventHit(event, round(one.score, 4), one.channels)


def _note_hit(line: NoteLineRow, one: RankedFact) -> NoteHit:
    return NoteHit(*line, round(one.score, 4), one.channels)


def _fused(hits: Mapping[str, ChannelHits], words: Sequence[Mapping[int, float]]) -> list[RankedFact]:
    """Return the hits, best first; the best of every channel has the score 1."""
    scores = {name: {str(n): score for n, score in one.scores.items()} for name, one in hits.items()}
    return fuse(scores, _weights(hits, words))


def _weights(hits: Mapping[str, ChannelHits], words: Sequence[Mapping[int, float]]) -> Mapping[str, float]:
    return event_weights(coverage(words, max(hits["keyword"].scores.values(), default=0.0)))


def _strength(
    hits: Mapping[str, ChannelHits], words: Sequence[Mapping[int, float]], passages: int, close: ChannelHits
) -> float:
    """Return which part of a full match the best hit is: 1 only if it has all words and is close in meaning."""
    keyword, weights = hits["keyword"].scores, _weights(hits, words)
    strengths = {
        "keyword": _share(words, passages, nlargest(_STRONGEST, keyword, key=keyword.__getitem__)),
        "vector": meaning_share(max(close.scores.values(), default=0.0)),
        "time": 1.0,
    }
    ran = [name for name, one in hits.items() if one.scores]
    total = sum(weights[name] for name in ran)
    return sum(weights[name] * strengths[name] for name in ran) / total if total else 0.0
