"""Statements in the clauses of a sentence, by patterns that must match a whole clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clawmem.learning.attribution.sentences import TextSpan, sub_span
from clawmem.learning.rules.dating import full_date, names_day, said_day, start_day, without_value_as_start
from clawmem.learning.rules.forms import (
    EDGES,
    EventReader,
    in_text,
    in_third_person,
    is_complete,
    matched_form,
    predicate_of,
    statement_of,
    template_filled,
    values_of,
)
from clawmem.learning.rules.language import Language, Rule
from clawmem.model.facts.catalog import canonical_predicate
from clawmem.model.language.date_words import DateMatch, find_dates
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposition import EntityHint, Proposition

# Longer clauses are not read: no plain statement has this length, and it bounds the time of a pattern.
LONGEST_CLAUSE = 200
_PLAIN = 0.85  # confidence
_SAID_AFTER = 40  # characters after a clause, where "she said" may follow


def is_question(sentence: TextSpan) -> bool:
    return sentence.text.rstrip(" \"')*_").endswith("?")


def read_clauses(sentence: TextSpan, reader: EventReader) -> Iterator[Proposition]:
    """Read the clauses of a sentence; the last one of a question is what it asks."""
    clauses = list(_split(sentence, reader.language.patterns["joints"]))
    wrong = reader.language.patterns["wrong"].match(sentence.text)
    for clause in clauses[:-1] if is_question(sentence) else clauses:
        end = clause.end - sentence.start
        if reader.language.guards["unsure"].search(sentence.text, 0, end):
            return
        if reader.language.guards["reported"].search(sentence.text, 0, end + _SAID_AFTER):
            return
        begins = wrong is not None and clause.start - sentence.start <= wrong.end() + 1
        corrects = begins or reader.language.patterns["wrong"].match(clause.text) is not None
        bare = _without_edges(clause, reader.language)
        if 5 <= len(bare.text) <= LONGEST_CLAUSE:
            yield from (proposition._replace(corrects=corrects) for proposition in _statement(bare, bare.text, reader))


def _split(piece: TextSpan, joint: re.Pattern[str]) -> Iterator[TextSpan]:
    start = 0
    for cut in joint.finditer(piece.text):
        yield sub_span(piece, start, cut.start())
        start = cut.end()
    yield sub_span(piece, start, len(piece.text))


def _without_edges(clause: TextSpan, language: Language) -> TextSpan:
    """Return the clause without greetings and fillers at its beginning and its end."""
    start = 0
    while (
        start < len(clause.text)
        and (head := language.patterns["heads"].match(clause.text, start))
        and head.end() > start
    ):
        start = head.end()
    tail = language.patterns["tails"].search(clause.text, max(start, len(clause.text) - 60))
    return sub_span(clause, start, tail.start() if tail else len(clause.text))


def _statement(piece: TextSpan, text: str, reader: EventReader) -> list[Proposition]:
    """Return what a clause says, without a date at its beginning or end, which is the start of what it says.

    A coming day must be named as the start ("from Monday"); anything else about it is planned.
    """
    day = said_day(reader.event)
    dates = find_dates(text, day) if reader.language.reads_dates else ()
    for date in dates:
        rest = text[: date.start] if date.end == len(text) else text[date.end :] if date.start == 0 else ""
        coming = date.day is not None and date.day > day.isoformat()
        if rest and (date.since or not coming) and not date.until:
            found = _matched(piece, rest.strip(EDGES), reader, (date,))
            if found:
                return found
    return _matched(piece, text, reader, (), dates)


def _matched(
    piece: TextSpan,
    text: str,
    reader: EventReader,
    dates: tuple[DateMatch, ...],
    within: tuple[DateMatch, ...] = (),
) -> list[Proposition]:
    """Return what the first rule that matches says. `dates` were cut off; a date `within` must be the value itself."""
    dated = any(date.day for date in within)
    for rule in reader.language.rules:
        if rule.of in reader.voice.reads:
            form, found = matched_form(rule, text) or (None, None)
            fits = found is not None and (not dated or "date" in found.re.groupindex)
            made = list(_proposed(rule, form.says, found, piece, reader, dates)) if form and found and fits else []
            if made:
                return made
    return []


def _proposed(
    rule: Rule,
    says: str,
    found: re.Match[str],
    piece: TextSpan,
    reader: EventReader,
    dates: tuple[DateMatch, ...],
) -> Iterator[Proposition]:
    day = said_day(reader.event)
    own = found.groupdict().get("own") is not None
    slots = {name: text for name, text in values_of(found, reader.language).items() if name != "own"}
    values = {name: told for name, text in slots.items() if (told := in_third_person(text, reader))}
    if len(values) < len(slots):
        return
    if "date" in values and reader.language.reads_dates:
        if rule.of != "thing" and not names_day(values["date"], day):
            return
        values["date"] = full_date(values["date"], day) if rule.of == "thing" else values["date"]
    team = template_filled(reader.language.say["team"], {"whose": reader.whose})
    who = {"who": reader.who, "whose": reader.whose, "user": reader.who if own else team}
    former = values.get("former")
    words = statement_of(rule, says, {**values, **who})
    value = template_filled(rule.object, {**values, **who})
    predicate = predicate_of(rule, values, reader.language)
    if predicate is None or not is_complete(words, reader.language) or (former and normal(former) == normal(value)):
        return
    changed = rule.ended or former
    start = start_day(dates, rule.category, day)
    proposition = Proposition(
        statement=words,
        event_id=reader.event.id,
        span=(piece.start, piece.end),
        source_text=reader.event.text[piece.start : piece.end],
        subject=template_filled(rule.subject, {**values, "who": reader.subject, "whose": in_text(reader.whose)}),
        predicate=canonical_predicate(reader.catalog, predicate),
        object=value or None,
        relation_phrase=template_filled(rule.phrase, values).lower() or None,
        category=rule.category,
        confidence=_PLAIN,
        importance=rule.importance,
        valid_from=start or (reader.event.timestamp[:10] if changed else None),
        entity_hints=_hints(rule, values, reader),
        trust="user",
        ended=rule.ended,
        former=former,
        said_at=reader.event.timestamp,
    )
    yield without_value_as_start(proposition, reader.catalog)


def _hints(rule: Rule, values: Mapping[str, str], reader: EventReader) -> tuple[EntityHint, ...]:
    if not rule.hint or rule.ended:
        return (reader.hint,)
    kind, slot, role = rule.hint
    title = values.get(slot, "")
    if not title[:1].isupper() or predicate_of(rule, values, reader.language) == "pet":
        return (reader.hint,)
    return reader.hint, EntityHint(kind, title, role)
