"""Turn a model's answer into propositions. A fact without evidence is dropped with a reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.learning.attribution.quoted import is_by_sender
from clawmem.learning.attribution.sentences import THE_USER
from clawmem.learning.by_model.grounding import (
    NOT_CLEAR,
    day_of_when,
    find_quote,
    heard,
    is_about,
    is_bare_weekday,
    unsaid,
    with_names,
    with_titles,
)
from clawmem.learning.by_model.task import ACCEPTED, AGENT, CATEGORIES, CHANGES, KINDS, SHORT, EventPiece, ReadingTask
from clawmem.learning.reconciling.gate import is_vague
from clawmem.learning.reconciling.reconcile import predicate_name
from clawmem.learning.rules.clauses import start_day, without_value_as_start
from clawmem.learning.rules.language import SMALL
from clawmem.model.facts.catalog import Catalog, canonical_predicate
from clawmem.model.facts.validity import PLANS
from clawmem.model.language.date_words import DateMatch, find_dates, last_coming_day, recurs
from clawmem.model.language.text import check_statement, normal, one_line
from clawmem.model.proposals.para import (
    ELSEWHERE,
    OF_PROJECTS,
    EntityHint,
    FactChange,
    Proposition,
    project_of_event,
    usable_tags,
)
from clawmem.model.records.entity import Entity, is_entity_name, kind_of, owner_of, slug, title_of
from clawmem.model.records.event import LONGEST_LINE
from clawmem.model.safety.injection.find import find_injection
from clawmem.model.safety.secrets.find import find_secret

_OF_ASSISTANTS = frozenset(("recommendation", "decision"))
_TRUST = {"user": "user", "assistant": "agent", AGENT: "agent", "tool": "tool"}
_SHORTEST_QUOTE = 8
_SIGNS = ".,;:!?-–—()\n"
_LONGEST_NAME = 40
_MOST_WORDS = 4
_LONGEST_TITLE = 6
_MOST_CHANGES = 5
_BIRTHDAY = "birthday"
# What is filed under a subject may be named in other words than were said: "security", "code style".
_SUBJECTS = frozenset(("area", "resource", "archive"))
_SPEAKER = frozenset(
    "i,me,myself,user,the user,speaker,the speaker,ich,der nutzer,die nutzerin,der benutzer,die benutzerin".split(",")
)  # The keys of a fact, each with what stands for a missing one. The last three are older names.
_DEFAULTS: Mapping[str, Any] = {
    "event": None, "quote": None, "statement": None, "subject": "", "predicate": "", "object": "", "category": "fact",
    "confidence": 0.8, "importance": 0.5, "when": None, "ended": False, "changes": (), "about": None,
    "valid_from": None, "former": None, "relation_phrase": "", "tags": (),
}  # fmt: skip
# A plan that begins on a day does not end with it.
_BEGINS = re.compile(
    r"\b(?:ab|from|starting|as of|à (?:partir|compter) d[eu]|a partir del?|desde)(?: dem| the| el| le)? "
    r"(?:\d|[^\W\d_]+ \d|(?:first|ersten|primero|premier)\b)",
    re.IGNORECASE,
)
_SLIP, _NEAR = timedelta(days=7), timedelta(days=366)
_USER = re.compile(r"\b(?:users?|nutzer(?:s|in)?|benutzer(?:s|in)?)\b", re.IGNORECASE)
_TEXTS = ("event", "quote", "statement", "subject", "predicate", "object", "category", "relation_phrase")
_NEW_PLACE = re.compile(rf"(?P<kind>{'|'.join(KINDS)}):\s*(?P<title>\S.*)", re.DOTALL)
_MARKS = ("more", "read", "unread", "forget")
_OF_MESSAGES = {"lines": (str, "texts"), "private": (Mapping, "marks"), "grants": (list, "lists")}

NOT_ABOUT = "not what the quote says"
# A second answer cannot make these good.
_FINAL = frozenset(("the user did not say it", "said twice", "no such event"))


class DroppedFact(NamedTuple):
    """A fact of an answer that was not accepted: what it said, the reason under which it is counted, and details.

    `number` is the number of its piece, or None, and `given` the fact as it was given. A `doubtful` one is asked about
    once more.
    """

    number: int | None
    statement: str
    quote: str
    reason: str
    detail: str = ""
    given: Any = None

    @property
    def doubtful(self) -> bool:
        """Return whether a second answer could make it good."""
        return self.reason not in _FINAL

    @property
    def says(self) -> str:
        """Return the reason with its detail."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


