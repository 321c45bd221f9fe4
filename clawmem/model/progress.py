"""How far a long act is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from clawmem.model.named_tuple import NamedTuple

_T = TypeVar("_T")


class Progress(NamedTuple):
    """How far an act is: `done` of `total` in `unit`, such as `entities`; the total is None if it is not known.

    `what` names the work that is counted, and `now` the part of it that is being done."""

    what: str
    done: float = 0
    total: float | None = None
    unit: str = ""
    now: str = ""


OnProgress = Callable[[Progress], None]


def counting(items: Sequence[_T], what: str, unit: str, report: OnProgress | None) -> Iterable[_T]:
    """Return the items to iterate over; each one that was worked on is reported."""
    return items if report is None else _counted(items, what, unit, report)


def _counted(items: Sequence[_T], what: str, unit: str, report: OnProgress) -> Iterator[_T]:
    total = len(items)
    for number, item in enumerate(items):
        report(Progress(what, number, total, unit))
        yield item
    if items:
        report(Progress(what, total, total, unit))


def progress_line(progress: Progress) -> str:
    """Return the line that people see."""
    amount = amount_of(progress)
    parts = [amount] if amount else []
    if progress.total:
        parts.append(f"{min(100, int(100 * progress.done / progress.total))}%")
    name = f"{progress.what}: {progress.now}" if progress.now else progress.what
    return f"{name}  {', '.join(parts)}" if parts else name


def amount_of(progress: Progress) -> str:
    """Return how much is done, such as `300 of 2,000 events`, or an empty text."""
    if not progress.unit:
        return ""
    form = "{:,.1f}" if progress.unit == "MB" else "{:,.0f}"
    of = f" of {form.format(progress.total)}" if progress.total is not None else ""
    return f"{form.format(progress.done)}{of} {progress.unit}"
