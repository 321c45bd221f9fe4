"""Search in events and notes: by the words in and around them, and by their days. Note lines by location: an entity's
summary, an agent's pages, the newest daily notes; and the stored data of events.

Every row that is returned is checked against its seal. RowDamaged is raised if it does not match.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, timedelta
from itertools import islice, repeat

from clawmem.index.search.channels import ChannelHits
from clawmem.index.tables.keyword import phrases_of
from clawmem.index.tables.schema import TOKENS, check_sealed
from clawmem.index.tables.store import Index
from clawmem.model.language.dates import moment_of
from clawmem.model.language.languages import spaced
from clawmem.model.language.question import DaySpan, time_asked
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event, event_from_record, is_visible_to
from clawmem.model.records.layout import TASKS
from clawmem.model.search.event_ranking import (
    REACH,
    RankedTurn,
    SittingCounts,
    best_pieces,
    best_turns,
    order_near,
    order_turns,
    turns_named,
)
from clawmem.model.search.passage import SPREAD

# How many pieces with a word are scored, and how common a word may be beside two rarer ones.
PER_WORD = 500
CHEAP = 2_000
COMMON = 0.1
MAX_PER_SPAN = 200
_TOLD_WITHIN = timedelta(days=7)
_AMONG = "n IN (SELECT value FROM json_each(?))"
# Of so many of the best events with a word, the speakers are looked at.
_SPEAKERS = 5


class NoteLineRow(NamedTuple):
    """A line of a page that people or agents write: the path, its number among the lines with text, and the day of the
    page, if any."""

    path: str
    place: int
    day: str | None
    text: str


def word_scores(index: Index, forms: Mapping[str, Sequence[str]]) -> dict[str, dict[int, float]]:
    """Return, for each word of a question that is worth ranking, the BM25 score of every piece with a form of it."""
    kept = _worth_ranking(index, list(forms.values()))
    search = index.passage_engine.search
    return {
        word: {match.n: match.score for match in search(each, PER_WORD, thorough=True)}
        for word, each in forms.items()
        if each in kept
    }


def _worth_ranking(index: Index, forms: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return the words without very common ones, which are slow to rank, if two rarer ones remain."""
    (total,) = index.database.execute("SELECT (SELECT max(n) FROM event)").fetchone()
    if (total or 0) <= CHEAP:
        return forms
    counted = sorted((index.passage_engine.count(each, int(total * COMMON) + 1), at) for at, each in enumerate(forms))
    unknown = sum(count == 0 for count, _ in counted)
    kept: list[int] = []
    together = 0
    for count, at in counted:
        together += count
        if len(kept) < unknown + 2 or together <= CHEAP:
            kept.append(at)
    return [forms[at] for at in sorted(kept)]


