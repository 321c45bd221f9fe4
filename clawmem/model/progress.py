"""How far a long act is, and when it will end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from clawmem.model.named_tuple import NamedTuple

_T = TypeVar("_T")
SECONDS = "seconds"
"""The unit of work whose total is a time that is only expected: no amount of it is shown."""


class Progress(NamedTuple):
    """How far an act is: `done` of `total` in `unit`, such as `entities`; the total is None if it is not known.

    `what` names the work that is counted, and `now` the part of it that is being done."""

    what: str
    done: float = 0
    total: float | None = None
    unit: str = ""
    now: str = ""


OnProgress = Callable[[Progress], None]


class Begin(NamedTuple):
    """When a piece of work was first seen, in seconds of a clock that never goes back, and how much was done then."""

    at: float
    progress: Progress

    def is_of(self, progress: Progress) -> bool:
        """Return whether some work goes on that began here."""
        return progress.what == self.progress.what and progress.done >= self.progress.done

    def seconds_left(self, progress: Progress, at: float) -> float | None:
        """Return the seconds until the end by the rate so far, or None if they are not known."""
        finished = progress.done - self.progress.done
        if progress.total is None or finished <= 0:
            return None
        return max(0.0, progress.total - progress.done) * (at - self.at) / finished


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


def progress_line(progress: Progress, left: float | None) -> str:
    """Return the line that people see, with the estimated seconds that are left."""
    amount = amount_of(progress)
    parts = [amount] if amount else []
    if progress.total:
        if progress.unit != SECONDS:
            parts.append(f"{min(100, int(100 * progress.done / progress.total))}%")
        if left is not None and progress.done < progress.total:
            parts.append(f"about {duration(left)} left")
    name = f"{progress.what}: {progress.now}" if progress.now else progress.what
    return f"{name}  {', '.join(parts)}" if parts else name


def amount_of(progress: Progress) -> str:
    """Return how much is done, such as `300 of 2,000 events`, or an empty text."""
    if progress.unit in ("", SECONDS):
        return ""
    form = "{:,.1f}" if progress.unit == "MB" else "{:,.0f}"
    of = f" of {form.format(progress.total)}" if progress.total is not None else ""
    return f"{form.format(progress.done)}{of} {progress.unit}"


def duration(seconds: float) -> str:
    """Return a time as people say it, rounded up so that it does not end too early: `8 s`, `3 min`, `2 h`."""
    whole = max(1, round(seconds))
    if whole <= 10:
        return f"{whole} s"
    if whole < 90:
        return f"{-(-whole // 5) * 5} s"
    if whole < 5400:
        return f"{-(-whole // 60)} min"
    return f"{-(-whole // 3600)} h"
