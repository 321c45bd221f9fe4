"""A reading task: the events that a model is asked about, with what it needs to know to answer, as text.

JSON Schemas of the answer to a reading task: the form that is asked for, and the form that is read.

Split events into pieces that may be sent to a model, and render them as data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.learning.attribution.quoted import injection_in
from clawmem.learning.attribution.sentences import THE_USER
from clawmem.learning.reconciling.entities import conversation_of
from clawmem.llm.choice import prompt
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line
from clawmem.model.proposals.para import project_of_event
from clawmem.model.proposals.quarantine import without_orders
from clawmem.model.records.access import Policy
from clawmem.model.records.entity import Entity, kind_of, slug
from clawmem.model.records.event import (
    Event,
    display_speaker,
    is_from_outside,
    is_told_by_agent,
    name_of_outsider,
)
from clawmem.model.safety.recalled_text import has_words, mask_recalled, parts_of, without_closing_marks, wrap_task
from clawmem.model.safety.secrets.find import find_secret

MAX_KNOWN = 40
MAX_BEFORE = 6
_LONGEST_BEFORE, _FEWEST_BEFORE = 400, 200
_LONGEST_KNOWN, _LONGEST_GIVEN, _FEWEST_GIVEN = 160, 600, 150
_ROOM_GIVEN = 1_200  # characters of doubtful facts beside half of their message: a task keeps its bound
_READING, _AGAIN = "read", "again"
_NAME_OF_USER = THE_USER.replace("The", "the", 1)


class KnownFact(NamedTuple):
    """A standing fact that is shown with the events. `label` is what the answer calls it, and `target` its id."""

    label: str
    target: str
    statement: str
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    since: str | None = None
    entity: str | None = None


class ReadingTask(NamedTuple):
    """The pieces to read with their labels, the known facts and entities, the turns before, and the statements that
    were `told` from the same pieces before. `most` is about how many facts one answer has room for; 0 is no limit. With
    a `policy`, the answer also says which messages are not for everybody. `after` has the turn behind a message, by
    the id of its event: what answers it may say a name or a number of it. `projects` are the words that name the
    vault's projects."""

    shown: tuple[EventPiece, ...]
    labels: tuple[str, ...] = ()
    known: tuple[KnownFact, ...] = ()
    entities: tuple[Entity, ...] = ()
    before: tuple[Event, ...] = ()
    told: tuple[str, ...] = ()
    most: int = 0
    policy: Policy | None = None
    after: Mapping[str, str] = MappingProxyType({})
    projects: frozenset[str] = frozenset()

    def label(self, number: int) -> str:
        """Return the label of a piece: the given one, or e1, e2, ..."""
        return self.labels[number] if self.labels else f"e{number + 1}"

    def texts(self, number: int) -> list[str]:
        """Return the texts from which a statement about a piece may have its names and numbers."""
        pieces = [f"{piece.speaker} {piece.text}" for piece in self.shown[: number + 1]]
        turns = [f"{display_speaker(event)} {event.text}" for event in self.before]
        known = [f"{fact.statement} {fact.object or ''}" for fact in self.known]
        texts = [*turns, *known, *pieces, project_of_event(self.shown[number].event) or ""]
        texts.append(_heading(self.shown[number]))
        readers = [name for person in self.policy.people.values() for name in person.name] if self.policy else []
        words = {word for text in texts for word in text.split()} if readers else set()
        return [*texts, *(name for name in readers if not words.isdisjoint(name.split()))]

    @property
    def titles(self) -> tuple[str, ...]:
        """Return the titles of the known people, whom a first name means."""
        return tuple(entity.title for entity in self.entities if (entity.kind or kind_of(entity.name)) == "person")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that are known: of entities, and the objects of facts."""
        titles = [name for entity in self.entities for name in (entity.title, *entity.aliases)]
        return (*titles, *(fact.object for fact in self.known if fact.object))

    @property
    def key(self) -> str:
        """Return the id of the task: the same for the same pieces, known facts and earlier finds."""
        shown = repr((self.labels, [fact.target for fact in self.known], self.told))
        return f"{_READING}-{sha256(shown.encode()).hexdigest()[:8]}"


class DoubtfulFact(NamedTuple):
    """A fact of an answer that was not accepted: the number of its piece, the fact as it was given, and the reason."""

    number: int
    given: Any
    reason: str


def instructions(catalog: Catalog, key: str = "read-0") -> str:
    """Return how to read events and the form of the answer: the same text for all tasks but for the id of the task."""
    single = [name for name, predicate in catalog.predicates.items() if predicate.single]
    return prompt("read").format(predicates=", ".join(single), categories=", ".join(CATEGORIES[1:]), task=key)


def task_text(task: ReadingTask, catalog: Catalog, today: str) -> str:
    """Return a task as one self-contained text: how to read, the form of the answer, and the data."""
    return wrap_task(task.key, f"{instructions(catalog, task.key)}\n{task_data(task, today)}")


def task_data(task: ReadingTask, today: str) -> str:
    """Return the data of a task: the day, entities, known facts, the turns before, and the messages.

    A text has a blank before each of its further lines, and no text can close the element that it stands in.
    """
    parts = [f"Today is {today}." + (f" Give at most {task.most} facts." if task.most else "")]
    if task.policy is not None:
        parts += [prompt("private").strip(), _element("private", _policy_lines(task.policy))]
    if task.entities:
        parts.append(_element("places", map(_place_line, task.entities)))
    if task.known:
        parts.append(_element("known", map(_known_line, task.known)))
    if task.before:
        parts.append("Said before; list no facts of it:")
        parts.append(
            _element("before", (f"{display_speaker(event) or _NAME_OF_USER}: {event.text}" for event in task.before))
        )
    if task.told:
        parts.append("Found in the same messages before; list only others:")
        parts.append(_element("told", task.told))
    parts.append(_element("events", _event_lines(task)))
    return "\n".join(parts)


def follow_up_key(answer: str) -> str:
    """Return the id of the task about the doubtful facts of an answer, given by its digest."""
    return f"{_AGAIN}-{answer[:8]}"


def follow_up_text(task: ReadingTask, key: str, doubtful: Sequence[DoubtfulFact], today: str) -> str:
    """Return the task to say doubtful facts once more: these facts, each with its message, and the turn before where
    the fact does not say what is meant."""
    from clawmem.learning.by_model.grounding import NOT_CLEAR  # it reads numbers and dates of several languages

    rows: list[str] = []
    for place, number in enumerate(asked_again(doubtful), 1):
        piece = task.shown[number]
        of_piece = [fact for fact in doubtful if fact.number == number]
        before = _turn_before(task, number) if any(fact.reason.startswith(NOT_CLEAR) for fact in of_piece) else None
        if before is not None:
            rows.append(f"before: {display_speaker(before) or _NAME_OF_USER}: {before.text}")
        rows.append(f"{place} {_speaker(piece)}, {day_of(piece.event.timestamp)}: {piece.text}")
        most = min(_LONGEST_GIVEN, max(_FEWEST_GIVEN, (_ROOM_GIVEN + len(piece.text) // 2) // len(of_piece)))
        rows += [_given_line(fact, place, most) for fact in of_piece]
    return wrap_task(key, "\n".join((prompt("doubtful").format(task=key, today=today), _element("doubtful", rows))))


def _turn_before(task: ReadingTask, number: int) -> Event | None:
    """Return the turn before a piece in its conversation, cut to a few lines, or None."""
    event = task.shown[number].event
    turns = [*task.before, *(piece.event._replace(text=piece.text) for piece in task.shown[:number])]
    last = turns[-1] if turns and turns[-1].session == event.session and turns[-1].id != event.id else None
    return shortened([last], _FEWEST_BEFORE)[0] if last else None


def asked_again(doubtful: Iterable[DoubtfulFact]) -> list[int]:
    """Return the numbers of the pieces that doubtful facts are about, in the order in which a follow-up shows them."""
    return sorted({fact.number for fact in doubtful})


def _given_line(fact: DoubtfulFact, place: int, most: int) -> str:
    record = {**fact.given, "event": place} if isinstance(fact.given, Mapping) else fact.given
    short = {full: key for key, full in SHORT.items()}
    if isinstance(record, Mapping):
        record = {short.get(key, key): value for key, value in record.items() if value not in (None, "", [], False)}
    return f"- {json.dumps(record, ensure_ascii=False)[:most]}: {one_line(fact.reason)}"


def _element(name: str, rows: Iterable[str]) -> str:
    return "\n".join((f"<{name}>", *map(_safe, rows), f"</{name}>"))


def _safe(row: str) -> str:
    return without_closing_marks("\n ".join(row.splitlines()))


def _event_lines(task: ReadingTask) -> Iterable[str]:
    """Yield a line for each piece, and one with `#` where the day, conversation, project or heading changes."""
    talks: dict[str, int] = {}
    place = ""
    for number, piece in enumerate(task.shown, 1):
        event = piece.event
        talk = talks.setdefault(f"{conversation_of(event)} {event.session}", len(talks) + 1)
        project = project_of_event(event)
        here = f"# {day_of(event.timestamp)}" + (f", conversation {talk}" if talk > 1 or len(talks) > 1 else "")
        here += f", project {one_line(project)}" if project else ""
        heading = _heading(piece)
        here += f", {heading}" if heading else ""
        if here != place:
            place = here
            yield here
        yield f"{number} {_speaker(piece)}: {piece.text}"


def _heading(piece: EventPiece) -> str:
    """Return the headings of notes or of a document, such as a page, under which a piece stands."""
    return one_line(str((piece.event.metadata or {}).get("heading") or ""))


def _speaker(piece: EventPiece) -> str:
    name = one_line(piece.speaker)
    if piece.event.role == "note" and piece.role == "user":
        return "note" if name == _NAME_OF_USER else f"note of {name}"
    if piece.role == "user":
        return "user" if name == _NAME_OF_USER else name
    plain = name in ("the assistant", "a tool", piece.role)
    return piece.role if plain else f"{piece.role} ({name})"


def _policy_lines(policy: Policy) -> Iterable[str]:
    """Yield the kinds of content that not everybody may see, then the people who read this memory."""
    yield from (f"{kind}: {about}" for kind, about in policy.kinds.items())
    for name, person in policy.people.items():
        yield f"{name}, {', '.join(filter(None, (*person.name, person.role)))}"


def _place_line(entity: Entity) -> str:
    """Return the path of an entity, with those of its names that the path does not say."""
    last = entity.name.rsplit("/", 1)[-1]
    names = [name for name in (entity.title, *entity.aliases) if slug(name) != last]
    return f"{entity.name} {', '.join(names)}".strip()


def _known_line(fact: KnownFact) -> str:
    since = f" ({fact.since})" if fact.since else ""
    return f"{fact.label} {one_line(fact.statement)[:_LONGEST_KNOWN]}{since}"


def shortened(turns: Sequence[Event], room: int) -> tuple[Event, ...]:
    """Return the last turns whose texts have together about `room` characters, each cut to a few lines."""
    found: list[Event] = []
    left = max(room, _FEWEST_BEFORE)
    for event in reversed(turns):
        most = min(_LONGEST_BEFORE, left)
        if most < _FEWEST_BEFORE // 4:
            break
        text = event.text.strip()
        text = text if len(text) <= most else text[: most // 2] + " … " + text[-(most // 2) :]
        left -= len(text)
        found.append(event._replace(text=re.sub(r"\s+", " ", text)))
    return tuple(reversed(found))


CATEGORIES = tuple(
    "fact identity relationship preference status health plan goal habit event milestone decision lesson requirement "
    "instruction commitment recommendation action".split()
)
CHANGES = ("replace", "end", "same", "refine")
KINDS = ("person", "company", "project", "area", "resource", "archive")
SHORT = {
    "e": "event", "q": "quote", "s": "statement", "of": "subject", "p": "predicate", "o": "object", "c": "category",
    "i": "importance", "x": "changes", "at": "about", "t": "tags",
}  # fmt: skip
"""The keys of a fact as the task asks for them, with the full name of each, which is read as well."""
_NUMBERS = {"type": "array", "items": {"type": ["integer", "string"]}}
_FACT: Mapping[str, Any] = {
    "type": "object",
    "required": ["e", "q", "s"],
    "properties": {
        "e": {"type": "integer"},
        **{key: {"type": "string"} for key in ("q", "s", "of", "p", "o", "c", "when", "at")},
        "ended": {"type": "boolean"},
        "i": {"type": "number"},
        "t": {"type": "array", "items": {"type": "string"}},
        "x": {"type": "object", "additionalProperties": {"type": "string", "enum": list(CHANGES)}},
    },
}
_FORGET = {"type": ["object", "array"], "additionalProperties": {"type": "array", "items": {"type": "string"}}}
_LINES = {"type": "object", "additionalProperties": {"type": "string"}}
_PRIVATE = {"type": "object", "additionalProperties": {"type": "object"}}
_GRANTS = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "object"}}}
_OTHER = {
    "task": {"type": "string"},
    "more": _NUMBERS,
    "forget": _FORGET,
    "lines": _LINES,
    "private": _PRIVATE,
    "grants": _GRANTS,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["facts"],
    "properties": {"facts": {"type": "array", "items": _FACT}, **_OTHER},
}
"""The form that a model is asked for."""
_KEYS = (*SHORT, *SHORT.values(), "when", "ended", "confidence", "valid_from", "former", "relation_phrase")
_USABLE = {
    "type": "object",
    "additionalProperties": False,
    "anyOf": [{"required": ["e", "q", "s"]}, {"required": ["event", "quote", "statement"]}],
    "properties": dict.fromkeys(_KEYS, True),
}
ACCEPTED: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {"type": "array", "if": {"not": {"contains": _USABLE}}, "then": {"items": _USABLE}},
        **_OTHER,
        "read": _NUMBERS,
        "unread": _NUMBERS,
    },
}
"""The form of an answer that is read: no facts, or one at least that is usable. Each fact is then checked alone, so
that a bad one costs only itself."""


MAX_PIECE_CHARACTERS = 6000
AGENT = "agent"
_PROGRAMS = frozenset("assistant ai bot claude chatgpt gpt gemini copilot agent system model".split())
_GENERIC = frozenset(("", "user", "human", "me"))


class EventPiece(NamedTuple):
    """A part of an event's text, usually all of it.

    `start` is its offset in the text, `last` marks the last piece of the event. `role` is user, assistant, tool, or
    agent for what an agent noted or tells of the user, and sets how far the speaker is trusted. `orders` marks an event
    with injected instructions, which the text has blanks for.
    """

    event: Event
    start: int
    text: str
    speaker: str
    role: str
    last: bool
    orders: bool = False


def piece_label(piece: EventPiece) -> str:
    """Return the name of a piece: the id of its event, and the offset of a later piece of a long one."""
    return f"{piece.event.id}@{piece.start}" if piece.start else piece.event.id


def event_of_label(label: str) -> str:
    """Return the id of the event that a label names."""
    return label.strip().partition("@")[0]


def is_readable(event: Event) -> bool:
    """Return whether the event has text for a model. Events with a credential are never sent."""
    return has_words(event) and find_secret(event.text) is None


def split_events(
    events: Iterable[Event], speakers: Collection[str], record: Mapping[str, int] = MappingProxyType({})
) -> Iterator[EventPiece]:
    """Yield the pieces of the events, in order. `done` maps an event id to the number of characters read before."""
    for event in events:
        role, speaker = _role_and_speaker(event, speakers)
        text, orders = mask_recalled(event.text, parts_of(event.metadata)), injection_in(event) is not None
        if orders:
            text = without_orders(text, lambda words: " " * len(words))  # positions stay the same
        start = min(record.get(event.id, 0), len(text))
        while True:
            end = _cut(text, start)
            yield EventPiece(event, start, text[start:end], speaker, role, end >= len(text), orders)
            start = end
            if start >= len(text):
                break


def _cut(text: str, start: int) -> int:
    end = start + MAX_PIECE_CHARACTERS
    if end >= len(text):
        return len(text)
    line = max(
        text.rfind("\n", start + MAX_PIECE_CHARACTERS // 2, end),
        text.rfind(". ", start + MAX_PIECE_CHARACTERS // 2, end),
    )
    return line + 1 if line > 0 else end


def _role_and_speaker(event: Event, speakers: Collection[str]) -> tuple[str, str]:
    """Return the role of the event and its speaker. The speaker is `the user` if no name is known."""
    name = (event.speaker or "").strip()
    if is_from_outside(event):
        return "tool", name_of_outsider(event) or "a tool"
    if event.role in ("user", "note") and is_told_by_agent(event):
        return AGENT, f"the agent {event.agent}" if event.agent else "an agent"
    person = name.lower() not in _PROGRAMS | _GENERIC
    # In a conversation among people the one who answers is a person, even with the role `assistant`.
    among_people = len([speaker for speaker in speakers if speaker.lower() not in _PROGRAMS | _GENERIC]) > 1
    if event.role == "assistant" and not (person and among_people):
        return "assistant", name or "the assistant"
    return "user", name if person else THE_USER.replace("The", "the", 1)
