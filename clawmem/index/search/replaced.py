"""Facts that have been replaced: on which days they were true, and which messages say what no longer holds."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from clawmem.index.search.channels import ChannelHits, FactFilter, facts_in_rows, passing_rows, predicate_channel
from clawmem.index.search.lookup import FACT_COLUMNS, PlacedFact, by_ids, fact_from_row, rows_of
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact, is_low_trust, is_revoked
from clawmem.model.facts.fact_words import because
from clawmem.model.facts.validity import is_over, last_moment_within, shown_end
from clawmem.model.language.dates import day_of
from clawmem.model.language.question import DaySpan, search_words
from clawmem.model.language.text import normal, one_line, shorten
from clawmem.model.lifecycle.premises import PREMISES, SUCCEEDED
from clawmem.model.records.event import Event, event_from_record, takes_back

_MAX_MATCHES = 200
_LONGEST_REMARK = 160
# Fraction of the best keyword score of current facts: a longer sentence with the same content scores slightly lower.
_MIN_SCORE = 0.8
_COLUMNS = f"fact.{FACT_COLUMNS.replace(', ', ', fact.')}"
# A quote with this part of a text, or in so few characters of text, stands for all of it.
_MOST_OF_TEXT, _SHORT_TEXT = 0.6, 80
_REPEATED = 0.4  # the part of the words of a fact that an answer has which repeats it
_STEM = 4  # letters that tell a word, whatever its ending
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def replaced_since(
    index: Index,
    question: str,
    words: Sequence[str],
    catalog: Catalog,
    span: DaySpan,
    wanted: FactFilter,
    found: ChannelHits,
) -> str | None:
    """Return a time in the span at which a since replaced fact was true that answers the question, or None.

    A fact answers by its predicate and subject, or if it matches the words about as well as the best one in `found`.
    The time is the end of the last day on which the fact was true to the end of the day, or else the first moment in
    the span at which it was true.
    """
    replaced = wanted._replace(replaced_in=span)
    answering = list(predicate_channel(index, question, catalog, replaced).scores)
    if not answering and words:
        enough = _MIN_SCORE * max(found.scores.values(), default=0.0)
        matches = [match.n for match in index.engine.search(words, _MAX_MATCHES) if match.score >= enough]
        passing = passing_rows(index, matches, replaced)
        answering = [n for n in matches if n in passing]
    facts = [placed.fact for placed in facts_in_rows(index, answering).values()]
    moments = (last_moment_within(fact, span.first, span.last) for fact in facts)
    return max(filter(None, moments), default=None)


def outdated_remarks(
    index: Index, events: Collection[Event], moment: str, beside: Collection[str] = ()
) -> dict[str, str]:
    """Return for each of some events that taught what no longer holds at a moment, what holds instead, in words. Where
    an event says more than that, the words that no longer hold are named. What an assistant answered to such an event
    no longer holds if it repeats it, nor does what has the words of a fact that was replaced by one of those
    `beside`, by id.

    Facts that were merged, or only worded anew, still hold.
    """
    texts = {event.id: event.text for event in events}
    event_ids = [event.id for event in events]
    answered = _answered(index, event_ids)
    rows = index.database.execute(
        f"SELECT {_COLUMNS} FROM json_each(?) AS given"
        " CROSS JOIN fact INDEXED BY fact_event ON fact.event = given.value"
        f" WHERE status IN ('{SUPERSEDED}', '{RETRACTED}') OR valid_to <= ? ORDER BY fact.timestamp, fact.id",
        (json.dumps(sorted({*event_ids, *answered.values()})), moment),
    )
    found = _taken_back(index, {*event_ids, *answered.values()})
    found |= {answer: found[asked] for answer, asked in answered.items() if asked in found}
    found |= _said_of_replaced(index, events, moment, beside) if beside and events else {}
    said: dict[str, dict[str, None]] = {}
    for row in rows:
        fact = fact_from_row(row).fact
        remark = _remark(index, fact, moment)
        for event_id in (fact.source_event, *(each for each, asked in answered.items() if asked == fact.source_event)):
            if remark and event_id in texts and (words := _over_in(fact, texts[event_id], event_id in answered)):
                said.setdefault(event_id, {})[_of_part(remark, words, texts[event_id])] = None
    return {**found, **{event_id: "; ".join(remarks) for event_id, remarks in said.items()}}


def _over_in(fact: Fact, text: str, is_answer: bool) -> str | None:
    """Return the words of a text that say what a fact says: its quote, or the fact where an answer repeats it."""
    if not is_answer:
        return fact.source_text or text
    own, others = ({word[:_STEM] for word in search_words(each)} for each in (fact.fact, text))
    again = len(own & others)
    return fact.fact if again >= max(_REPEATED * len(own), min(len(own), 2)) else None


def _of_part(remark: str, words: str, text: str) -> str:
    """Return a remark on some words of a text; these are named unless the text says little else."""
    whole = len(words) >= _MOST_OF_TEXT * len(text.strip()) or len(text) <= _SHORT_TEXT
    return remark if whole else f'"{one_line(words)}" {remark}'


def _taken_back(index: Index, event_ids: Collection[str]) -> dict[str, str]:
    """Return the remarks on messages that their speaker takes back in the next one, by id."""
    rows = index.database.execute(
        "SELECT event.id, (SELECT later.line FROM event AS later WHERE later.sitting = event.sitting"
        " AND later.place > event.place AND later.role = 'user' AND later.speaker IS event.speaker"
        " AND later.recalled = 0 ORDER BY later.place LIMIT 1)"
        " FROM json_each(?) AS given CROSS JOIN event INDEXED BY event_id ON event.id = given.value"
        " WHERE event.role = 'user'",
        (json.dumps(sorted(event_ids)),),
    )
    later = ((event_id, event_from_record(json.loads(line))) for event_id, line in rows if line is not None)
    return {
        event_id: f"taken back: {shorten(one_line(event.text), _LONGEST_REMARK)}"
        for event_id, event in later
        if takes_back(event.text) and not is_low_trust(event.trust)
    }


def _said_of_replaced(index: Index, events: Collection[Event], moment: str, ids: Collection[str]) -> dict[str, str]:
    """Return the remarks on events that say, as a whole or in a sentence, what a predecessor of some facts said."""
    rows = index.database.execute(
        "WITH RECURSIVE old (id) AS (SELECT value FROM json_each(?) UNION SELECT fact.id FROM old CROSS JOIN edge"
        f" INDEXED BY edge_target ON edge.target = old.id AND edge.kind = '{SUCCEEDED}' CROSS JOIN fact ON"
        f" fact.n = edge.n) SELECT {_COLUMNS} FROM old CROSS JOIN fact INDEXED BY fact_id ON fact.id = old.id"
        f" WHERE status = '{SUPERSEDED}'",
        (json.dumps(sorted(ids)),),
    )
    replaced = {normal(fact.fact): fact for fact in (fact_from_row(row).fact for row in rows)}
    found = {}
    for event in events if replaced else ():
        written = event.text.casefold()
        # To normalise each message would take milliseconds.
        olds = {text: fact for text, fact in replaced.items() if text in written}
        texts = map(normal, (event.text, *_SENTENCE_END.split(event.text))) if olds else ()
        old = next((olds[text] for text in texts if text in olds), None)
        if old is not None and (remark := _remark(index, old, moment)):
            found[event.id] = _of_part(remark, old.fact, event.text)
    return found


def _answered(index: Index, event_ids: Collection[str]) -> dict[str, str]:
    """Return the message of a user that each of the assistant's messages among some events answers, by id."""
    rows = index.database.execute(
        "SELECT event.id, (SELECT asked.id FROM event AS asked WHERE asked.sitting = event.sitting"
        " AND asked.place < event.place AND asked.role = 'user' ORDER BY asked.place DESC LIMIT 1)"
        " FROM json_each(?) AS given CROSS JOIN event INDEXED BY event_id ON event.id = given.value"
        " WHERE event.role = 'assistant'",
        (json.dumps(sorted(event_ids)),),
    )
    return {answer: asked for answer, asked in rows if asked is not None}


