"""Statements in the clauses of a sentence, by patterns that must match a whole clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from clawmem.learning.attribution.sentences import THE_USER, Speaker, TextSpan, sub_span
from clawmem.learning.rules.language import Form, Language, Rule
from clawmem.model.facts.catalog import Catalog, canonical_predicate
from clawmem.model.language.date_words import DateMatch, find_dates
from clawmem.model.language.text import normal, one_line
from clawmem.model.proposals.para import EntityHint, Proposition
from clawmem.model.records.event import Event

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
    for match in dates:
        rest = text[: match.start] if match.end == len(text) else text[match.end :] if match.start == 0 else ""
        coming = match.day is not None and match.day > day.isoformat()
        if rest and (match.since or not coming) and not match.until:
            found = _matched(piece, rest.strip(EDGES), reader, (match,))
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


# The forms of a rule: which one matches a text, and the statement that its slots make.
#
# What the reading of one event by rules needs, and words about its speaker.

EDGES = " .,;:!"
_SLOT = re.compile(r"\{([a-z_]+)\}")


def matched_form(rule: Rule, text: str) -> tuple[Form, re.Match[str]] | None:
    """Return the first form of a rule that matches a whole text, with its match."""
    return next(((form, found) for form in rule.hears if (found := form.pattern.fullmatch(text))), None)


def tail_match(rule: Rule, rest: str, owned: bool) -> re.Match[str] | None:
    """Return the match of what a statement says of its subject, or None."""
    found = (tail.pattern.fullmatch(rest) for tail in rule.tails if tail.owned == owned)
    return next((match for match in found if match), None)


def values_of(found: re.Match[str], language: Language) -> dict[str, str]:
    """Return the slots of a match without punctuation at their ends; those without a text are left out.

    A common noun may stand first with a capital letter, which goes."""
    slots = {name: text.strip(EDGES) for name, text in found.groupdict().items() if text and text.strip(EDGES)}
    return {name: with_small_initial(text) if name in language.common_slots else text for name, text in slots.items()}


def predicate_of(rule: Rule, values: Mapping[str, str], language: Language) -> str | None:
    """Return the predicate of a rule; for a relation between people that of its noun."""
    if rule.predicate != "{relation}":
        return rule.predicate
    noun = values.get("relation", "").lower()
    return language.relations.get(re.split(r"[ ]", noun)[-1], "spouse" if not noun else None)


def statement_of(rule: Rule, says: str, values: Mapping[str, str]) -> str:
    """Return the statement of a rule for the values of its slots."""
    instead = template_filled(rule.instead, values) if "former" in values else ""
    return sentence_of(template_filled(says, {**values, "instead": instead}))


def sentence_of(words: str) -> str:
    """Return words as a sentence: a capital letter first, one full stop at the end."""
    words = re.sub(r" ([.,])", r"\1", one_line(words)).rstrip(" .,;:!")
    return f"{words[:1].upper()}{in_text(words[1:])}."


def is_complete(statement: str, language: Language) -> bool:
    """Return whether a statement has three words and does not break off at a function word."""
    words = statement.rstrip(".").split()
    return len(words) >= 3 and words[-1].lower() not in language.function_words


def template_filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its slots, with a space between slots that follow each other."""

    def put(slot: re.Match[str]) -> str:
        value = values.get(slot[1], "")
        before, after = template[: slot.start()][-1:], template[slot.end() :][:1]
        left = " " if before == "}" else ""
        right = " " if after == "{" else ""
        return f"{left}{value}{right}" if value else ""

    return re.sub(r" ([,.])", r"\1", one_line(_SLOT.sub(put, template)))


def with_small_initial(words: str) -> str:
    """Return words that go on in a sentence: a capital letter of their first word goes, unless it is a name's."""
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


class EventReader(NamedTuple):
    """What the reading of one event needs."""

    event: Event
    voice: Speaker
    language: Language
    catalog: Catalog

    @property
    def who(self) -> str:
        return self.voice.name

    @property
    def whose(self) -> str:
        return self.language.possessive.replace("{name}", self.voice.name)

    @property
    def in_chat(self) -> bool:
        return "thing" in self.voice.reads

    @property
    def subject(self) -> str:
        return in_text(self.voice.name)

    @property
    def hint(self) -> EntityHint:
        return EntityHint("person", "User" if self.voice.name == THE_USER else self.voice.name, "speaker")