class ParsedAnswer(NamedTuple):
    """The propositions by piece, the dropped facts, the numbers of the pieces with `more` facts than were given, and
    those of the pieces that were `named` in any way."""

    by_piece: tuple[tuple[Proposition, ...], ...]
    rejected: tuple[DroppedFact, ...]
    more: frozenset[int] = frozenset()
    named: frozenset[int] = frozenset()

    @property
    def dropped(self) -> Mapping[str, int]:
        """Return the number of dropped facts by reason."""
        return Counter(fact.reason for fact in self.rejected)

    @property
    def doubtful(self) -> tuple[DroppedFact, ...]:
        """Return the dropped facts that are worth a second question."""
        return tuple(fact for fact in self.rejected if fact.doubtful)


class _Unfit(Exception):
    """A fact of the answer that is dropped: the reason under which it is counted, and a detail."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def parse_answer(
    answer: Mapping[str, Any], task: ReadingTask, catalog: Catalog, affirmed: Collection[int] = ()
) -> ParsedAnswer:
    """Parse an answer that fits ACCEPTED, and check each fact against the pieces of the task.

    About the `affirmed` pieces it answers a second question: then a statement may be in other words than its quote.
    """
    reader = _AnswerReader(task, catalog, affirmed)
    for fact in answer["facts"]:
        reader.take(fact)
    more = frozenset(number for label in answer.get("more", ()) if (number := reader.number(label)) is not None)
    read = frozenset(number for label in answer.get("read", ()) if (number := reader.number(label)) is not None)
    by_piece = tuple(map(tuple, reader.by_piece))
    facts = frozenset(number for number, found in enumerate(by_piece) if found)
    dropped = frozenset(fact.number for fact in reader.rejected if fact.number is not None)
    rejected = tuple(fact._replace(given=reader.without_numbers(fact.given)) for fact in reader.rejected)
    return ParsedAnswer(by_piece, rejected, more, more | read | facts | dropped)


class _AnswerReader:
    """The state while one answer is read. Facts may name earlier facts of the same answer as #1, #2, ..."""

    def __init__(self, task: ReadingTask, catalog: Catalog, affirmed: Collection[int]) -> None:
        self._task = task
        self._catalog = catalog
        self._affirmed = affirmed
        self._numbers = {task.label(number): number for number in range(len(task.shown))}
        self._targets = {name: fact.target for fact in task.known for name in (fact.label, fact.target)}
        self._count = 0
        self._waiting: dict[str, str] = {}  # the quotes of facts that are asked about once more, by #1, #2, ...
        self.by_piece: list[list[Proposition]] = [[] for _ in task.shown]
        self.rejected: list[DroppedFact] = []

    def number(self, label: object) -> int | None:
        """Return the number of the piece with this label, or None."""
        bare = str(label).strip()
        found = self._numbers.get(bare)
        return self._numbers.get(f"e{bare}") if found is None else found

    def take(self, record: Any) -> None:
        """Read one fact of the answer: a proposition, or a dropped fact."""
        self._count += 1
        record = full_keys(record)
        number = self._number_of(record) if isinstance(record, Mapping) else None
        try:
            fact = _checked(record)
            if number is None:
                raise _Unfit("no such event", one_line(fact["event"])[:60])
            made = _proposition(fact, self._task, number, self._catalog, number in self._affirmed)
            made = made._replace(changes=self._changes(fact, made))
            waits = [row["id"] for row in fact["changes"] if row["id"].strip() in self._waiting]
            if waits and number not in self._affirmed:
                raise _Unfit("it changes a fact that is asked about", waits[0])
            if any(known.statement == made.statement for known in self.by_piece[number]):
                raise _Unfit("said twice")
        except _Unfit as unfit:
            statement, quote = (_shown(record, key) for key in ("statement", "quote"))
            dropped = DroppedFact(number, statement, quote, unfit.reason, unfit.detail, record)
            self.rejected.append(dropped)
            if dropped.doubtful and number is not None and quote and not self._task.shown[number].orders:
                self._waiting[f"#{self._count}"] = quote
            return
        self.by_piece[number].append(made)
        self._targets[f"#{self._count}"] = self._targets[one_line(made.source_text)[:300]] = made.key

    def without_numbers(self, record: Any) -> Any:
        """Return a fact as given, with the keys of propositions in place of #1, #2, ..., which another answer lacks, or
        the quote of one that is asked about, too."""
        if not isinstance(record, Mapping) or not isinstance(record.get("changes"), list):
            return record
        rows = record["changes"]
        names = self._targets | self._waiting
        named = [{**row, "id": names.get(row["id"].strip(), row["id"])} for row in rows if _is_change(row)]
        return {**record, "changes": named}

    def _number_of(self, record: Mapping[str, Any]) -> int | None:
        """Return the number of the piece of a fact: that of its label, else the only one that has its quote."""
        number, quote = self.number(record.get("event")), record.get("quote")
        if number is not None or not _is_text(quote):
            return number
        having = [n for n, piece in enumerate(self._task.shown) if find_quote(str(quote), piece.text)]
        return having[0] if len(having) == 1 else None

    def _changes(self, fact: Mapping[str, Any], made: Proposition) -> tuple[FactChange, ...]:
        """Return the changes of known facts. An id that was not shown is left out: the facts are then compared."""
        found = []
        for change in fact["changes"]:
            target = self._targets.get(change["id"].strip())
            if target and target != made.key:
                found.append(FactChange(target, change["how"]))
        return tuple(dict.fromkeys(found))[:_MOST_CHANGES]


