"""The calling agent as the model: the task that it is given, and what its answer means for the events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.learning.by_model.answers import DroppedFact
from clawmem.learning.by_model.pieces import EventPiece
from clawmem.learning.by_model.schema import AGENT_SCHEMA, CATEGORIES
from clawmem.learning.by_model.task import ReadingTask, doubtful_rows, instructions, task_data
from clawmem.llm.prompts import prompt
from clawmem.model.facts.catalog import Catalog

_MOST_FACTS = 60


def piece_label(piece: EventPiece) -> str:
    """Return what a task calls a piece: the id of its event, and the offset of a later piece of a long one."""
    return f"{piece.event.id}@{piece.start}" if piece.start else piece.event.id


def event_of_label(label: str) -> str:
    """Return the id of the event that a label names."""
    return label.strip().partition("@")[0]


def task_text(task: ReadingTask, catalog: Catalog, today: str) -> str:
    """Return a task as one self-contained text: how to read, the data, and the form of the answer."""
    how = instructions(catalog, CATEGORIES, task.most or _MOST_FACTS)
    return f"{how}\n\n{task_data(task, today)}\n\n{_form()}\n"


def follow_up_text(task: ReadingTask, doubtful: Iterable[DroppedFact], catalog: Catalog, today: str) -> str:
    """Return the task to say doubtful facts once more, self-contained like the first one."""
    rows = [(_label_of(task, one), one.statement, one.quote, one.says) for one in doubtful]
    asked = prompt("doubtful").format(doubtful=doubtful_rows(rows))
    how = instructions(catalog, CATEGORIES, task.most or _MOST_FACTS)
    return f"{how}\n\n{task_data(task, today)}\n\n{asked}\n\n{_form()}\n"


def _label_of(task: ReadingTask, one: DroppedFact) -> str:
    return task.label(one.number) if one.number is not None else ""


def _form() -> str:
    schema = json.dumps(AGENT_SCHEMA, ensure_ascii=False)
    return prompt("by_caller").format(schema=schema)


class EventOutcome(NamedTuple):
    """What an answer means for one event: the piece was read to its end, or it waits with what was found."""

    piece: EventPiece
    finished: bool
    told: tuple[str, ...]
    asked: str = ""


def outcomes(
    pieces: Sequence[EventPiece],
    found: Sequence[Sequence[str]],
    more: Iterable[int],
    unread: Iterable[int],
    doubtful: Iterable[int],
    told: Mapping[str, tuple[str, ...]],
    digest: str,
) -> list[EventOutcome]:
    """Return the outcome of each piece. `found` are the statements by piece.

    Pieces with `more` facts wait if something new was found in them, so that nobody is asked for ever. `unread` pieces
    wait. About the `doubtful` ones the caller is asked once more.
    """
    left, waiting, asked = frozenset(more), frozenset(unread), frozenset(doubtful)
    rows = []
    for number, piece in enumerate(pieces):
        before = told.get(piece.event.id, ())
        new = tuple(one for one in found[number] if one not in before)
        waits = number in asked or number in waiting or (number in left and bool(new))
        rows.append(EventOutcome(piece, not waits, (*before, *new) if waits else (), digest if number in asked else ""))
    return rows
