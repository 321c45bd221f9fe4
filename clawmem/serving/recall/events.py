"""Search events, notes and summaries for a question, so that a turn is found even if no fact was learned from it."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nlargest

from clawmem.index.search.channels import ChannelHits, FactFilter, is_within
from clawmem.index.search.events import (
    NoteLineRow,
    event_keywords,
    event_records,
    events_between,
    lines_between,
    note_keywords,
    passages_in_span,
    rank_by_meaning,
    read_events,
    read_note_lines,
    told_later,
)
from clawmem.index.search.replaced import outdated_remarks
from clawmem.index.tables.background import reads_as_order
from clawmem.index.tables.store import Index
from clawmem.index.vectors import events_by_meaning, notes_by_meaning
from clawmem.model.facts.reach import Reach
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import DaySpan, time_asked
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import (
    Event,
    event_from_record,
    is_document,
    is_page_line,
    is_silent,
    is_speech,
    is_visible_to,
)
from clawmem.model.records.strict_json import read_json
from clawmem.model.search.event_ranking import ASSISTANT, BESIDE, USER, coverage, is_question, only_asks
from clawmem.model.search.meant import says_hardly, telling_words
from clawmem.model.search.passage import SPREAD
from clawmem.model.search.ranking import (
    AskedWords,
    FusedHits,
    at_least,
    event_weights,
    fuse,
    least_meant,
    meaning_share,
    of_days,
    share_of,
    with_own_meaning,
)
from clawmem.serving.recall.one_ranking import scaled
from clawmem.serving.recall.recall import WORDS_ONLY, QuestionWords, RecallQuery
from clawmem.serving.recall.result import EVENTS, NOTES, SUMMARIES, EventHit, NoteHit, RecallHit, page_kind
from clawmem.vault.vault import Vault

# How many of the best hits tell which part of the question is answered.
_STRONGEST = 3
_EQUALS = 500  # further hits with the same score that are looked at
_FEW_WORDS = 4  # with fewer telling words, a message hardly tells what happened
_MOST_OF_DAYS = 500  # events of the days in a question that are read
_CLOCK = re.compile(r"(?:- )?(\d\d:\d\d)\b")
# As close as this in meaning, a text may answer though it has only the names of the question.
_CLEARLY = 0.4
_ADVICE_SHARE = 0.8  # what an assistant says tells less of the person who asks, and keeps this part of its score
_REPLY_SHARE = 0.9  # what a reply gets of the score of its question
_SPARE = 5  # read at first beside as many as are shown
# What a note and an event of a day that the question names get of what they lack of a full match. People often tell
# another day what happened.
_NOTED_THEN, _SAID_THEN = 0.3, 0.1


class EventResults(NamedTuple):
    """The best events and lines of pages, and the hits of each channel."""

    heard: tuple[EventHit, ...]
    noted: tuple[NoteHit, ...]
    hits: tuple[Mapping[str, ChannelHits], ...]


class _Held(NamedTuple):
    """Which words of a question events or lines of pages have: the words, the rows of the texts with each, and how much
    a word counts for a hit, given these rows."""

    words: AskedWords
    rows: Sequence[Collection[int]]
    share: Callable[[Collection[int], int], float]
    question: QuestionWords

    @classmethod
    def of(cls, words: QuestionWords, share: Callable[[Collection[int], int], float], sign: int = 1) -> "_Held":
        """Return this for the words that are worth ranking. The pieces of lines of pages are below 0: `sign` is -1."""
        asked = tuple(word for word in words.asked if word.word in words.said)
        # As `row_of` does; a call for each of thousands would take a tenth of a search.
        rows = [{sign * piece // SPREAD for piece in words.said[word.word] if sign * piece >= 0} for word in asked]
        return cls(asked, rows, share, words)

    def around(self, n: int) -> float:
        """Return which part of the words a hit has, with those beside an event as much as in ranking."""
        whole = sum(word.weight for word in self.words)
        parts = zip(self.words, self.rows, strict=True)
        return sum(word.weight * self.share(rows, n) for word, rows in parts) / whole if whole else 0.0

    def own(self, n: int) -> float:
        """Return which part of the words a hit has itself."""
        parts = zip(self.words, self.rows, strict=True)
        return share_of(self.words, [word for word, rows in parts if n in rows])

    def judged(self, n: int, text: str, close: ChannelHits) -> tuple[bool, bool]:
        """Return whether a hit has only a name of the question or speaks of somebody else; and whether it answers."""
        names, whose = self.question.names, self.question.whose
        closeness, around = close.scores.get(n, 0.0), self.around(n)
        has_kind = self.question.is_met(around, closeness, text)
        has_kind = has_kind and self.question.has_kind(_CLOCK.sub("", text, count=1))  # a note's time is no answer
        has_kind = has_kind and (closeness >= _CLEARLY or around > 0 or not says_hardly(text))
        if not whose and self.question.unheard is None:
            return False, has_kind
        near = {word.word for word, rows in zip(self.words, self.rows, strict=True) if self.share(rows, n)}
        bare = bool(names) and near <= names
        meant = bool(names) and meaning_share(closeness) > 0
        only_named = not meant and (bare or (whose.isdisjoint(near) and self.question.of_another(text)))
        unclear = self.question.unheard is not None and closeness < _CLEARLY and near <= self.question.named
        return only_named, has_kind and not (only_named or unclear or (bare and self.question.of_owner))


def find_said(vault: Vault, index: Index, asked: RecallQuery, words: QuestionWords) -> EventResults:
    """Return the events, notes and summaries that answer a question best.

    A note that is also an event in the ledger appears once, if both are searched. Filters of entity, category and tag
    are for facts and do not apply here.
    """
    question, owners, limit, where = asked.words, asked.wanted.owners, asked.limit, asked.where
    pieces = tuple(words.said.values())
    span = time_asked(question, asked.caller.now)
    heard: tuple[EventHit, ...] = ()
    noted: tuple[NoteHit, ...] = ()
    hits: list[Mapping[str, ChannelHits]] = []
    if EVENTS in where:
        keyword = _spoken(event_keywords(index, question, pieces), pieces)
        close = events_by_meaning(vault, index, asked.typed or question) if asked.by_meaning else WORDS_ONLY
        meant = rank_by_meaning(index, question, close)
        near = {*keyword.scores, *meant.scores}
        then = passages_in_span(index, "event", span, near)
        if span:
            telling = max(then.scores.values(), default=1.0)
            then = then._replace(scores={**then.scores, **dict.fromkeys(told_later(index, span), telling)})
        hits.append({"keyword": keyword, "vector": meant, "time": then})
        value = _Held.of(words, _event_share)
        ranked = of_days(_fused(hits[-1], pieces, value, close), hits[-1]["time"].scores, _SAID_THEN)
        heard = _heard(index, ranked, limit, asked.wanted, NOTES in where, value, normal(question), close)
    if NOTES in where or SUMMARIES in where:
        keyword = _spoken(note_keywords(index, pieces, owners), pieces)
        close = notes_by_meaning(vault, index, asked.typed or question, owners)
        near = {*keyword.scores, *close.scores}
        hits.append({"keyword": keyword, "vector": close, "time": passages_in_span(index, "note", span, near, owners)})
        kinds = {NOTES, SUMMARIES} & set(where)
        value = _Held.of(words, lambda rows, n: float(n in rows), -1)
        ranked = of_days(_fused(hits[-1], pieces, value, close), hits[-1]["time"].scores, _NOTED_THEN)

        def fits(row: NoteLineRow) -> bool:
            if page_kind(row.path) not in kinds or not is_within(row.day, asked.wanted):
                return False
            return not row.path.endswith(".json") or _sees_session(asked.wanted.reach, vault.read(row.path))

        noted = _noted(index, ranked, limit, fits, value, close)
    return EventResults(heard, noted, tuple(hits))


def _sees_session(reach: Reach | None, record: bytes | None) -> bool:
    """Return whether the query sees what a session of this record handed on: it belongs to the session's project."""
    if reach is None:
        return True
    try:
        return reach.sees_event(read_json(record or b"{}"))
    except (ValueError, AttributeError):
        return False