def answer_in(text: str) -> dict[str, Any]:
    """Return the answer in a text that may have prose or a code fence around it. Raise InvalidInput if none is."""
    hint = "Answer with one JSON document as the task asks for; `clawmem learn pending` prints the task again."
    start, end = text.find("{"), text.rfind("}")
    try:
        answer = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        raise InvalidInput("The answer is not one JSON document.", hint) from None
    if not isinstance(answer, dict):
        raise InvalidInput("The answer is not one JSON document.", hint)
    return answer


def checked_reading(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a reading task without empty keys, and with events as text. Raise InvalidInput."""
    hint = "Answer with one JSON document as the task asks for; `clawmem learn pending` prints the task again."
    if not isinstance(answer.get("facts"), list):
        raise InvalidInput("The answer has no list of facts under the key 'facts'.", hint)
    unknown = next((key for key in answer if key not in ACCEPTED["properties"]), None)
    if unknown is not None:
        raise InvalidInput(f"The answer has the unknown key '{one_line(unknown)[:40]}'.", hint)
    found = {key: value for key, value in answer.items() if value is not None}
    meant = found.get("forget")
    if isinstance(meant, Mapping) and all(isinstance(other, list) for other in meant.values()):
        found |= {
            "forget": list(meant),
            "meant": {str(key).strip(): list(map(str, other)) for key, other in meant.items()},
        }
    for key in _MARKS:
        rows = found.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, str | int) for row in rows):
            raise InvalidInput(f"The key '{key}' of the answer is not a list of messages.", hint)
        if key in found:
            found[key] = [str(row).strip() for row in rows]
    for key, (form, words) in _OF_MESSAGES.items():
        values = found.get(key, {})
        if not isinstance(values, Mapping) or not all(isinstance(value, form) for value in values.values()):
            raise InvalidInput(f"The key '{key}' of the answer is not an object of {words}.", hint)
        found[key] = {str(name).strip(): value for name, value in values.items()}
    return {**found, "facts": [full_keys(fact) for fact in found["facts"]]}


def usable_line(text: str, task: ReadingTask, number: int) -> str | None:
    """Return the line that tells a message alone; None if nobody said it, it is an order or has a credential."""
    line = one_line(text)
    piece = task.shown[number]
    known = heard(task.texts(number), task.names, _said(piece), f"{line} {piece.text}")
    refused = not line or len(line) > LONGEST_LINE or piece.orders or unsaid(line, known) is not None
    return None if refused or find_injection(line) is not None or find_secret(line) is not None else line


def full_keys(record: Any) -> Any:
    """Return a fact of an answer with the full names of its keys, its event as text, and its changes as a list."""
    if not isinstance(record, Mapping):
        return record
    fact = {SHORT.get(key, key): value for key, value in record.items()}
    if isinstance(fact.get("event"), int) and not isinstance(fact["event"], bool):
        fact["event"] = str(fact["event"])
    if isinstance(fact.get("changes"), Mapping):
        found = ((key, how if isinstance(how, list) else [how]) for key, how in fact["changes"].items())
        fact["changes"] = [{"id": key, "how": how} for key, hows in found for how in hows]
    place = _NEW_PLACE.fullmatch(fact["about"].strip()) if _is_text(fact.get("about")) else None
    if place:
        fact["about"] = place.groupdict()
    return fact


def _checked(record: Any) -> dict[str, Any]:
    """Return the fact with every key. Raise _Unfit if it has the wrong form."""
    if not isinstance(record, Mapping):
        raise _Unfit("wrong form", "it is not an object")
    unknown = next((key for key in record if key not in _DEFAULTS), None)
    if unknown is not None:
        raise _Unfit("wrong form", f"the key '{one_line(str(unknown))[:40]}' is unknown")
    fact = {**_DEFAULTS, **{key: value for key, value in record.items() if value is not None}}
    for key in _TEXTS:
        if not _is_text(fact[key]):
            raise _Unfit("wrong form", f"'{key}' is not a text")
    for key in ("when", "former", "valid_from"):
        fact[key] = fact[key] if _is_text(fact[key]) else None
    for key in ("confidence", "importance"):
        if isinstance(fact[key], bool) or not isinstance(fact[key], int | float) or fact[key] != fact[key]:
            fact[key] = _DEFAULTS[key]
    fact["ended"] = fact["ended"] is True
    fact["category"] = fact["category"] if fact["category"] in CATEGORIES else "fact"
    rows = fact["changes"] if isinstance(fact["changes"], list | tuple) else ()
    fact["changes"] = [row for row in rows if _is_change(row)]
    if not isinstance(fact["about"], Mapping):
        fact["about"] = {"id": fact["about"]} if _is_text(fact["about"]) else {}
    if not fact["subject"] and _is_text(fact["about"].get("title")):
        fact["subject"] = fact["about"]["title"]
    fact["when"] = fact["when"] or fact["valid_from"]
    return fact


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_change(value: Any) -> bool:
    return isinstance(value, Mapping) and _is_text(value.get("id")) and value.get("how") in CHANGES


def _shown(record: Any, key: str) -> str:
    value = record.get(key) if isinstance(record, Mapping) else None
    return one_line(value)[:300] if isinstance(value, str) else ""


def _proposition(
    fact: Mapping[str, Any], task: ReadingTask, number: int, catalog: Catalog, affirmed: bool
) -> Proposition:
    piece = task.shown[number]
    quote, start = _evidence(fact, piece)
    words = _statement(fact, piece)
    _check_grounded(words, quote, task, number, affirmed)
    category = "fact" if _begins_later(fact, quote, piece) else fact["category"]
    if piece.role == "assistant" and category not in _OF_ASSISTANTS:
        raise _Unfit("no fact of an assistant's", "quote the user's words for it, if there are any")
    if piece.role == AGENT and (category == "instruction" or (_names_user(words) and not _names_user(quote))):
        raise _Unfit("the user did not say it")
    subject, value = _subject(fact, piece), one_line(fact["object"])[:300] or None
    _check_speaker(piece, subject, start - piece.start, len(quote))
    predicate = None if _is_reported_of_user(fact, piece) else _predicate(fact["predicate"], catalog)
    first, last = _validity(fact, quote, piece, category, catalog, predicate, _moves_day(fact, task, number))
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
        valid_from=first,
        valid_to=last,
        entity_hints=_hints(fact, task, number, subject),
        trust="external" if piece.orders else _TRUST[piece.role],
        ended=fact["ended"] and piece.role == "user",
        former=(one_line(fact["former"] or "") or None) if piece.role == "user" else None,
        said_at=piece.event.timestamp,
        tags=usable_tags(fact["tags"], words),
    )
    return without_value_as_start(found, catalog)


def _names_user(text: str) -> bool:
    return _USER.search(text) is not None


def _evidence(fact: Mapping[str, Any], piece: EventPiece) -> tuple[str, int]:
    """Return the quote as it stands in the event, and its offset in the text of the event."""
    place = find_quote(fact["quote"], piece.text)
    if place is None:
        raise _Unfit("quote not in the event")
    quote = piece.text[slice(*place)]
    short = len(quote) < min(_SHORTEST_QUOTE, len(piece.text.strip())) and quote.isascii()
    if short and not (" " in quote and _is_clause(piece.text, *place)):
        raise _Unfit("quote too short")
    return quote, piece.start + place[0]


def _is_clause(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text stands between its ends or signs: "keep 51" in "No, keep 51."."""
    before, after = text[:start].rstrip(" "), text[end:].lstrip(" ")
    return before[-1:] in ("", *_SIGNS) and after[:1] in ("", *_SIGNS)


def _check_speaker(piece: EventPiece, subject: str | None, place: int, length: int) -> None:
    """Drop a fact about the speaker whose quote is another person's words, or a text to work on."""
    of_speaker = piece.role == "user" and normal(subject or "") == normal(piece.speaker)
    if of_speaker and not is_by_sender(piece.text, place, place + length):
        raise _Unfit("somebody else's words")


def _statement(fact: Mapping[str, Any], piece: EventPiece) -> str:
    try:
        words = check_statement(fact["statement"])
    except InvalidInput:
        raise _Unfit("no statement") from None
    words = words if words.endswith((".", "!", "?", '"', "。", "！", "？", "”")) else f"{words}."
    if piece.role == "tool" and not normal(words).startswith(normal(piece.speaker)):
        words = f"{piece.speaker[:1].upper()}{piece.speaker[1:]} reported: {words}"
    return words


_SPEAKS_OF_SELF = re.compile(r"\b(?:I|ich|yo|je)\b", re.IGNORECASE)
_ONE_DOES = re.compile(r"\w+ (?:is|was|has|does|ist|war|hat|\w{3,}s)\b")


def _check_grounded(words: str, quote: str, task: ReadingTask, number: int, affirmed: bool) -> None:
    """Drop a statement with names or numbers that were not said, or with nothing in common with its quote."""
    piece = task.shown[number]
    beside = task.after.get(piece.event.id) if piece.role != AGENT else None  # the turn that answers it
    texts = [*task.texts(number), *([beside] if beside else [])]
    known = with_titles(heard(texts, task.names, _said(piece), f"{words} {piece.text}"), task.titles)
    later = (f"{shown.speaker} {shown.text}" for shown in task.shown[number + 1 :] if shown.role == "user")
    known_later = with_names(known, later)
    missing = unsaid(words, known_later)
    if _SPEAKS_OF_SELF.search(quote) and _ONE_DOES.match(words) and words.partition(" ")[0].casefold() not in SMALL:
        missing = missing or unsaid(f"that {words}", known_later)  # "Piotr is" for "I'm": the first word is a name
    if piece.role == AGENT:
        # Its text is no ground to put words into the mouth of somebody whom it does not name: a first word counts, too.
        known = heard([f"{piece.speaker} {piece.text}"], (), _said(piece), f"{words} {piece.text}")
        first = words.partition(" ")[0].casefold()
        missing = unsaid(words if first in SMALL else f"that {words}", known)
    if missing is not None:
        raise _Unfit("names or numbers nobody said", missing[:60])
    if not affirmed and not is_about(words, quote, piece.speaker):
        raise _Unfit(NOT_ABOUT)
    if is_vague(words):
        raise _Unfit(NOT_CLEAR, "say who or what is meant")


def _is_reported_of_user(fact: Mapping[str, Any], piece: EventPiece) -> bool:
    """Return whether a tool or an assistant states something about the user, of which it has no triple."""
    return piece.role != "user" and normal(fact["subject"]) in _SPEAKER


def _subject(fact: Mapping[str, Any], piece: EventPiece) -> str:
    subject = one_line(fact["subject"])[:120]
    if piece.role == AGENT and _names_user(subject):
        return THE_USER.replace("The", "the")
    same = not subject or normal(subject) in _SPEAKER or normal(subject) == normal(piece.speaker)
    return piece.speaker if same else subject


def _predicate(phrase: str, catalog: Catalog) -> str | None:
    """Return the predicate from the catalog, or a new name that can be proposed for the catalog."""
    known = canonical_predicate(catalog, phrase) if phrase.strip() else None
    name = predicate_name(phrase)
    return known or (name if name and len(name) <= _LONGEST_NAME and name.count("_") < _MOST_WORDS else None)


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, float(value))), 2)


