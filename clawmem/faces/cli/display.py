"""Whether an answer is drawn or printed as plain lines, with colours or without, and how wide."""

import os
from collections.abc import Mapping
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple

AUTO, ALWAYS, NEVER = "auto", "always", "never"
UNKNOWN_WIDTH = 80
"""Columns where nothing says how many there are."""
_LEAST_WIDTH = 20


class Display(NamedTuple):
    """Where an answer is drawn: the width in columns, and whether colours and other styles are used."""

    width: int
    styled: bool


class DrawnAs(NamedTuple):
    """What decides how an answer is drawn: the verb, the values of its parameters, and the value of --color."""

    verb: str
    given: Mapping[str, Any]
    color: str


def checked_color(color: "str | None") -> str:
    """Return the value of --color, auto where none is given. Raise InvalidInput for another word."""
    if color not in (None, AUTO, ALWAYS, NEVER):
        raise InvalidInput(f"'{color}' is not a valid value of --color.", f"Choose from {AUTO}, {ALWAYS}, {NEVER}.")
    return color or AUTO


def display_of(
    environment: "Mapping[str, str]", color: str, encoding: "str | None", columns: "int | None"
) -> "Display | None":
    """Return how to draw, or None where plain lines are printed.

    `color` is the value of --color. It is stronger than NO_COLOR (no-color.org), which is stronger than FORCE_COLOR
    (force-color.org) and CLICOLOR_FORCE (bixense.com/clicolors), as in Python's own tools since 3.13. `columns` is the
    width that the terminal tells, 0 if it tells none, None if there is no terminal; COLUMNS is stronger. Nothing is
    drawn in an encoding that lacks the characters of drawings.
    """
    forced = color == ALWAYS or (color == AUTO and not environment.get("NO_COLOR") and _is_forced(environment))
    capable = columns is not None and environment.get("TERM") != "dumb"
    if not (forced or capable) or not (encoding or "").lower().replace("-", "").startswith("utf8"):
        return None
    refused = color == NEVER or (color == AUTO and (environment.get("NO_COLOR") or environment.get("CLICOLOR") == "0"))
    return Display(_width(environment, columns), forced or not refused)


def terminal_columns(stream: int) -> int:
    """Return the width of the terminal behind a file descriptor, or 0 if there is none."""
    try:
        return os.get_terminal_size(stream).columns
    except OSError:
        return 0


def _is_forced(environment: "Mapping[str, str]") -> bool:
    # Programs for Node read 0 as "no colours", which force-color.org does not; forcing them then helps nobody.
    return any(environment.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


def _width(environment: "Mapping[str, str]", columns: "int | None") -> int:
    text = environment.get("COLUMNS", "")
    named = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return max(_LEAST_WIDTH, named or columns or UNKNOWN_WIDTH)
