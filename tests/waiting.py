"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

_PAUSE = 0.001


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Check a condition every millisecond until it is true; return False if it is not within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)
    return True


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for yet does not. Needs `/proc`."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended between opening and reading
        return False
    return state.rpartition(")")[2].split()[0] != "Z"
