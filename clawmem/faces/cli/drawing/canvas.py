"""Text in rows: words of the vault as data, wrapping, columns, and the styles of all drawings.

Colours are names of the terminal's own palette, so that light and dark themes apply. Only those are used that can be
read on both (decision 125).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from io import StringIO
from typing import Any

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, Group, RenderableType
from rich.text import Text

from clawmem.faces.cli.display import Display
from clawmem.faces.parts.command import Answer, Fields, Table
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import ACTIVE, CANONICAL_KEYS, STATUSES, Fact
from clawmem.model.facts.fact_words import UNREVIEWED, change_labels, fact_remarks, origin_warnings
from clawmem.model.language.text import one_line, visible

HEAD = "bold"
HIT = "bold magenta"
FAINT = "dim"
ALERT = "red"

LEVEL = 4
"""Columns of one level of Rich's trees."""
_GAP = "  "
_SEPARATOR = " · "
# Below this width, what stands beside a text elsewhere stands above it.
_NARROW = 60
_NARROW_INDENT = 2
_WORD = re.compile(r"\S+")
_MARK = re.compile(r"[/(&?=]")


class Canvas:
    """A display to draw on, with Rich's console for it."""

    def __init__(self, display: Display) -> None:
        self.width = display.width
        # Everything that Rich would find out about the terminal itself is given, so that there is one rule.
        self._console = Console(
            file=StringIO(),
            width=display.width,
            force_terminal=True,
            color_system="standard" if display.styled else None,
            no_color=False,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )
        self._colors = ColorSystem.STANDARD if display.styled else None

    def wrapped(self, text: Text, width: int) -> Sequence[Text]:
        """The rows of a text; only a word that is longer than a row is cut, if possible behind a mark."""
        places = list(_breaks(text.plain, width))
        broken = Text("\n").join(text.divide(places)) if places else text
        return [_trimmed(row) for row in broken.wrap(self._console, max(width, 1), overflow="fold")]

    def block(self, left: Text, column: int, texts: Iterable[Text], beside: bool = False) -> Iterator[Text]:
        """Rows with `left` in a column of that width beside the texts. On a narrow display it is above them, unless it
        is to be beside them on any."""
        narrow = self.width < _NARROW and not beside
        indent = _NARROW_INDENT if narrow else column + len(_GAP)
        if narrow:
            yield left
        for number, row in enumerate(row for text in texts for row in self.wrapped(text, self.width - indent)):
            start = left if number == 0 and not narrow else Text()
            yield _trimmed(padded(start, indent).append_text(row))

    def beside(self, column: int) -> int:
        """The width of what stands beside a column of that width, or on a narrow display below it."""
        return self.width - (_NARROW_INDENT if self.width < _NARROW else column + len(_GAP))

    def flow(self, parts: Iterable[Text], room: int) -> Iterator[Text]:
        """The parts one behind the other in rows of that width; a part that does not fit begins a new row."""
        row = Text()
        for part in parts:
            if row and row.cell_len + len(_SEPARATOR) + part.cell_len > room:
                yield row
                row = Text()
            row = row.append(_SEPARATOR, FAINT).append_text(part) if row else part.copy()
        if row:
            yield row

    def node(self, level: int, *texts: Text) -> Group:
        """What stands at a node of a tree, below the root of level 0."""
        return Group(*(row for text in texts for row in self.wrapped(text, self.width - LEVEL * level)))

    def columns(self, rows: Sequence[Sequence[Text]]) -> Iterator[Text] | None:
        """Rows of cells as aligned columns, or None if a word of a cell would have to be cut."""
        least = [max(_longest_word(cell) for cell in column) for column in zip(*rows, strict=True)]
        most = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
        room = self.width - len(_GAP) * (len(least) - 1) - sum(least)
        return self._aligned(rows, _shared(least, most, room)) if room >= 0 else None

    def _aligned(self, rows: Sequence[Sequence[Text]], widths: Sequence[int]) -> Iterator[Text]:
        for cells in rows:
            wrapped = [self.wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
            for number in range(max(map(len, wrapped))):
                line = Text()
                for lines, width in zip(wrapped, widths, strict=True):
                    line.append_text(padded(lines[number] if number < len(lines) else Text(), width)).append(_GAP)
                yield _trimmed(line)

    def drawn(self, renderable: RenderableType) -> str:
        """What the terminal is sent: lines of characters that move and hide nothing, and codes of styles."""
        pieces = []
        for text, style, control in self._console.render(renderable):
            if not control:
                shown = visible(text)
                pieces.append(style.render(shown, color_system=self._colors) if style else shown)
        return "".join(pieces)


def words(text: str, style: str = "") -> Text:
    """A text of the vault on one line, every character of it as one that is seen."""
    return Text(overflow="fold").append(visible(one_line(text)), style)


def padded(text: Text, width: int) -> Text:
    """A copy of the text, filled up with spaces to that width."""
    filled = text.copy()
    filled.append(" " * max(width - cell_len(filled.plain), 0))
    return filled


def _trimmed(row: Text) -> Text:
    row.rstrip()
    return row


def _breaks(text: str, width: int) -> Iterator[int]:
    """Where to cut the words that are longer than a row: behind the last mark, such as a slash, that fits."""
    if cell_len(text) <= width:
        return
    for word in _WORD.finditer(text):
        start = word.start()
        while cell_len(text[start : word.end()]) > width:
            marks = (mark.end() for mark in _MARK.finditer(text, start, min(start + width, word.end() - 1)))
            place = max((at for at in marks if cell_len(text[start:at]) <= width), default=None)
            if place is None:
                break
            yield (start := place)


def _longest_word(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split()), default=0)


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """The widths of columns that need at least and at most so much, with the room shared: short columns first."""
    widths = list(least)
    order = sorted(range(len(least)), key=lambda at: most[at] - least[at])
    for left, at in zip(range(len(order), 0, -1), order, strict=True):
        more = min(most[at] - least[at], room // left)
        widths[at] += more
        room -= more
    return widths


# Names of values that ask for attention.
_ALERTS = frozenset("failed missing key broken waiting suggests".split())


def table(canvas: Canvas, shown: Table) -> Iterator[Text]:
    """Aligned columns below a heading; on a display that is too narrow for them, the values of each row by name."""
    if not shown.rows:
        return
    heads = [words(name, HEAD) for name in shown.columns]
    rows = [[words(cell) for cell in row] for row in shown.rows]
    aligned = canvas.columns([heads, *rows])
    if aligned is not None:
        yield from aligned
        return
    column = max(head.cell_len for head in heads)
    for number, row in enumerate(rows):
        if number:
            yield Text()
        for name, cell in zip(shown.columns, row, strict=True):
            if cell:
                yield from canvas.block(words(name, FAINT), column, [cell], beside=True)


def fields(canvas: Canvas, shown: Fields) -> Iterator[Text]:
    """The names in one column, the values beside them."""
    column = max((len(name) for name, _ in shown.pairs), default=0)
    if shown.head:
        yield from canvas.wrapped(words(shown.head, HEAD), canvas.width)
    for name, value in shown.pairs:
        style = ALERT if name in _ALERTS else ""
        yield from canvas.block(words(name, style or FAINT), column, [words(value, style)], beside=True)


_Record = Mapping[str, Any]


def fact_of(record: _Record) -> Fact:
    """The fact of a record in an answer, which has more keys than one on disk and may be a proposed one."""
    known = {key: record[key] for key in CANONICAL_KEYS if key in record}
    return fact_from_record(known if known.get("status") in STATUSES else {**known, "status": ACTIVE})


def remarks(record: _Record) -> Iterator[Text]:
    """The id, the entity, and everything unusual about a fact; what asks for attention is not faint."""
    fact, against = fact_of(record), record.get("conflicts_with", ())
    alerts = {*origin_warnings(fact), *change_labels(fact)} - {UNREVIEWED, "agent"}
    yield words(fact.id, FAINT)
    yield words(record["entity"], FAINT)
    for remark in fact_remarks(fact, record["entity"], against):
        alert = remark in alerts or remark.startswith("in conflict with") or remark == fact.status
        yield words(remark, ALERT if alert else FAINT)


# The module and the function for the answers of a verb. A function takes the canvas, the answer and the values of the
# command; it returns None if this answer is only its lines.
_OF_VERB = {
    "recall": "recall:recall",
    "list": "recall:listed",
    "why": "why:why",
    "log": "why:log",
    "review list": "recall:queue",
    "review show": "recall:proposal",
}


def draw(answer: Answer, verb: str, record: Mapping[str, Any], display: Display) -> Iterator[str] | None:
    """Draw an answer, piece by piece; None if it has no drawing. `verb` is empty for one that is only its lines."""
    canvas = Canvas(display)
    if verb in _OF_VERB:
        module, _, name = _OF_VERB[verb].partition(":")
        made = getattr(import_module(f"clawmem.faces.cli.drawing.{module}"), name)(canvas, answer, record)
    else:
        made = None
    made = _of_lines(canvas, answer) if made is None else made
    return None if made is None else map(canvas.drawn, made)


def _of_lines(canvas: Canvas, answer: Answer) -> Iterable[RenderableType] | None:
    if isinstance(answer.lines, Table):
        return table(canvas, answer.lines)
    return fields(canvas, answer.lines) if isinstance(answer.lines, Fields) else None
