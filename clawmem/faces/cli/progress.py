"""The progress of a long command: one line on stderr of a terminal, removed at the end."""

from __future__ import annotations

import time
from collections.abc import Callable

from clawmem.faces.cli.display import UNKNOWN_WIDTH, terminal_columns
from clawmem.model.language.text import visible
from clawmem.model.progress import Progress, progress_line

HIDDEN_SECONDS = 0.5
"""Work that is shorter than this shows nothing."""
_PACE_SECONDS = 0.1
_ERASE = "\r\x1b[K"


class ProgressLine:
    """Draws what is reported to it, at most ten times a second, and nothing in the first half second."""

    def __init__(self, draw: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._draw = draw
        self._clock = clock
        self._next = clock() + HIDDEN_SECONDS
        self._drawn = False

    def report(self, progress: Progress) -> None:
        """Take a report, and draw it if it is time."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _PACE_SECONDS
        line = visible(progress_line(progress))
        self._drawn = True
        self._draw(_ERASE + line[: (terminal_columns(2) or UNKNOWN_WIDTH) - 1])

    def clear(self) -> None:
        """Remove the line, if one was drawn."""
        if self._drawn:
            self._drawn = False
            self._draw(_ERASE)