def said_on(index: Index, asked: RecallQuery, span: DaySpan, where: Collection[str]) -> list[tuple[str, RecallHit]]:
    """Return what was said and noted on some days, each with its time, in order."""
    wanted, found = asked.wanted, list[tuple[str, RecallHit]]()
    if NOTES in where:
        for line, place in lines_between(index, span.first, span.last, wanted.owners):
            clock = _CLOCK.match(line.text)
            hit = NoteHit(line.path, place, line.day, line.text, 1.0, {"time": 1.0}, 1.0)
            found.append((f"{line.day}T{clock[1] if clock else '00:00'}", RecallHit(NOTES, hit)))
    if EVENTS in where:
        records = events_between(index, span.first, span.last, _MOST_OF_DAYS)
        events = [
            event
            for event in (*map(event_from_record, map(json.loads, records)), *told_later(index, span).values())
            if is_speech(event)
            and not (NOTES in where and is_page_line(event))
            and is_visible_to(event, wanted.owners, wanted.reach)
        ]
        heard = [EventHit(event, 1.0, {"time": 1.0}, share=1.0) for event in events]
        items = with_verdicts(index, heard, stamp(asked.caller.now))
        found += [(hit.event.timestamp, RecallHit(EVENTS, hit)) for hit in items]
    return sorted(found, key=lambda pair: pair[0])


