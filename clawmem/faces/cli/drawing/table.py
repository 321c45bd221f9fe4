"""Tables and named values."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, HEAD, Canvas, words
from clawmem.faces.parts.command import Fields, Table

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