def _said(piece: EventPiece) -> date:
    try:
        return date.fromisoformat(piece.event.timestamp[:10])
    except ValueError:
        return date(1970, 1, 1)


def _validity(
    fact: Mapping[str, Any],
    quote: str,
    piece: EventPiece,
    category: str,
    catalog: Catalog,
    predicate: str | None,
    moved: bool,
) -> tuple[str | None, str | None]:
    """Return from when and until when the fact is true. A day that comes again is neither its start nor its end, and a
    day that was `moved` is what the fact says."""
    again = predicate == _BIRTHDAY or recurs(fact["statement"]) or recurs(quote)
    if again and not fact["ended"] and "/" not in (fact["when"] or ""):
        return _stated_start(quote, piece), None
    entry = catalog.predicates.get(predicate or "")
    first_named = _span(fact["when"])[0]
    dated = category == "event" or (category == "commitment" and "/" not in (fact["when"] or ""))
    comes = dated and first_named is not None and first_named > _said(piece)
    if moved or comes or category in PLANS or (entry is not None and entry.value == "date" and not fact["ended"]):
        return None, None if fact["ended"] else _last_day(fact, quote, piece)
    first, last = _first_day(fact, quote, piece, category), _span(fact["when"])[1]
    fits = last is not None and not fact["ended"] and (first is None or first <= last.isoformat())
    return first, last.isoformat() if fits and last else None