def says_little(hit: RecallHit, span: DaySpan) -> bool:
    """Return whether a hit is a message of some days that only asks, has few telling words, or is an assistant's."""
    if not isinstance(hit.hit, EventHit) or hit.hit.event.timestamp[:10] > span.last:
        return False
    text = hit.hit.event.text
    return hit.hit.event.role == ASSISTANT or only_asks(text) or len(telling_words(text)) < _FEW_WORDS


def _spoken(hits: ChannelHits, words: Collection[object]) -> ChannelHits:
    return hits if words else ChannelHits({}, False, "the question has no words to search for")


def _heard(
    index: Index,
    ranked: FusedHits,
    limit: int,
    wanted: FactFilter,
    without_notes: bool,
    value: _Held,
    question: str,
    close: ChannelHits,
) -> tuple[EventHit, ...]:
    def fits(event: Event) -> bool:
        return (
            (is_document(event) or not is_silent(event))
            and is_visible_to(event, wanted.owners, wanted.reach)
            and is_within(event.timestamp[:10], wanted)
            and not (without_notes and is_page_line(event))
            and not (is_question(event.text) and normal(event.text) == question)  # asked before, it tells nothing
        )

    # Notes and repetitions are few, so a margin is usually enough.
    for margin in (limit + _SPARE, limit + (limit if without_notes else 0) + 20, len(ranked.order)):
        best = _with_equals(ranked, margin)
        found = read_events(index, best)
        heard = [
            EventHit(found[n], *_scored(ranked, n), False, value.own(n), *value.judged(n, found[n].text, close), n)
            for n in sorted(best, reverse=True)  # of one moment, the last one in the ledger first
            if n in found and fits(found[n])
        ]
        if len(heard) >= limit:
            break
    heard = [_as_advice(hit, close) if hit.event.role == ASSISTANT else hit for hit in heard]
    heard = _with_replies(index, heard, fits, value)
    heard = [hit._replace(tells=False) if hit.tells and only_asks(hit.event.text) else hit for hit in heard]
    heard.sort(key=lambda hit: hit.event.timestamp, reverse=True)
    # What has the words itself comes before what only stands beside them.
    return tuple(sorted(heard, key=lambda hit: (-hit.score, -hit.share))[:limit])


def _as_advice(hit: EventHit, close: ChannelHits) -> EventHit:
    least = least_meant(close.scores.get(hit.place, 0.0), hit.share)
    return scaled(hit, max(_ADVICE_SHARE, min(least / hit.score, 1.0) if hit.score else 0.0))


def _with_replies(
    index: Index, heard: Sequence[EventHit], fits: Callable[[Event], bool], value: _Held
) -> list[EventHit]:
    """Return the hits, and the reply to each of the best that is a question: the words asked for stand in the question,
    so it answers nearly as well."""
    best = nlargest(_STRONGEST, heard, key=lambda hit: hit.score)
    asking = {hit.place + 1: hit for hit in best if hit.tells and is_question(hit.event.text)}
    hits = {hit.place: hit for hit in heard}
    for n, event in read_events(index, sorted(asking)).items() if asking else ():
        score = round(asking[n].score * _REPLY_SHARE, 4)
        if _is_reply(event, asking[n].event) and fits(event) and (n not in hits or hits[n].score < score):
            hits[n] = asking[n]._replace(
                event=event, score=score, channels={"reply": score}, share=value.own(n), place=n
            )
    return list(hits.values())