def _remark(index: Index, fact: Fact, moment: str) -> str | None:
    if fact.status == RETRACTED:
        why = ", ".join(("no longer: withdrawn", *because(fact)))
        return "no longer: withdrawn" if is_revoked(fact) else f"{why}: {fact.fact}"
    if fact.status == SUPERSEDED:
        now = successor(index, fact)
        if now is None or normal(now.fact) == normal(fact.fact):
            return None
        return None if fact.source_event and now.source_event == fact.source_event else f"no longer: now {now.fact}"
    return f"over since {day_of(shown_end(fact) or '')}" if is_over(fact, moment) else None


def successor(index: Index, fact: Fact, last: bool = True) -> Fact | None:
    """Return what holds now in place of a replaced fact, or None if it was merged, worded anew, or withdrawn; without
    `last`, what replaced it, whether that still holds or was replaced, too."""
    from clawmem.model.merging.collisions import WORDED

    seen: set[str] = set()
    while fact.superseded_by and fact.id not in seen:
        seen.add(fact.id)
        placed = by_ids(index, [fact.superseded_by]).get(fact.superseded_by)
        if placed is None:
            return None
        kinds = {link.type: link.reason for link in placed.fact.links if link.to == fact.id}
        if kinds and ("supersedes" not in kinds or kinds["supersedes"] == WORDED):
            return None
        fact = placed.fact
        if not last and fact.status == SUPERSEDED:
            return fact
    return fact if seen and fact.is_current else None


