"""The estimate of the time that is left, and the line that shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.progress import Begin, Progress, counting, duration, progress_line


def test_the_rate_is_that_of_the_work_so_far() -> None:
    begin = Begin(10, Progress("work", 50, 100))
    assert begin.seconds_left(Progress("work", 50, 100), 10) is None
    assert begin.seconds_left(Progress("work", 60, 100), 12) == pytest.approx(8)
    assert begin.seconds_left(Progress("work", 60, None), 12) is None


@given(st.floats(0.1, 50), st.integers(2, 200))
def test_steady_work_is_estimated_exactly(seconds: float, parts: int) -> None:
    begin = Begin(0, Progress("work", 0, 100))
    for number in range(1, parts + 1):
        left = begin.seconds_left(Progress("work", 100 * number / parts, 100), seconds * number)
        assert left == pytest.approx(seconds * (parts - number), rel=1e-6, abs=1e-6)


def test_other_work_is_measured_anew() -> None:
    begin = Begin(0, Progress("reading", 2, 10))
    assert begin.is_of(Progress("reading", 5, 10))
    assert not begin.is_of(Progress("writing", 5, 10))
    assert not begin.is_of(Progress("reading", 1, 10)), "it begins again"


def test_items_are_counted_only_where_somebody_looks_on() -> None:
    items, seen = ["a", "b"], list[Progress]()
    assert counting(items, "x", "letters", None) is items
    assert list(counting(items, "x", "letters", seen.append)) == items
    assert [(progress.done, progress.total) for progress in seen] == [(0, 2), (1, 2), (2, 2)]
    assert list(counting([], "x", "letters", seen.append)) == [] and len(seen) == 3


@pytest.mark.parametrize(
    ("progress", "left", "line"),
    [
        (Progress("embedding", 1200, 4000, "texts"), 12.2, "embedding  1,200 of 4,000 texts, 30%, about 15 s left"),
        (Progress("embedding", 4000, 4000, "texts"), 0.0, "embedding  4,000 of 4,000 texts, 100%"),
        (Progress("reading", 1.25, None, "MB"), None, "reading  1.2 MB"),
        (Progress("reading", 1.25, 100.0, "MB"), None, "reading  1.2 of 100.0 MB, 1%"),
        (Progress("digest", 1, 2, now="report.md, reduce"), 400, "digest: report.md, reduce  50%, about 7 min left"),
        (Progress("heartbeat", 3.5, 7, "seconds", "learn"), 400, "heartbeat: learn  about 7 min left"),
        (Progress("heartbeat", 3.5, None, "seconds", "learn"), None, "heartbeat: learn"),
        (Progress("merging"), None, "merging"),
    ],
)
def test_the_line(progress: Progress, left: float | None, line: str) -> None:
    assert progress_line(progress, left) == line


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "1 s"), (9.6, "10 s"), (11, "15 s"), (89, "90 s"), (90, "2 min"), (3601, "61 min"), (5401, "2 h")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