def _is_reply(event: Event, asker: Event) -> bool:
    """Return whether what a person says next in a session is said to a question: by somebody else, on that day."""
    same_day = asker.timestamp <= event.timestamp and asker.timestamp[:10] == event.timestamp[:10]
    by_other = event.role == USER and (event.role, event.speaker) != (asker.role, asker.speaker)
    return same_day and by_other and event.session == asker.session and not only_asks(event.text)


def with_verdicts(
    index: Index, heard: Sequence[EventHit], moment: str, beside: Collection[str] = ()
) -> tuple[EventHit, ...]:
    """Return the events with whether each reads as an order, and what no longer holds of it at a moment, given the ids
    of the facts `beside` it."""
    records = event_records(index, [hit.event.id for hit in heard])
    outdated = outdated_remarks(index, [hit.event for hit in heard], moment, beside)
    return tuple(
        hit._replace(
            is_order=reads_as_order(hit.event, records[hit.event.id].verdicts), outdated=outdated.get(hit.event.id, "")
        )
        for hit in heard
    )


def _noted(
    index: Index,
    ranked: FusedHits,
    limit: int,
    wanted: Callable[[NoteLineRow], bool],
    value: _Held,
    close: ChannelHits,
) -> tuple[NoteHit, ...]:
    # Most lines are of the wanted kind, so a margin is usually enough.
    for margin in (limit + _SPARE, limit + 20, len(ranked.order)):
        best = _with_equals(ranked, margin)
        found = read_note_lines(index, best)
        noted = [
            NoteHit(*found[n], *_scored(ranked, n), value.own(n), *value.judged(n, found[n].text, close))
            for n in best
            if wanted(found[n])
        ]
        if len(noted) >= limit:
            break
    noted.sort(key=lambda hit: (hit.path, hit.place))
    noted.sort(key=lambda hit: hit.day or "", reverse=True)
    return tuple(sorted(noted, key=lambda hit: -hit.score)[:limit])


def _with_equals(ranked: FusedHits, count: int) -> Sequence[int]:
    """Return the best hits and all others with the score of the last one; the newest are then preferred."""
    order, scores = ranked.order, ranked.scores
    end = min(count, len(order))
    last = round(scores[order[end - 1]], 4) if order else 0.0
    while end < min(len(order), count + _EQUALS) and round(scores[order[end]], 4) == last:
        end += 1
    return order[:end]


def _event_share(rows: Collection[int], n: int) -> float:
    """Return how much a word counts for an event: in a neighbouring one as much as in ranking."""
    if n in rows:
        return 1.0
    for step, worth in BESIDE.items():  # the nearest first, which counts most
        if n - step in rows or n + step in rows:
            return worth
    return 0.0


def _scored(ranked: FusedHits, n: int) -> tuple[float, dict[str, float]]:
    """Return the score of a hit and what each channel adds to it."""
    return round(ranked.scores[n], 4), ranked.channels(n)


def _fused(
    hits: Mapping[str, ChannelHits], pieces: Sequence[Mapping[int, float]], value: _Held, close: ChannelHits
) -> FusedHits:
    """Return the hits, best first, each as a part of a full match: 1 has all words and is close in meaning."""
    keyword = hits["keyword"].scores
    covered = coverage(pieces, max(keyword.values(), default=0.0))
    weights = event_weights(covered)
    strengths = {
        "keyword": max(map(value.around, nlargest(_STRONGEST, keyword, key=keyword.__getitem__)), default=0.0),
        "vector": meaning_share(max(close.scores.values(), default=0.0)),
        "time": 1.0,
    }
    ran = [name for name, hit in hits.items() if hit.scores]
    total = sum(weights[name] for name in ran)
    strength = sum(weights[name] * strengths[name] for name in ran) / total if total else 0.0
    fused = fuse({name: hit.scores for name, hit in hits.items()}, weights, strength)
    least = {n: least_meant(closeness, value.own(n)) for n, closeness in close.scores.items()}
    return at_least(with_own_meaning(fused, close.scores, covered), least)
