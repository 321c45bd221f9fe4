"""Which drawing an answer has: the one of its verb, else the one of the form of its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from rich.console import RenderableType

from clawmem.faces.cli.display import Display
from clawmem.faces.cli.drawing.canvas import Canvas
from clawmem.faces.parts.command import Answer, Fields, Table

# The module and the function for the answers of a verb. A function takes the canvas, the answer and the values of the
# command; it returns None if this answer is printed as it is.
_OF_VERB = {
    "recall": "recall:recall",
    "list": "recall:listed",
    "why": "why:why",
    "log": "why:log",
    "review list": "review:queue",
    "review show": "review:proposal",
}


def draw(answer: Answer, verb: str, record: Mapping[str, Any], display: Display) -> Iterator[str] | None:
    """Draw an answer, piece by piece; None if it has no drawing. `verb` is empty for one that is only its lines."""
    canvas = Canvas(display)
    if verb in _OF_VERB:
        module, _, name = _OF_VERB[verb].partition(":")
        made = getattr(import_module(f"clawmem.faces.cli.drawing.{module}"), name)(canvas, answer, record)
    else:
        made = _of_lines(canvas, answer)
    return None if made is None else map(canvas.drawn, made)


def _of_lines(canvas: Canvas, answer: Answer) -> Iterable[RenderableType] | None:
    from clawmem.faces.cli.drawing import canvas as table

    if isinstance(answer.lines, Table):
        return table.table(canvas, answer.lines)
    return table.fields(canvas, answer.lines) if isinstance(answer.lines, Fields) else None
