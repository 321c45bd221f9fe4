"""Entries of the history by day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from rich.text import Text

from clawmem.faces.cli.drawing.canvas import FAINT, HEAD, Canvas, words
from clawmem.faces.parts.command import Answer
from clawmem.faces.parts.past import SHORT

_Record = Mapping[str, Any]

_MINUTE = 7
"""Columns of an indented time."""


def log(canvas: Canvas, answer: Answer, given: Mapping[str, Any]) -> Iterator[Text]:
    """The entries, oldest first."""
    return entries(canvas, answer.made()["history"])


def entries(canvas: Canvas, history: Iterable[_Record]) -> Iterator[Text]:
    """Entries below the day on which they were made."""
    for day, made in groupby(history, key=lambda one: str(one["time"][:10])):
        yield words(f"{day} UTC", HEAD)
        for one in made:
            who = (words(one["commit"][:SHORT], FAINT), words(one["author"], FAINT))
            below = canvas.flow(who, canvas.width - _MINUTE - 2)
            time = words(one["time"][11:16], FAINT)
            yield from canvas.block(Text("  ").append_text(time), _MINUTE, [subject(one), *below], beside=True)


def subject(entry: _Record) -> Text:
    """The first line of a commit's message, with the operation of clawmem set off."""
    text = words(entry["subject"])
    operation = entry.get("op") or ""
    if operation and text.plain.startswith(f"{operation}("):
        text.stylize(HEAD, 0, len(operation))
    return text