def in_text(words: str) -> str:
    """Return words about the speaker as they stand within a sentence."""
    return words.replace(THE_USER, "the user")


def in_third_person(words: str, reader: EventReader) -> str | None:
    """Return words of the speaker in the third person, or None where a first person is left."""
    names = {"who": reader.subject, "whose": in_text(reader.whose)}
    for form, put in reader.language.third_person:
        for name, value in names.items():
            put = put.replace(f"{{{name}}}", value)
        words = form.sub(put, words)
    return None if reader.language.patterns["first_person"].search(words) else one_line(words)


# What is said of a coming day is so now; only a state of these kinds begins on it.
_LONG = timedelta(days=60)
_STATES = frozenset("status milestone identity relationship preference habit health".split())


def said_day(event: Event) -> date:
    """Return the day an event was said, or 1970-01-01 if its timestamp is invalid."""
    try:
        return date.fromisoformat(event.timestamp[:10])
    except ValueError:
        return date(1970, 1, 1)


def start_day(dates: Iterable[DateMatch], category: str, day: date) -> str | None:
    """Return the day from which a statement is true, or None. These dates are ignored: an end date, a date that only
    names a thing, a time such as "last year", which is no day, and the future date of a plan, decision or event."""
    for found in dates:
        if not found.day or found.until or found.names or (found.relative and not found.since and _is_long(found)):
            continue
        if found.day <= day.isoformat() or category in _STATES:
            return found.day
    return None


def _is_long(found: DateMatch) -> bool:
    span = found.span
    return span is not None and date.fromisoformat(span.last) - date.fromisoformat(span.first) > _LONG


def without_value_as_start(proposition: Proposition, catalog: Catalog) -> Proposition:
    """Return the proposition without a start day if its date is the value itself, such as a deadline."""
    entry = catalog.predicates.get(proposition.predicate or "")
    dated = entry is not None and entry.value == "date" and not (proposition.ended or proposition.former)
    return proposition._replace(valid_from=None) if dated else proposition


def without_any_date(text: str, day: date) -> str:
    """Return the text without its dates. `said` is the day it was said."""
    for found in reversed(find_dates(text, day)):
        text = f"{text[: found.start].rstrip(' ,')} {text[found.end :].lstrip(' ,')}"
    return text


def names_day(text: str, day: date) -> bool:
    """Return whether a text names a day of its own, which means the same on any day it is said."""
    return any(found.day and not found.relative for found in find_dates(text, day)) or text[:4].isdigit()


def full_date(text: str, day: date) -> str:
    """Return a coming date as it is understood on any day: "Friday" as the day itself, "3 May" with its year."""
    for found in reversed(find_dates(text, day, ahead=True)):
        if found.relative and found.label:
            text = f"{text[: found.start]} {found.label} {text[found.end :]}".strip()
        elif (
            found.label[:4].isdigit()
            and found.label > day.isoformat()
            and not any(word.isdigit() and len(word) == 4 for word in text.split())
        ):
            text = f"{text[: found.end]} {found.label[:4]}{text[found.end :]}"
    return " ".join(text.split())


RETRACTION = "taken_back"
_CHANGED = re.compile(
    r"\b(?:moved|pushed|changed|postponed|delayed|rescheduled|extended|brought|bumped|raised|increased|lowered|reduced|"
    r"cut|shortened|slipped|shifted|switched|renamed)\b|\bnot (?:on )?(?:the )?(?:[A-Z]\w+ )?\d|\b(?:is|are|'s) now\b|"
    r"\bnow (?:is|are)\b|\b(?:the|my|our) new\b|\b(?:jetzt|nun|verschoben|neue[rns]?|geändert)\b",
    re.IGNORECASE,
)
_SLOTS = frozenset(("deadline", "scheduled_for", "budget", "limit", "set_to", "ends"))


def states_change(proposition: Proposition) -> bool:
    """Return whether the proposition gives a known thing a new date or amount."""
    return proposition.predicate in _SLOTS and _CHANGED.search(proposition.source_text) is not None


CORRECTION = "correction"


def is_specific(text: str) -> bool:
    """Return whether a value contains a capital letter or a digit."""
    return re.search(r"[A-Z\d]", text) is not None
