"""How far a heartbeat is."""

from __future__ import annotations

from clawmem.heartbeat.loop import StepTimer
from clawmem.model.progress import Progress


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_is_to_come_counts_as_long_as_the_last_time() -> None:
    clock, seen = Clock(), list[Progress]()
    timer = StepTimer({"learn": 4.0, "wiki": 6.0}, ["learn", "wiki", "new"], seen.append, clock)
    inner = timer.begin("learn")
    assert inner is not None
    with timer.timing():
        clock.now = 3.0
        inner(Progress("learn"))  # nothing is known of its own rate: the rest of the last time
        inner(Progress("learn", 30, 40, "events"))  # a quarter is left, at its own rate
    clock.now = 5.0
    timer.begin("wiki")
    with timer.timing():
        clock.now = 13.0
        inner(Progress(""))
    timer.begin("new")
    assert [(progress.done, progress.total, progress.now) for progress in seen] == [
        (0.0, 10.0, "learn"),
        (3.0, 10.0, "learn"),
        (3.0, 10.0, "learn, 30 of 40 events"),
        (5.0, 11.0, "wiki"),
        (13.0, 13.0, "wiki"),
    ]
    assert timer.seconds == {"learn": 3.0, "wiki": 8.0}


def test_the_first_time_nothing_is_expected() -> None:
    seen: list[Progress] = []
    timer = StepTimer({}, ["learn"], seen.append, Clock())
    timer.begin("learn")
    with timer.timing():
        pass
    assert [progress.total for progress in seen] == [None]


def test_without_a_report_only_the_time_is_taken() -> None:
    timer = StepTimer({}, ["learn"], None, Clock())
    assert timer.begin("learn") is None
    with timer.timing():
        pass
    assert timer.seconds == {"learn": 0.0}
