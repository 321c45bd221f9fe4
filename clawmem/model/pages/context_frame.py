"""The lines around facts in a context, priced without the vocabulary: what all contexts share, exactly.

A token ends with the line it stands in, never begins with a character of one kind and goes on with a digit, and never
goes on with a space. So a line cut before its spaces, and before and after its numbers, counts what its parts count.
"""

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.model.pages.tokens import servable, token_bound
from clawmem.model.safety.recalled_text import CLOSING, OPENING

ALWAYS = "Always"
ASKED = "For this question"
SAID = "Said before"
NOTED = "Noted before"
TIMELINE = "In the days asked about"
SUMMARIES = "Written by people"
HOT_FACTS = "Fresh in use"
WARM_FACTS = "Used lately"
COLD_FACTS = "Known"
OVER_FACTS = "In the past"
HABITS = "How you work"
FOCUS = "What you are working on"
RECENT = "Your recent notes"

# Exact cl100k_base counts of the texts that contexts share; a test counts them again.
FIXED: Mapping[str, int] = {
    "<clawmem-context>\n": 6,
    "</clawmem-context>\n": 6,
    "# Memory on ": 4,
    "-": 1,
    "\n": 1,
    "(left out: ": 4,
    ", of Always ": 4,
    "` shows them)\n": 4,
    "## Always\n": 3,
    "## For this question\n": 5,
    "## Said before\n": 4,
    "## Noted before\n": 5,
    "## In the days asked about\n": 7,
    "## Written by people\n": 5,
    "## Fresh in use\n": 5,
    "## Used lately\n": 4,
    "## Known\n": 3,
    "## In the past\n": 5,
    "## How you work\n": 5,
    "## What you are working on\n": 7,
    "## Your recent notes\n": 5,
    "(left out of Always: ": 6,
    "(left out of For this question: ": 8,
    "(left out of Said before: ": 7,
    "(left out of Noted before: ": 8,
    "(left out of In the days asked about: ": 10,
    "(left out of Written by people: ": 8,
    "(left out of Fresh in use: ": 8,
    "(left out of Used lately: ": 7,
    "(left out of Known: ": 6,
    "(left out of In the past: ": 8,
    "(left out of How you work: ": 8,
    "(left out of What you are working on: ": 10,
    "(left out of Your recent notes: ": 8,
    "; `clawmem list --tier hot": 9,
    "; `clawmem list --tier warm": 9,
    "; `clawmem list --tier cold": 9,
    "; `clawmem list": 6,
    "; `clawmem entity show NAME": 8,
    "; `clawmem recall QUESTION --in all": 10,
}


class FramePart(NamedTuple):
    """A line to be served, newline included, and its tokens: `exact`, or the most there can be."""

    text: str
    tokens: int
    exact: bool


def priced(*pieces: str) -> FramePart:
    """Pieces put together as one line. Numbers and fixed texts count exactly, all else by its bound."""
    counts = [_known(piece) for piece in pieces]
    tokens = sum(token_bound(piece) if known is None else known for piece, known in zip(pieces, counts, strict=True))
    return FramePart("".join(pieces), tokens, None not in counts)


def _known(piece: str) -> int | None:
    return -(-len(piece) // 3) if piece.isascii() and piece.isdigit() else FIXED.get(piece)


def opening() -> FramePart:
    """The mark by which a context is known again."""
    return priced(f"{OPENING}\n")


def closing() -> FramePart:
    """The mark that ends it."""
    return priced(f"{CLOSING}\n")


def heading(day: str, as_of: str | None = None) -> FramePart:
    """The first line: the day (`YYYY-MM-DD`) on which the memory was asked, or the time it was asked about."""
    if as_of:
        return priced(f"# Memory of what was true on {as_of}\n")
    year, month, date = day.split("-")
    return priced("# Memory on ", year, "-", month, "-", date, "\n")


def title(name: str) -> FramePart:
    """A section's first line."""
    return priced(f"## {name}\n")


def remark(name: str, number: int, more: str) -> FramePart:
    """How many lines of a section were left out, and the command that shows them."""
    return priced(f"(left out of {name}: ", str(number), f"; `{more}", "` shows them)\n")


def aside(sentence: str) -> FramePart:
    """A sentence of its own about what is left out."""
    return priced(f"({servable(sentence)})\n")


def remark_on_all(number: int, more: str, name: str = "", among: int = 0) -> FramePart:
    """How many were left out in all, where there is no room to say it section by section, and how many `among` them are
    of the section that matters most."""
    told = (f", of {name} ", str(among)) if among else ()
    return priced("(left out: ", str(number), *told, f"; `{more}", "` shows them)\n")
