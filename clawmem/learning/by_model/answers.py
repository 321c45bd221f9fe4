"""Turn a model's answer into propositions. A fact without exact evidence is dropped with a reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.learning.attribution.quoted import is_by_sender
from clawmem.learning.attribution.speaker import THE_USER
from clawmem.learning.by_model.pieces import EventPiece
from clawmem.learning.reconciling.gate import content_words
from clawmem.learning.reconciling.predicates import predicate_name
from clawmem.learning.rules.dating import start_day, without_value_as_start
from clawmem.model.facts.catalog import Catalog, canonical_predicate
from clawmem.model.facts.validity import PLANS
from clawmem.model.language.date_words import DateMatch, find_dates, last_coming_day
from clawmem.model.language.text import check_statement, normal, one_line
from clawmem.model.proposals.proposition import EntityHint, Proposition

CATEGORIES = tuple(
    "fact identity relationship preference status health plan goal habit event milestone decision lesson requirement "
    "instruction commitment recommendation action".split()
)
_OF_ASSISTANTS = frozenset(("commitment", "recommendation", "action", "decision"))
_TRUST = {"user": "user", "assistant": "agent", "tool": "tool"}
_KINDS = ("person", "company", "project", "resource")
_ROLES = ("relation", "work", "mention")
_SHORTEST_QUOTE = 8
_LONGEST_NAME = 40
_MOST_WORDS = 4
_SPEAKER = frozenset("i,me,myself,user,the user,speaker,the speaker".split(","))
# Names and numbers, which a model must not invent.
_PARTICULAR = re.compile(r"(?<![\w'’])(?:[A-ZÀ-Þ][\w'’&-]*|[\w.,:%-]{0,60}\d[\w.,:%-]*)")
_TEXT, _NULLABLE = {"type": "string"}, {"type": ["string", "null"]}
_ABOUT = {
    "type": ["object", "null"],
    "additionalProperties": False,
    "required": ["kind", "title", "role"],
    "properties": {
        "kind": {"type": "string", "enum": list(_KINDS)},
        "title": _TEXT,
        "role": {"type": "string", "enum": list(_ROLES)},
    },
}
_FACT = {
    "event": _TEXT,
    "quote": _TEXT,
    "statement": _TEXT,
    "subject": _TEXT,
    "predicate": _TEXT,
    "object": _TEXT,
    "relation_phrase": _TEXT,
    "category": {"type": "string", "enum": list(CATEGORIES)},
    "confidence": {"type": "number"},
    "importance": {"type": "number"},
    "valid_from": _NULLABLE,
    "ended": {"type": "boolean"},
    "former": _NULLABLE,
    "about": _ABOUT,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": False, "required": list(_FACT), "properties": _FACT},
        }
    },
}


class ParsedAnswer(NamedTuple):
    """The propositions by piece, the number of dropped facts by reason, and the unknown predicates by count."""

    by_piece: tuple[tuple[Proposition, ...], ...]
    dropped: Mapping[str, int]
    unmapped: Mapping[str, int]


class _DroppedFact(Exception):
    """A fact of the answer that is dropped. The message is the reason under which it is counted."""


def parse_answer(answer: Mapping[str, Any], shown: Sequence[EventPiece], catalog: Catalog) -> ParsedAnswer:
    """Parse an answer that fits SCHEMA, and check each fact against the pieces that were shown."""
    by_piece: list[list[Proposition]] = [[] for _ in shown]
    dropped, unmapped = Counter[str](), Counter[str]()
    for fact in answer["facts"]:
        try:
            number = _number(fact["event"], shown)
            proposition = _proposition(fact, shown[number], shown[: number + 1], catalog)
        except _DroppedFact as reason:
            dropped[str(reason)] += 1
            continue
        if any(known.statement == proposition.statement for known in by_piece[number]):
            dropped["said twice"] += 1
            continue
        by_piece[number].append(proposition)
        if proposition.predicate and proposition.predicate not in catalog.predicates:
            unmapped[proposition.predicate] += 1
    return ParsedAnswer(tuple(map(tuple, by_piece)), dropped, unmapped)


def _number(label: str, shown: Sequence[EventPiece]) -> int:
    digits = label.strip().removeprefix("e")
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:9]) <= len(shown)):
        raise _DroppedFact("no such event")
    return int(digits) - 1


def _proposition(
    fact: Mapping[str, Any], piece: EventPiece, before: Sequence[EventPiece], catalog: Catalog
) -> Proposition:
    quote, start = _evidence(fact, piece)
    words = _statement(fact, piece)
    _check_grounded(words, quote, before)
    category = fact["category"]
    if piece.role == "assistant" and category not in _OF_ASSISTANTS:
        raise _DroppedFact("no fact of an assistant's")
    subject, value = _subject(fact, piece), one_line(fact["object"])[:300] or None
    _check_speaker(piece, subject, start - piece.start, len(quote))
    predicate = _predicate(fact["predicate"], catalog) if piece.role == "user" else None
    found = Proposition(
        statement=words,
        event_id=piece.event.id,
        span=(start, start + len(quote)),
        source_text=quote,
        subject=subject,
        predicate=predicate,
        object=value,
        relation_phrase=one_line(fact["relation_phrase"])[:80] or None,
        category=category,
        confidence=_share(fact["confidence"]),
        importance=_share(fact["importance"]),
        valid_from=_day(fact, quote, piece, category),
        valid_to=_last_day(quote, piece) if category in PLANS and not fact["ended"] else None,
        entity_hints=_hints(fact, piece, subject, before),
        trust="external" if piece.orders else _TRUST[piece.role],
        ended=fact["ended"] and piece.role == "user",
        former=(one_line(fact["former"] or "") or None) if piece.role == "user" else None,
        said_at=piece.event.timestamp,
    )
    return without_value_as_start(found, catalog)


def _evidence(fact: Mapping[str, Any], piece: EventPiece) -> tuple[str, int]:
    """Return the quote and its offset in the text of the event."""
    quote = fact["quote"].strip()
    place = piece.text.find(quote)
    if not quote or place < 0:
        raise _DroppedFact("quote not in the event")
    if len(quote) < min(_SHORTEST_QUOTE, len(piece.text.strip())):
        raise _DroppedFact("quote too short")
    return quote, piece.start + place


def _check_speaker(piece: EventPiece, subject: str | None, place: int, length: int) -> None:
    """Drop a fact about the speaker whose quote is another person's words, or a text to work on."""
    of_speaker = piece.role == "user" and normal(subject or "") == normal(piece.speaker)
    if of_speaker and not is_by_sender(piece.text, place, place + length):
        raise _DroppedFact("somebody else's words")


