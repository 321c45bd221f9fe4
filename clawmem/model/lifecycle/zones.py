"""Zones of a context window: how full it is, and what a session should do about it."""

from __future__ import annotations

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple

GREEN, TARGET, ROTATE, COMPACT = ZONES = ("green", "target", "rotate", "compact")
ADVICE = {
    GREEN: "there is room",
    TARGET: "a good size; go on",
    ROTATE: "make a checkpoint and start a new session soon",
    COMPACT: "make a checkpoint now, and continue from its restart text",
}


class ZoneLimits(NamedTuple):
    """The parts of the window from which on the zone is `target`, `rotate` and `compact`."""

    target: float = 0.4
    rotate: float = 0.6
    compact: float = 0.8


def zone(used: int, window: int, limits: ZoneLimits = ZoneLimits()) -> str:  # noqa: B008
    """Return the zone of a context window of `window` tokens of which `used` are filled.

    Raise InvalidInput if the window is not positive."""
    if window <= 0 or used < 0:
        raise InvalidInput(
            "--window must be above 0, and --used not below it.", "Example: --used 90000 --window 200000"
        )
    part = used / window
    if part > limits.compact:
        return COMPACT
    if part > limits.rotate:
        return ROTATE
    return TARGET if part >= limits.target else GREEN