def _begins_later(fact: Mapping[str, Any], quote: str, piece: EventPiece) -> bool:
    """Return whether what is given as a plan is a value that takes another's place from a day to come."""
    first, last = _span(fact["when"])
    coming = first is not None and last is None and first > _said(piece)
    replaces = any(change["how"] == "replace" for change in fact["changes"])
    begins = (fact["when"] or "").endswith("/") or (replaces and _BEGINS.search(quote) is not None)
    return coming and begins and fact["category"] in PLANS and not fact["ended"]


def _moves_day(fact: Mapping[str, Any], task: ReadingTask, number: int) -> bool:
    """Return whether a fact gives a known one that names a coming day another day: "the release slips to 10 May". A
    weekday that comes again ("Fridays") is none."""
    message = _said(task.shown[number])
    replaced = {change["id"] for change in fact["changes"] if change["how"] == "replace"}
    olds = [fact.statement for fact in task.known if fact.target in replaced or fact.label in replaced]
    coming = (
        any(
            (day.day or "") > message.isoformat() and not is_bare_weekday(old, day)
            for day in find_dates(old, message, ahead=True)
        )
        for old in olds
    )
    return not fact["ended"] and any(coming) and bool(find_dates(fact["statement"], message, ahead=True))


def _stated_start(quote: str, piece: EventPiece) -> str | None:
    """Return the day since which the quote says that something comes again, or None."""
    message = _said(piece)
    return start_day([day for day in find_dates(quote, message) if day.since], "fact", message)


