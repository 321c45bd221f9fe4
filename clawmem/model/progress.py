"""How far a long act is, and when it will end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import exp
from typing import TypeVar

from clawmem.model.named_tuple import NamedTuple

_T = TypeVar("_T")
SECONDS = "seconds"
"""The unit of work whose total is a time that is only expected: no amount of it is shown."""
SMOOTHING_SECONDS = 3.0
"""How fast an estimate follows what was measured last."""
# Less than this share of the work says nothing about its rate.
_LEAST_SHARE = 1e-6


class Progress(NamedTuple):
    """How far an act is: `done` of `total` in `unit`, such as `entities`; the total is None if it is not known.

    `what` names the work that is counted, and `now` the part of it that is being done."""

    what: str
    done: float = 0
    total: float | None = None
    unit: str = ""
    now: str = ""


OnProgress = Callable[[Progress], None]


class Estimate(NamedTuple):
    """An estimate of the end of a piece of work, in seconds of a clock that never goes back.

    `what`, `began` and `done` say what is measured, since when, and how much was done then. `at` and `latest` are the
    time of the last measure and how much was done, and `end` is the estimated end (None: not known yet)."""

    what: str
    began: float
    done: float
    at: float
    latest: float
    end: float | None = None


def estimated(before: Estimate | None, progress: Progress, at: float) -> Estimate:
    """Return the estimate after a measure at a time.

    The rate is that of all the work so far: (done - done at the begin) / (time since the begin). It gives a time for
    what is left, and so an end. The estimate moves towards that end by the share 1 - e^(-t/T), where t is the time
    since the last measure and T is `SMOOTHING_SECONDS`: an exponential moving average for irregular intervals, so that
    one slow or fast part does not let it jump. Other work, or work that begins again, is measured anew."""
    if before is None or before.what != progress.what or progress.done < before.latest:
        return Estimate(progress.what, at, progress.done, at, progress.done)
    finished = progress.done - before.done
    if progress.total is None or finished <= _LEAST_SHARE * progress.total or at <= before.began:
        return before._replace(at=at, latest=progress.done)
    measured = at + max(0.0, progress.total - progress.done) * (at - before.began) / finished
    if before.end is None:
        return before._replace(at=at, latest=progress.done, end=measured)
    share = 1 - exp(-(at - before.at) / SMOOTHING_SECONDS)
    end = before.end + (measured - before.end) * share
    return before._replace(at=at, latest=progress.done, end=end)


def seconds_left(estimate: Estimate) -> float | None:
    """Return the estimated seconds until the end, or None if they are not known."""
    return None if estimate.end is None else max(0.0, estimate.end - estimate.at)


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
