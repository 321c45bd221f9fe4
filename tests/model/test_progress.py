"""The estimate of the time that is left, and the line that shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.progress import (
    SMOOTHING_SECONDS,
    Estimate,
    Progress,
    counting,
    duration,
    estimated,
    progress_line,
    seconds_left,
)


def run_of(measures: list[tuple[float, float]], total: float | None = 100) -> list[Estimate]:
    """The estimates after some measures: the time, and how much is done."""
    found: list[Estimate] = []
    for at, value in measures:
        found.append(estimated(found[-1] if found else None, Progress("work", value, total), at))
    return found


def test_the_rate_is_that_of_the_work_so_far() -> None:
    first, second = run_of([(10, 0), (12, 20)])
    assert seconds_left(first) is None
    assert seconds_left(second) == pytest.approx(8)
    # What was done before the first measure says nothing about the rate.
    assert seconds_left(run_of([(0, 50), (1, 60)])[-1]) == pytest.approx(4)


def test_without_a_total_nothing_is_estimated() -> None:
    assert [seconds_left(estimate) for estimate in run_of([(0, 0), (1, 5), (2, 9)], None)] == [None, None, None]


@given(st.floats(0.1, 50), st.integers(2, 200))
def test_steady_work_is_estimated_exactly_and_never_later(seconds: float, parts: int) -> None:
    measures = [(seconds * other_number, 100 * other_number / parts) for other_number in range(parts + 1)]
    lefts = [seconds_left(estimate) for estimate in run_of(measures)[1:]]
    for number, left in enumerate(lefts, 1):
        assert left == pytest.approx(seconds * (parts - number), rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(st.floats(0.01, 5), st.floats(0, 10)), min_size=2, max_size=40))
def test_an_estimate_moves_towards_the_measure_and_never_past_it(steps: list[tuple[float, float]]) -> None:
    measures, at, value = [(0.0, 0.0)], 0.0, 0.0
    for seconds, more in steps:
        at, value = at + seconds, min(100, value + more)
        measures.append((at, value))
    found = run_of(measures)
    for before, after, (at, value) in zip(found, found[1:], measures[1:], strict=False):
        if before.end is None or after.end is None:
            continue
        measured = at + (100 - value) * at / value
        low, high = sorted((before.end, measured))
        assert low - 1e-6 <= after.end <= high + 1e-6
        most = abs(measured - before.end) * min(1.0, (at - before.at) / SMOOTHING_SECONDS)
        assert abs(after.end - before.end) <= most + 1e-6


def test_other_work_is_measured_anew() -> None:
    first = estimated(None, Progress("reading", 0, 10), 0)
    second = estimated(first, Progress("reading", 5, 10), 1)
    assert seconds_left(second) == pytest.approx(1)
    assert seconds_left(estimated(second, Progress("writing", 5, 10), 2)) is None
    assert seconds_left(estimated(second, Progress("reading", 1, 10), 2)) is None


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
