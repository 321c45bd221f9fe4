"""The queue of proposals, and one of them with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from clawmem.faces.cli.drawing.canvas import FAINT, HEAD, LEVEL, Canvas, remarks, words
from clawmem.faces.parts.command import Answer, Fields
from clawmem.model.language.dates import minute
from clawmem.model.proposals.proposal import OPEN

_Record = Mapping[str, Any]

_DAY = 10
"""Columns of a day."""


def queue(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[Text]:
    """The proposals: what each says, why it waits, and what it is."""
    for proposal in answer.made()["proposals"]:
        below = canvas.flow(_about(proposal), canvas.beside(_DAY))
        day = words(proposal["created"][:_DAY], FAINT)
        yield from canvas.block(day, _DAY, [words(proposal["says"]), words(proposal["why"]), *below])


def proposal(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A tree: what the proposal says, and below it why, what it does, its evidence, and the facts as they are now."""
    data = answer.made()
    other = data["proposal"]
    about = (*_about(other), words(f"made {minute(other['created'])}", FAINT))
    tree = Tree(canvas.node(0, words(other["says"], HEAD), *canvas.flow(about, canvas.width)), guide_style=FAINT)
    pairs = answer.lines.pairs if isinstance(answer.lines, Fields) else ()
    for name, value in pairs:
        if name not in ("says", "now"):
            tree.add(canvas.node(1, words(name, FAINT).append("  ").append_text(words(value))))
    for target in data["targets"]:
        below = canvas.flow(remarks(target), canvas.width - LEVEL)
        tree.add(canvas.node(1, words("now", FAINT).append("  ").append_text(words(target["fact"])), *below))
    yield tree


def _about(record: _Record) -> Iterator[Text]:
    yield words(record["id"], FAINT)
    yield words(record["kind"])
    yield words(record["status"], HEAD if record["status"] == OPEN else FAINT)
    yield from (words(record[key], FAINT) for key in ("entity", "agent") if record.get(key))