def _span(when: str | None) -> tuple[date | None, date | None]:
    """Return the first and the last day of `when`; the last one only where it is a span."""
    first, slash, last = (when or "").partition("/")
    return day_of_when(first), day_of_when(last, last=True) if slash else None


def _first_day(fact: Mapping[str, Any], quote: str, piece: EventPiece, category: str) -> str | None:
    """Return the day the fact became true, or ended: what the rules find in the quote, else the model's date.

    A month, a date or a weekday of the quote that is far from the model's date is that of something else: "it failed in
    October, so we use the new one from now on". Of the years that a month or a date without one can mean, and of
    the weeks of a weekday, the model's is taken if it is near."""
    message = _said(piece)
    first, last = _span(fact["when"])
    day = (last or first) if fact["ended"] else first
    # A weekday says since when only beside another day: "my free day is Wednesday from today on".
    since = day is not None and day != message
    dates = [match for match in find_dates(quote, message) if since or not is_bare_weekday(quote, match)]
    if day is None:  # a month alone may be that of any year
        dates = [match for match in dates if match.since or match.relative]
    found = start_day(dates, category, message)
    counted = any(match.since or (match.relative and not is_bare_weekday(quote, match)) for match in dates)
    far = found and day and abs(date.fromisoformat(found) - day) > _SLIP
    other_year = found and day and found[5:] == day.isoformat()[5:] and abs(day - message) <= _NEAR
    other_week = (
        found and day and abs(date.fromisoformat(found) - day) == _SLIP and not any(match.since for match in dates)
    )
    if (far and (other_year or not counted)) or other_week:
        found = None
    if found or (piece.role == "user" and (fact["ended"] or fact["former"]) and not fact["when"]):
        return found or message.isoformat()
    if day is None:
        return None
    open_span = (fact["when"] or "").endswith("/")
    if day > message and (open_span or any(change["how"] == "replace" for change in fact["changes"])):
        return day.isoformat()  # a change that is announced
    # A date that the quote calls due or future is not a start date, even if the model says so.
    read = [date_match for date_match in find_dates(quote, message) if date_match.day == day.isoformat()]
    return start_day(read or (DateMatch(0, 0, day.isoformat(), "", False),), category, message)