def speakers_with(index: Index, words: Mapping[str, Mapping[int, float]]) -> list[str]:
    """Return in normal form the speakers of the best events with each word, given the scores of their pieces.

    The name of the speaker is one of the words of an event, so whoever the words name is among them.
    """
    best = {n // SPREAD for scores in words.values() for n in islice(scores, _SPEAKERS) if n >= 0}
    query = "SELECT DISTINCT speaker FROM json_each(?) AS given CROSS JOIN event ON event.n = given.value"
    return [normal(name) for (name,) in index.database.execute(query, (json.dumps(sorted(best)),)) if name]


def said_by(index: Index, name: str, span: DaySpan, most: int) -> list[Event]:
    """Return the last events of some days, at most so many, of the speakers with a name (in lower case) or with all of
    its words; the newest first."""
    words = set(name.split())
    speakers = [
        speaker
        for (speaker,) in index.database.execute("SELECT DISTINCT speaker FROM event WHERE speaker IS NOT NULL")
        if words <= set(normal(speaker).split())
    ]
    query = "SELECT n FROM event WHERE day BETWEEN ? AND ? AND speaker IN (SELECT value FROM json_each(?))"
    found = index.database.execute(
        f"{query} AND recalled = 0 ORDER BY day DESC, n DESC LIMIT ?", (*span, json.dumps(speakers), most)
    )
    rows = [n for (n,) in found] if speakers else []
    events = read_events(index, rows)
    return [events[n] for n in rows if n in events]


def passage_count(index: Index) -> int:
    """Return about how many events there are, plus the number of lines of notes.

    Rows of notes are replaced with each version of a page, so their highest number depends on the history."""
    query = "SELECT coalesce((SELECT max(n) FROM event), 0) + (SELECT count(*) FROM note)"
    (total,) = index.database.execute(query).fetchone()
    return int(total)


def event_keywords(index: Index, question: str, words: Sequence[Mapping[int, float]]) -> ChannelHits:
    """Return events by the words of a question in and around them, ranked by `event_ranking`."""
    scored = best_turns(best_pieces([_part(scores, events=True) for scores in words], SPREAD))
    found = {n for scores in scored for n in scores}
    turns = _turns_around(index, found)
    total, spoken = index.database.execute("SELECT count(*), coalesce(sum(turns), 0) FROM sitting").fetchone()
    names = {turns[n].sitting for n in found if n in turns}
    sittings = SittingCounts(total, spoken, dict(_sizes(index, names)))
    return ChannelHits(order_turns(scored, turns, sittings, turns_named(question, turns)))


def rank_by_meaning(index: Index, question: str, closeness: ChannelHits) -> ChannelHits:
    """Rank events by how close they and their neighbours are to a question, with `event_ranking`."""
    if not closeness.scores:
        return closeness
    turns = _turns_around(index, closeness.scores)
    return closeness._replace(scores=order_near(closeness.scores, turns, turns_named(question, turns)))


def note_keywords(index: Index, words: Sequence[Mapping[int, float]], owners: Sequence[str]) -> ChannelHits:
    """Return note lines by the words of a question. Of agents' notes, only those of the `owners` count."""
    totals: dict[int, float] = {}
    for scores in best_pieces([_part(scores, events=False) for scores in words], SPREAD):
        for n, score in scores.items():
            totals[n] = totals.get(n, 0.0) + score
    query = f"SELECT n FROM note WHERE {_AMONG} AND owner IN ({','.join('?' * len(owners))})"
    visible = {n for (n,) in index.database.execute(query, (json.dumps(list(totals)), *owners))}
    return ChannelHits({n: score for n, score in totals.items() if n in visible})


def passages_in_span(
    index: Index, table: str, span: DaySpan | None, found: Iterable[int], owners: Sequence[str] | None = None
) -> ChannelHits:
    """Return events or notes (the table) of the days that a question names: those in `found`, and the newest.

    Of notes, only those of the `owners` count. The score is 1, and less where more than half of all is of these days:
    to be of this year says nothing where everything is.
    """
    if span is None:
        return ChannelHits({}, False, "the question names no time")
    owned = "" if owners is None else f" AND owner IN ({','.join('?' * len(owners))})"
    within, items = f"FROM {table} WHERE day BETWEEN ? AND ?{owned}", [span.first, span.last, *(owners or ())]
    ask = index.database.execute
    named = {n for (n,) in ask(f"SELECT n {within} AND {_AMONG}", (*items, json.dumps([*found])))}
    newest = [n for (n,) in ask(f"SELECT n {within} ORDER BY day DESC, n DESC LIMIT ?", (*items, MAX_PER_SPAN))]
    inside = ask(f"SELECT count(*) {within}", items).fetchone()[0]
    texts = ask(f"SELECT count(*) FROM {table} WHERE true{owned}", (*(owners or ()),)).fetchone()[0]
    outside = 1 - inside / max(texts, 1)
    return ChannelHits(dict.fromkeys([*sorted(named), *newest], min(1.0, 2 * outside)) if outside else {})


def told_later(index: Index, span: DaySpan) -> dict[int, Event]:
    """Return the events, by row, of the week after a short period that name a day of it, such as "yesterday"."""
    end = date.fromisoformat(span.last)
    if end - date.fromisoformat(span.first) > _TOLD_WITHIN:
        return {}
    days = (end + timedelta(days=1)).isoformat(), (end + _TOLD_WITHIN).isoformat()
    query = "SELECT n FROM event WHERE day BETWEEN ? AND ? ORDER BY day, n LIMIT ?"
    later = [n for (n,) in index.database.execute(query, (*days, MAX_PER_SPAN))]
    return {n: event for n, event in read_events(index, later).items() if _names_day_of(event, span)}


def _names_day_of(event: Event, span: DaySpan) -> bool:
    named = time_asked(event.text, moment_of(event.timestamp))
    return named is not None and span.first <= named.first and named.last <= span.last


def read_events(index: Index, numbers: Sequence[int]) -> dict[int, Event]:
    """Return the events in some rows, without recalled ones. Raise RowDamaged if a row is damaged."""
    found = {}
    query = f"SELECT n, id, day, line, seal FROM event WHERE {_AMONG}"
    for row in index.database.execute(query, (json.dumps([*numbers]),)):
        check_sealed("event", *row)
        event = event_from_record(json.loads(row[3]))
        if not event.recalled:
            found[row[0]] = event
    return found


def read_note_lines(index: Index, numbers: Sequence[int]) -> dict[int, NoteLineRow]:
    """Return the note lines in some rows. Raise RowDamaged if a row is damaged."""
    found = {}
    query = f"SELECT n, path, place, day, owner, text, seal FROM note WHERE {_AMONG}"
    for row in index.database.execute(query, (json.dumps([*numbers]),)):
        check_sealed("note", *row)
        found[row[0]] = NoteLineRow(row[1], row[2], row[3], row[5])
    return found


def _part(scores: Mapping[int, float], events: bool) -> dict[int, float]:
    """Return the scores of the pieces of events, or those of notes with their numbers made positive."""
    if events:
        return {piece: score for piece, score in scores.items() if piece >= 0}
    return {-piece: score for piece, score in scores.items() if piece < 0}


def _turns_around(index: Index, found: Iterable[int]) -> dict[int, RankedTurn]:
    """Return the turns in these rows and their neighbours, without recalled ones."""
    # CROSS JOIN keeps SQLite from scanning the events. The index has every column, so no row of a neighbour is read.
    rows = index.database.execute(
        "SELECT near.sitting, near.place, near.speaker, near.size, near.asks, near.role, near.n"
        " FROM json_each(?) AS given CROSS JOIN event AS one ON one.n = given.value"
        " CROSS JOIN event AS near INDEXED BY event_sitting ON near.sitting = one.sitting"
        f" AND near.place BETWEEN one.place - {REACH} AND one.place + {REACH}"
        " WHERE near.recalled = 0",
        (json.dumps(sorted(found)),),
    )
    # There are a thousand: this makes them without a call of Python for each.
    turns: Iterator[RankedTurn] = map(tuple.__new__, repeat(RankedTurn), rows)
    return {turn.n: turn for turn in turns}


def _sizes(index: Index, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    query = "SELECT name, turns FROM sitting WHERE name IN (SELECT value FROM json_each(?))"
    return index.database.execute(query, (json.dumps([*names]),))


def events_by_id(index: Index, ids: Collection[str]) -> dict[str, Event]:
    """Return the events with these ids, also recalled ones. Raise RowDamaged if a row is damaged."""
    found = {}
    query = (
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value"
        " ORDER BY day, n"
    )
    for n, event_id, day, line, seal in index.database.execute(query, (json.dumps(sorted(ids)),)):
        check_sealed("event", n, event_id, day, line, seal)
        found[event_id] = event_from_record(json.loads(line))
    return found


_MARKS = {2: " ", 3: " ", 0: " "}
_MARKED = re.compile("\x02([^\x03]*)\x03")


def events_of_sessions(index: Index, sessions: Collection[str]) -> list[Event]:
    """Return the messages of some sessions, of all days."""
    query = (
        "SELECT event.id FROM sitting CROSS JOIN event ON event.sitting = sitting.name AND NOT event.recalled"
        " WHERE substr(sitting.name, 12) IN (SELECT value FROM json_each(?))"
    )
    rows = index.database.execute(query, (json.dumps(sorted(sessions)),))
    return list(events_by_id(index, [name for (name,) in rows]).values())


def matched_spans(texts: Sequence[str], words: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return for each text the places, as start and end, of the words that one of `words` finds: also other forms of
    it, and with or without accents. None are found if SQLite has no FTS5."""
    found: list[list[tuple[int, int]]] = [[] for _ in texts]
    query = " OR ".join(phrases_of(words))
    if not query:
        return found
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(f"CREATE VIRTUAL TABLE hit USING fts5(text, tokenize='{TOKENS}')")
        except sqlite3.OperationalError:
            return found  # no FTS5: nothing is highlighted
        rows = ((number, spaced(text.translate(_MARKS))) for number, text in enumerate(texts))
        database.executemany("INSERT INTO hit (rowid, text) VALUES (?, ?)", rows)
        marked = "SELECT rowid, highlight(hit, 0, char(2), char(3)) FROM hit WHERE hit MATCH ?"
        for number, text in database.execute(marked, (query,)):
            places = [at for at, letter in enumerate(texts[number]) for _ in spaced(letter)]
            found[number] = [(places[start], places[end - 1] + 1) for start, end in _spans(text)]
    return found


def _spans(marked: str) -> Iterator[tuple[int, int]]:
    for number, match in enumerate(_MARKED.finditer(marked)):
        start = match.start() - 2 * number  # two marks for each match before
        yield start, start + len(match[1])


_LINE = "n, path, place, day, owner, text, seal, tokens"


class NoteRow(NamedTuple):
    """A line that people or an agent wrote. `tokens` are those of its context line, None if not counted."""

    n: int
    path: str
    day: str | None
    text: str
    tokens: int | None


def note_lines(index: Index, paths: Sequence[str], most: int) -> list[NoteRow]:
    """Return the lines of some pages, in the order of the pages and their lines, at most `most` of each page."""
    query = f"SELECT {_LINE} FROM note WHERE path = ? ORDER BY place LIMIT ?"
    return [_note(*row) for path in paths for row in index.database.execute(query, (path, most))]


def newest_lines(index: Index, folder: str, most: int) -> list[NoteRow]:
    """Return the last lines of a folder's pages, whose names start with their day, newest first."""
    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE path >= ? AND path < ? ORDER BY path DESC, place DESC LIMIT ?",
        (f"{folder}/", f"{folder}0", most),
    )
    return [_note(*row) for row in rows]


def open_tasks(index: Index, names: Collection[str] | None, free: bool) -> list[NoteRow]:
    """Return the line of each task that `is_open_for` some names, by priority."""
    from clawmem.model.records.task import is_open_for  # few questions ask for tasks

    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE path >= ? AND path < ? AND place = 1 ORDER BY text, path",
        (f"{TASKS}/", f"{TASKS}0"),
    )
    return [_note(*row) for row in rows if is_open_for(row[5], names, free)]


def lines_between(index: Index, first: str, last: str, owners: Collection[str]) -> list[tuple[NoteRow, int]]:
    """Return the lines of the notes of some days (inclusive), each with its number in the page, in their order."""
    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE day BETWEEN ? AND ? AND owner IN (SELECT value FROM json_each(?))"
        " ORDER BY day, path, place",
        (first, last, json.dumps(list(owners))),
    )
    return [(_note(*row), row[2]) for row in rows]


