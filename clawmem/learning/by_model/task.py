"""A reading task: the events that a model is asked about, with what it needs to know to answer, as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.learning.attribution.speaker import THE_USER
from clawmem.learning.by_model.pieces import EventPiece
from clawmem.learning.by_model.schema import CATEGORIES, SHORT
from clawmem.learning.reconciling.namesakes import conversation_of
from clawmem.llm.prompts import prompt
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line
from clawmem.model.proposals.para import project_of_event
from clawmem.model.records.entity import Entity, slug
from clawmem.model.records.event import Event, display_speaker
from clawmem.model.safety.recalled_text import without_closing_marks, wrap_task

MAX_KNOWN = 40
MAX_BEFORE = 6
_LONGEST_BEFORE, _FEWEST_BEFORE = 400, 200
_LONGEST_KNOWN, _LONGEST_GIVEN = 160, 600
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
    were `told` from the same pieces before. `most` is about how many facts one answer has room for; 0 is no limit."""

    shown: tuple[EventPiece, ...]
    labels: tuple[str, ...] = ()
    known: tuple[KnownFact, ...] = ()
    entities: tuple[Entity, ...] = ()
    before: tuple[Event, ...] = ()
    told: tuple[str, ...] = ()
    most: int = 0

    def label(self, number: int) -> str:
        """Return the label of a piece: the given one, or e1, e2, ..."""
        return self.labels[number] if self.labels else f"e{number + 1}"

    def texts(self, number: int) -> list[str]:
        """Return the texts from which a statement about a piece may have its names and numbers."""
        pieces = [f"{one.speaker} {one.text}" for one in self.shown[: number + 1]]
        turns = [f"{display_speaker(one)} {one.text}" for one in self.before]
        known = [f"{one.statement} {one.object or ''}" for one in self.known]
        return [*turns, *known, *pieces, project_of_event(self.shown[number].event) or ""]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that are known: of entities, and the objects of facts."""
        titles = [name for one in self.entities for name in (one.title, *one.aliases)]
        return (*titles, *(one.object for one in self.known if one.object))

    @property
    def key(self) -> str:
        """Return the id of the task: the same for the same pieces, known facts and earlier finds."""
        shown = repr((self.labels, [one.target for one in self.known], self.told))
        return f"{_READING}-{sha256(shown.encode()).hexdigest()[:8]}"


class DoubtfulFact(NamedTuple):
    """A fact of an answer that was not accepted: the number of its piece, the fact as it was given, and the reason."""

    number: int
    given: Any
    reason: str


def instructions(catalog: Catalog, key: str = "read-0") -> str:
    """Return how to read events and the form of the answer: the same text for all tasks but for the id of the task."""
    single = [name for name, one in catalog.predicates.items() if one.single]
    return prompt("read").format(predicates=", ".join(single), categories=", ".join(CATEGORIES[1:]), task=key)


def task_text(task: ReadingTask, catalog: Catalog, today: str) -> str:
    """Return a task as one self-contained text: how to read, the form of the answer, and the data."""
    return wrap_task(task.key, f"{instructions(catalog, task.key)}\n{task_data(task, today)}")


def task_data(task: ReadingTask, today: str) -> str:
    """Return the data of a task: the day, entities, known facts, the turns before, and the messages.

    A text has a blank before each of its further lines, and no text can close the element that it stands in.
    """
    parts = [f"Today is {today}." + (f" Give at most {task.most} facts." if task.most else "")]
    if task.entities:
        parts.append(_element("places", map(_place_line, task.entities)))
    if task.known:
        parts.append(_element("known", map(_known_line, task.known)))
    if task.before:
        parts.append("Said before; list no facts of it:")
        parts.append(
            _element("before", (f"{display_speaker(one) or _NAME_OF_USER}: {one.text}" for one in task.before))
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
    """Return the task to say doubtful facts once more: these facts, and the sentences that they may stand in."""
    from clawmem.learning.by_model.grounding import nearest_part  # it reads numbers and dates of several languages

    rows: list[str] = []
    for place, number in enumerate(asked_again(doubtful), 1):
        piece = task.shown[number]
        of_piece = [one for one in doubtful if one.number == number]
        words = " ".join(str(one.given) for one in of_piece)
        near = nearest_part(piece.text, words)
        rows.append(f"{place} {_speaker(piece)}, {day_of(piece.event.timestamp)}: {near}")
        rows += [_given_line(one, place) for one in of_piece]
    return wrap_task(key, "\n".join((prompt("doubtful").format(task=key, today=today), _element("doubtful", rows))))


def asked_again(doubtful: Iterable[DoubtfulFact]) -> list[int]:
    """Return the numbers of the pieces that doubtful facts are about, in the order in which a follow-up shows them."""
    return sorted({one.number for one in doubtful})


def _given_line(one: DoubtfulFact, place: int) -> str:
    given = {**one.given, "event": place} if isinstance(one.given, Mapping) else one.given
    short = {full: key for key, full in SHORT.items()}
    if isinstance(given, Mapping):
        given = {short.get(key, key): value for key, value in given.items() if value not in (None, "", [], False)}
    return f"- {json.dumps(given, ensure_ascii=False)[:_LONGEST_GIVEN]}: {one_line(one.reason)}"


def _element(name: str, rows: Iterable[str]) -> str:
    return "\n".join((f"<{name}>", *map(_safe, rows), f"</{name}>"))


def _safe(row: str) -> str:
    return without_closing_marks("\n ".join(row.splitlines()))


def _event_lines(task: ReadingTask) -> Iterable[str]:
    """Yield a line for each piece, and one with `#` where the day, the conversation or the project changes."""
    talks: dict[str, int] = {}
    place = ""
    for number, piece in enumerate(task.shown, 1):
        event = piece.event
        talk = talks.setdefault(f"{conversation_of(event)} {event.session}", len(talks) + 1)
        project = project_of_event(event)
        here = f"# {day_of(event.timestamp)}" + (f", conversation {talk}" if talk > 1 or len(talks) > 1 else "")
        here += f", project {one_line(project)}" if project else ""
        if here != place:
            place = here
            yield here
        yield f"{number} {_speaker(piece)}: {piece.text}"


def _speaker(piece: EventPiece) -> str:
    name = one_line(piece.speaker)
    if piece.event.role == "note" and piece.role == "user":
        return "note" if name == _NAME_OF_USER else f"note of {name}"
    if piece.role == "user":
        return "user" if name == _NAME_OF_USER else name
    plain = name in ("the assistant", "a tool", piece.role)
    return piece.role if plain else f"{piece.role} ({name})"


def _place_line(one: Entity) -> str:
    """Return the path of an entity, with those of its names that the path does not say."""
    last = one.name.rsplit("/", 1)[-1]
    names = [name for name in (one.title, *one.aliases) if slug(name) != last]
    return f"{one.name} {', '.join(names)}".strip()


def _known_line(one: KnownFact) -> str:
    since = f" ({one.since})" if one.since else ""
    return f"{one.label} {one_line(one.statement)[:_LONGEST_KNOWN]}{since}"


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
