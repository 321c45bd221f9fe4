"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE = 0.001


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Check a condition every millisecond until it is true; return False if it is not within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)
    return True
