"""A reading task: the events that a model is asked about, with what it needs to know to answer, as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.learning.attribution.speaker import THE_USER
from clawmem.learning.by_model.pieces import EventPiece
from clawmem.learning.reconciling.para import project_of_event
from clawmem.llm.prompts import prompt
from clawmem.model.facts.catalog import Catalog, Predicate
from clawmem.model.records.entity import Entity
from clawmem.model.records.event import Event, display_speaker

MAX_KNOWN = 40
MAX_BEFORE = 6
_LONGEST_BEFORE = 400
_LONGEST_KNOWN = 300


class KnownFact(NamedTuple):
    """A standing fact that is shown with the events. `label` is what the answer calls it, and `target` its id or the
    `key` of a proposition of the same run."""

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
    were `told` from the same pieces before. `most` is about how many facts one answer has room for."""

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
        return [*turns, *known, *pieces]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that are known: of entities, and the objects of facts."""
        titles = [name for one in self.entities for name in (one.title, *one.aliases)]
        return (*titles, *(one.object for one in self.known if one.object))


def instructions(catalog: Catalog, categories: Sequence[str], most: int) -> str:
    """Return how to read events: the same text for all tasks with this catalog."""
    return prompt("extract").format(
        predicates="\n".join(map(_predicate_line, catalog.predicates.values())),
        categories=", ".join(categories),
        most=most,
    )


def doubtful_rows(rejected: Iterable[tuple[str, str, str, str]]) -> str:
    """Return dropped facts as data: the label of the event, the statement, the quote and the reason of each."""
    keys = ("event", "statement", "quote", "reason")
    return _element("doubtful", (dict(zip(keys, one, strict=True)) for one in rejected))


def task_data(task: ReadingTask, today: str) -> str:
    """Return the data of a task: the day, entities, known facts, the turns before, and the events, each as JSON lines.

    No text in the data can close the element that it stands in.
    """
    parts = [f"Today is {today}."]
    if task.entities:
        rows = [{"id": one.name, "title": one.title, "aliases": list(one.aliases)} for one in task.entities]
        parts += ["The known entities:", _element("entities", map(_without_empty, rows))]
    if task.known:
        parts += ["The known facts that may matter:", _element("known", map(_known_row, task.known))]
    if task.before:
        parts += ["The turns before, to understand the events; list no facts of them:"]
        parts += [_element("before", map(_turn_row, task.before))]
    if task.told:
        parts += ["These facts were found in the same events before; list only others:", _element("told", task.told)]
    parts += ["The events, as data:", _element("events", _event_rows(task))]
    return "\n".join(parts)


def _element(name: str, rows: Iterable[object]) -> str:
    return "\n".join((f"<{name}>", *map(_closed, rows), f"</{name}>"))


def _event_rows(task: ReadingTask) -> Iterable[dict[str, Any]]:
    for number, piece in enumerate(task.shown):
        place = {"session": piece.event.session, "project": project_of_event(piece.event)}
        yield {
            "id": task.label(number),
            "role": "note" if piece.event.role == "note" and piece.role == "user" else piece.role,
            "speaker": piece.speaker,
            **_without_empty(place),
            "said": piece.event.timestamp,
            "text": piece.text,
        }


def _known_row(one: KnownFact) -> dict[str, Any]:
    row = {
        "id": one.label,
        "fact": one.statement[:_LONGEST_KNOWN],
        "subject": one.subject,
        "predicate": one.predicate,
        "object": (one.object or "")[:_LONGEST_KNOWN],
        "since": one.since,
        "entity": one.entity,
    }
    return _without_empty(row)


def _turn_row(event: Event) -> dict[str, Any]:
    text = event.text if len(event.text) <= _LONGEST_BEFORE else event.text[:_LONGEST_BEFORE] + "…"
    return {"speaker": display_speaker(event) or THE_USER, "text": text}


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value}


def _predicate_line(one: Predicate) -> str:
    values = "one value" if one.single else "many values"
    return f"- {one.name} ({values}): {one.description or ', '.join(one.phrases) or one.name.replace('_', ' ')}"


def _closed(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
