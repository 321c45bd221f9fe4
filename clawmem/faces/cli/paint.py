"""Drawing with Rich, for a person at a terminal; nothing else imports Rich."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as the lines to print."""
    drawn = Table(*columns, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, highlight=True)
    for row in rows:
        drawn.add_row(*row)
    console = Console(markup=False, emoji=False)  # a fact may hold [brackets] and :colons:
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().rstrip("\n").split("\n")