def _note(
    n: int, path: str, place: int, day: str | None, owner: str, text: str, number: int, tokens: int | None
) -> NoteRow:
    check_sealed("note", n, path, place, day, owner, text, number)
    return NoteRow(n, path, day, text, tokens)


def has_passages(index: Index) -> bool:
    """Return whether there are any events or lines of notes."""
    query = "SELECT EXISTS (SELECT 1 FROM event) OR EXISTS (SELECT 1 FROM note)"
    return bool(index.database.execute(query).fetchone()[0])


class EventRecord(NamedTuple):
    """What the heartbeat has computed for an event.

    `tokens` is the exact number for its context line, the maximum if its id occurs twice, and None if not counted.
    `n` is its row, in the order of the ledger. `word_counts` are those of `clawmem.model.pages.tokens.word_counts`, if
    its text is too long for a line.
    `verdicts` say whether it reads as an order (`clawmem.index.tables.background`).
    """

    tokens: int | None = None
    verdicts: tuple[int | None, ...] = ()
    word_counts: bytes | None = None
    n: int = 0


def event_records(index: Index, ids: Sequence[str]) -> dict[str, EventRecord]:
    """Return what the heartbeat has computed for some events."""
    rows = index.database.execute(
        "SELECT event.id, tokens, verdict, words, n"
        " FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(ids)),),
    )
    found: dict[str, EventRecord] = {}
    for event_id, tokens, verdict, words, n in rows:
        before = found.get(event_id, EventRecord(tokens))
        most = None if tokens is None or before.tokens is None else max(tokens, before.tokens)
        found[event_id] = EventRecord(most, (*before.verdicts, verdict), words, n)
    return found