def _last_day(fact: Mapping[str, Any], quote: str, piece: EventPiece) -> str | None:
    """Return the last day of a plan or a deadline: what the quote names, else the model's date if it is to come. Of the
    weeks of a weekday the model's is taken. The day of the message ends only what the quote calls today's."""
    message = _said(piece)
    dates = find_dates(quote, message, ahead=True)
    named = last_coming_day(dates, message)
    first, last = _span(fact["when"])
    if not last and _BEGINS.search(quote):
        return None
    day = last or first
    if named and day and day - date.fromisoformat(named) in (_SLIP, 2 * _SLIP):
        return day.isoformat()
    is_today = day == message and any(found.day == message.isoformat() for found in dates)
    return named or (day.isoformat() if day and (day > message or is_today) else None)


def _hints(fact: Mapping[str, Any], task: ReadingTask, number: int, subject: str) -> tuple[EntityHint, ...]:
    """Return the entities of the fact, its main entity first. A name that was not said is ignored, unless it is that of
    a subject: an area, a resource or an archive. Of a project that the vault does not have, a word must have been
    said."""
    piece = task.shown[number]
    name = _person_talking(task, number)
    speaker = EntityHint("person", name, "speaker")
    about, of_speaker = fact["about"], normal(subject) == normal(piece.speaker)
    project = project_of_event(piece.event)
    if project and not about and fact["category"] in OF_PROJECTS:
        return _in_order(EntityHint("project", project, "work"), speaker, fact, of_speaker)
    known = _known_entity(about, task.entities)
    if known is not None:
        if normal(known.title) in (normal(name), normal(piece.speaker)):
            return (speaker,)
        return _in_order(EntityHint(kind_of(known.name), known.title, "mention", known.name), speaker, fact, of_speaker)
    path = str(about.get("id"))
    if is_entity_name(path) and owner_of(path) is None:
        about = {"kind": kind_of(path), "title": title_of(path)}
    title = one_line(about["title"])[:80] if _is_text(about.get("title")) else ""
    if not title or normal(title) in _SPEAKER or normal(title) == normal(piece.speaker):
        return (speaker,)
    kind = about.get("kind") if about.get("kind") in KINDS else "resource"
    group = set(re.findall(r"\w+", normal(" ".join((*task.texts(number), *task.names)))))
    words = re.findall(r"\w+", normal(title))
    known_project = slug(title) in task.projects
    part = kind == "project" and (known_project or any(len(word) > 3 and word in group for word in words))
    unsaid = not (part or group.issuperset(words))
    if kind == "area" and project and normal(project) in re.split(r"[^\w.-]+", normal(fact["statement"])):
        return _in_order(EntityHint("project", project, "work"), speaker, fact, of_speaker)  # a part of the project
    if unsaid and kind == "project":
        return (speaker, EntityHint(kind, title, ELSEWHERE))
    if (unsaid and kind not in _SUBJECTS) or len(title.split()) > _LONGEST_TITLE or find_injection(title) is not None:
        return (speaker,)
    return _in_order(EntityHint(kind, title, "named"), speaker, fact, of_speaker)


def _person_talking(task: ReadingTask, number: int) -> str:
    """Return the name of the person on whose page a fact belongs: the speaker, or whom an assistant speaks to."""
    piece = task.shown[number]
    names = {piece.speaker}
    if piece.role != "user":
        session = piece.event.session
        names = {piece.speaker for piece in task.shown if piece.role == "user" and piece.event.session == session}
    name = names.pop() if len(names) == 1 else ""
    return "User" if not name or normal(name) == normal("the user") else name


def _in_order(
    hint: EntityHint, speaker: EntityHint, fact: Mapping[str, Any], of_speaker: bool
) -> tuple[EntityHint, ...]:
    """Return both, the main one first. An entity that is only the value of a speaker's relation is not the main one."""
    value = of_speaker and normal(hint.title) == normal(fact["object"])
    return (speaker, hint._replace(role="mention")) if value else (hint, speaker)


def _known_entity(about: Mapping[str, Any], entities: Sequence[Entity]) -> Entity | None:
    wanted = about.get("id")
    return next((entity for entity in entities if entity.name == wanted), None) if _is_text(wanted) else None