def predecessors(index: Index, fact: Fact, wanted: FactFilter) -> list[PlacedFact]:
    """Return what a fact replaced and a filter for it passes, and what that replaced, the latest first."""
    found: dict[str, PlacedFact] = {}
    todo = [fact]
    while todo:
        ids = [link.to for link in todo.pop().links if link.type == "supersedes" and link.to not in found]
        placed = by_ids(index, ids)
        rows = passing_rows(index, rows_of(index, placed), wanted._replace(superseded=True))
        seen = {other_placed.fact.id for other_placed in facts_in_rows(index, sorted(rows)).values()}
        new = {
            fact_id: other_placed
            for fact_id, other_placed in placed.items()
            if fact_id in seen and other_placed.fact.status == SUPERSEDED
        }
        found |= new
        todo += [other_placed.fact for other_placed in new.values()]
    return list(found.values())


_KINDS = ", ".join(f"'{kind}'" for kind in PREMISES)
_POINTING = (
    "SELECT {columns} FROM json_each(?) AS given CROSS JOIN edge INDEXED BY edge_target ON edge.target = given.value"
    " AND edge.kind IN ({kinds}) CROSS JOIN fact ON fact.n = edge.n"
)


def has_dependents(index: Index, ids: Collection[str]) -> bool:
    """Return whether a fact rests on one of some facts, or on one that they replaced."""
    query = _POINTING.format(columns="1", kinds=f"{_KINDS}, '{SUCCEEDED}'") + " LIMIT 1"
    return index.database.execute(query, (json.dumps(sorted(ids)),)).fetchone() is not None


def resting_on(index: Index, ids: Collection[str], replaced: bool = False) -> list[tuple[str, str]]:
    """Return the pairs of a fact among `ids` and a fact that rests on it; with `replaced`, also what it replaced."""
    kinds = f"{_KINDS}, '{SUCCEEDED}'" if replaced else _KINDS
    query = _POINTING.format(columns="DISTINCT edge.target, fact.id", kinds=kinds)
    return index.database.execute(query, (json.dumps(sorted(ids)),)).fetchall()


def edges_towards(index: Index, ids: Collection[str]) -> list[tuple[str, str, str]]:
    """Return, oldest first, each fact that rests on some facts or that they replaced, with the kind of edge."""
    query = _POINTING.format(columns="edge.target, fact.id, edge.kind", kinds=f"{_KINDS}, '{SUCCEEDED}'")
    return index.database.execute(
        f"{query} ORDER BY fact.timestamp, fact.id, edge.kind", (json.dumps(sorted(ids)),)
    ).fetchall()


def facts_with_premises(index: Index) -> list[PlacedFact]:
    """Return every fact that rests on another one."""
    rows = index.database.execute(
        f"SELECT {FACT_COLUMNS} FROM fact WHERE n IN (SELECT n FROM edge WHERE kind IN ({_KINDS})) ORDER BY n"
    )
    return [fact_from_row(row) for row in rows]