def events_between(index: Index, first: str, last: str, most: int) -> list[str]:
    """Return the records of the events on some days (inclusive), oldest first, at most `most`; none recalled."""
    rows = index.database.execute(
        "SELECT n, id, day, line, seal FROM event WHERE day BETWEEN ? AND ? AND recalled = 0 ORDER BY day, n LIMIT ?",
        (first, last, most),
    )
    return [_line(*row) for row in rows]


def count_events(index: Index, first: str, last: str, owners: Collection[str]) -> int:
    """Return the number of events on some days (inclusive); none recalled, no notes of agents but the `owners`."""
    source = "FROM event WHERE day BETWEEN ? AND ? AND recalled = 0"
    (number,) = index.database.execute(f"SELECT count(*) {source}", (first, last)).fetchone()
    noted = index.database.execute(f'SELECT line {source} AND instr(line, \'"role": "note"\')', (first, last))
    return int(number) - sum(not is_visible_to(event_from_record(json.loads(line)), owners) for (line,) in noted)


def _line(n: int, event_id: str, day: str, line: str, number: int) -> str:
    check_sealed("event", n, event_id, day, line, number)
    return line


def events_with_ids(index: Index, ids: Sequence[str]) -> dict[str, Event]:
    """Return the events with some ids, by id, without recalled ones. Ids that are not in the ledger are left out."""
    rows = index.database.execute(
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value"
        " WHERE recalled = 0",
        (json.dumps(list(ids)),),
    )
    return {row[1]: event_from_record(json.loads(_line(*row))) for row in rows}


def days_of(index: Index, event_ids: Sequence[str]) -> dict[str, str]:
    """Return the days of some events. Ids that are not in the ledger are left out."""
    rows = index.database.execute(
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(event_ids)),),
    )
    found = {}
    for n, event_id, day, line, other in rows:
        check_sealed("event", n, event_id, day, line, other)
        found[event_id] = day
    return found
