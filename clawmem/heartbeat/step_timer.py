"""How far a heartbeat is, by the seconds that each step took the last time on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from clawmem.model.progress import SECONDS, OnProgress, Progress, amount_of

_LEAST_SHARE = 0.02


class StepTimer:
    """Times the steps of a heartbeat, and reports the seconds that are over and those that are expected.

    What is expected is the last duration of each step that is still to come, and for the step that runs: what its act
    has left at its own rate, once that is measurable, else the rest of its last duration. Without any last durations
    nothing is expected. `seconds` are the durations of this run; a step that is not due takes none."""

    def __init__(
        self,
        expected: Mapping[str, float],
        names: Sequence[str],
        report: OnProgress | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._expected = expected
        self._to_come = list(names)
        self._report = report
        self._clock = clock
        self._begun = self._step_began = clock()
        self._name = ""

    def begin(self, name: str) -> OnProgress | None:
        """Go on to a step, and return what its act may report to."""
        self._to_come.remove(name)
        self._name = name
        return self._within if self._report else None

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the step, and report that it runs."""
        self._step_began = self._clock()
        self._within(Progress(""))
        try:
            yield
        finally:
            self.seconds[self._name] = self._clock() - self._step_began

    def _within(self, progress: Progress) -> None:
        """Report what an act reported of itself as a part of the whole."""
        if self._report is None:
            return
        now = self._clock()
        left = self._left(progress, now - self._step_began)
        left += sum(self._expected.get(name, 0.0) for name in self._to_come)
        total = now - self._begun + left if self._expected else None
        words = ", ".join(filter(None, (self._name, amount_of(progress))))
        self._report(Progress("heartbeat", now - self._begun, total, SECONDS, words))

    def _left(self, progress: Progress, passed: float) -> float:
        share = progress.done / progress.total if progress.total else 0.0
        if share > _LEAST_SHARE:
            return passed * max(0.0, 1 - share) / share
        return max(0.0, self._expected.get(self._name, 0.0) - passed)