def _statement(fact: Mapping[str, Any], piece: EventPiece) -> str:
    try:
        words = check_statement(fact["statement"])
    except InvalidInput:
        raise _DroppedFact("no statement") from None
    words = words if words.endswith((".", "!", "?", '"')) else f"{words}."
    if piece.role == "tool" and not normal(words).startswith(normal(piece.speaker)):
        words = f"{piece.speaker[:1].upper()}{piece.speaker[1:]} reported: {words}"
    return words


def _check_grounded(words: str, quote: str, before: Sequence[EventPiece]) -> None:
    """Drop a statement with names or numbers that were not said, or without a word in common with its quote."""
    piece = before[-1]
    if _has_unsaid_names(words, before):
        raise _DroppedFact("names or numbers nobody said")
    own = content_words(words) - content_words(piece.speaker)
    heard = content_words(quote)
    if not any(one == other or _shares_stem(one, other) for one in own for other in heard):
        raise _DroppedFact("not what the quote says")


def _has_unsaid_names(words: str, before: Sequence[EventPiece]) -> bool:
    heard = " ".join(f"{one.speaker} {one.text}" for one in before).casefold()
    allowed = (THE_USER.casefold(), "the assistant")
    for found in _PARTICULAR.finditer(words):
        name = found[0].strip(".,:%-").removesuffix("'s").removesuffix("’s").casefold()
        first = found.start() == 0 or words[: found.start()].endswith(("reported: ", ". "))
        if name and name not in heard and not (first and not name[0].isdigit()) and name not in allowed:
            return True
    return False


def _shares_stem(one: str, other: str) -> bool:
    """Return whether two words have the same first four letters."""
    return len(one) > 3 and len(other) > 3 and one[:4] == other[:4]


def _subject(fact: Mapping[str, Any], piece: EventPiece) -> str:
    if piece.role != "user":
        return piece.speaker
    subject = one_line(fact["subject"])[:120]
    return piece.speaker if normal(subject) in _SPEAKER or normal(subject) == normal(piece.speaker) else subject


def _predicate(phrase: str, catalog: Catalog) -> str | None:
    """Return the predicate from the catalog, or a new name that can be proposed for the catalog."""
    known = canonical_predicate(catalog, phrase) if phrase.strip() else None
    name = predicate_name(phrase)
    return known or (name if name and len(name) <= _LONGEST_NAME and name.count("_") < _MOST_WORDS else None)


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, float(value))), 2)


def _day(fact: Mapping[str, Any], quote: str, piece: EventPiece, category: str) -> str | None:
    """Return the day the fact became true: the date that the rules find in the quote, else the model's date."""
    try:
        said = date.fromisoformat(piece.event.timestamp[:10])
    except ValueError:
        return None
    dates = find_dates(quote, said)
    found = start_day(dates, category, said)
    if found or (piece.role == "user" and (fact["ended"] or fact["former"]) and not fact["valid_from"]):
        return found or said.isoformat()
    try:
        day = date.fromisoformat(fact["valid_from"] or "").isoformat()
    except ValueError:
        return None
    # A date that the quote calls due or future is not a start date, even if the model says so.
    read = [one for one in dates if one.day == day]
    return start_day(read or (DateMatch(0, 0, day, "", False),), category, said)


def _last_day(quote: str, piece: EventPiece) -> str | None:
    """Return the last day that the quote of a plan names, or None."""
    try:
        said = date.fromisoformat(piece.event.timestamp[:10])
    except ValueError:
        return None
    return last_coming_day(find_dates(quote, said, ahead=True), said)


def _hints(
    fact: Mapping[str, Any], piece: EventPiece, subject: str, before: Sequence[EventPiece]
) -> tuple[EntityHint, ...]:
    """Return the entities of the fact, its main entity first. A title that was not said is ignored."""
    if piece.role != "user":
        return (EntityHint("person", "User", "speaker"),)
    speaker = EntityHint("person", "User" if normal(piece.speaker) == normal(THE_USER) else piece.speaker, "speaker")
    about = fact["about"]
    title = one_line(about["title"])[:80] if about else ""
    if not title or normal(title) in _SPEAKER or normal(title) == normal(piece.speaker):
        return (speaker,)
    if normal(title) not in normal(" ".join(one.text for one in before)):
        return (speaker,)
    hint = EntityHint(about["kind"], title, about["role"])
    first = normal(subject) != normal(piece.speaker)
    return (hint, speaker) if first else (speaker, hint)
