"""The fixed lines of a context, with exact token counts that need no vocabulary.

A token ends with its line, never continues from one kind of character to a digit, and never continues with a space.
So a line can be cut before spaces and around numbers, and its count is the sum of the counts of its parts.
"""

from collections.abc import Mapping

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import servable, token_bound
from clawmem.model.safety.recalled_text import CLOSING, OPENING

ALWAYS = "Always"
ASKED = "Facts for this question"
NEAREST = "Nearest, no answer"
SAID = "Said before"
NOTED = "Noted before"
CONNECTED = "Connected"
TIMELINE = "In the days asked about"
SUMMARIES = "Written by people"
HOT_FACTS = "Fresh in use"
WARM_FACTS = "Used lately"
COLD_FACTS = "Known"
OVER_FACTS = "In the past"
SOUL = "Who you are"
HABITS = "How you work"
FOCUS = "What you are working on"
RECENT = "Your recent notes"
TASKS = "Open tasks"
GUARDRAILS = "Guardrails"
LESSONS = "Lessons"
PRECEDENTS = "Precedents"
SCOPED = "In this scope"
FROM_ORGANISATION = "From the organisation"
FORMER = "What held before"

# Exact cl100k_base counts of the texts that all contexts share; a test counts them again.
FIXED: Mapping[str, int] = {
    "<clawmem-context>\n": 6,
    "</clawmem-context>\n": 6,
    "# Memory on ": 4,
    "-": 1,
    "\n": 1,
    "(left out: ": 4,
    " --limit ": 3,
    "` shows them)\n": 4,
    "## Always\n": 3,
    "## Facts for this question\n": 6,
    "## Nearest, no answer\n": 7,
    "## Said before\n": 4,
    "## Noted before\n": 5,
    "## Connected\n": 3,
    "## In the days asked about\n": 7,
    "## Written by people\n": 5,
    "## Fresh in use\n": 5,
    "## Used lately\n": 4,
    "## Known\n": 3,
    "## In the past\n": 5,
    "## Who you are\n": 5,
    "## How you work\n": 5,
    "## What you are working on\n": 7,
    "## Your recent notes\n": 5,
    "## Open tasks\n": 4,
    "## Guardrails\n": 4,
    "## Lessons\n": 3,
    "## Precedents\n": 5,
    "## In this scope\n": 5,
    "## From the organisation\n": 5,
    "## What held before\n": 5,
    "(left out of Always: ": 6,
    "; `clawmem list --tier hot": 9,
    "; `clawmem context --budget ": 9,
    "; `clawmem recall": 6,
    " --all": 2,
}

_RECALL, _ALL = "clawmem recall", " --all"


class FramePart(NamedTuple):
    """A line of a context, with its newline, and its tokens: the exact count if `exact`, else an upper bound."""

    text: str
    tokens: int
    exact: bool


def count_tokens(*pieces: str) -> FramePart:
    """Return the pieces as one line. Numbers and fixed texts count exactly, other text by its upper bound."""
    counts = [(-(-len(piece) // 3) if piece.isascii() and piece.isdigit() else FIXED.get(piece)) for piece in pieces]
    tokens = sum(token_bound(piece) if known is None else known for piece, known in zip(pieces, counts, strict=True))
    return FramePart("".join(pieces), tokens, None not in counts)


def opening() -> FramePart:
    """Return the mark that starts a context."""
    return count_tokens(f"{OPENING}\n")


def closing() -> FramePart:
    """Return the mark that ends a context."""
    return count_tokens(f"{CLOSING}\n")


def heading(day: str, as_of: str | None = None) -> FramePart:
    """Return the first line: the day of the request (`YYYY-MM-DD`), or the time that the request is about."""
    if as_of:
        return count_tokens(f"# Memory of what was true on {as_of}\n")
    year, month, date = day.split("-")
    return count_tokens("# Memory on ", year, "-", month, "-", date, "\n")


def title(name: str) -> FramePart:
    """Return the first line of a section."""
    return count_tokens(f"## {name}\n")


def remark(name: str, number: int, more: str) -> FramePart:
    """Return the remark on how many lines a section left out, with the command that shows them."""
    return count_tokens(f"(left out of {name}: ", str(number), f"; `{more}", "` shows them)\n")


def aside(sentence: str) -> FramePart:
    """Return a separate remark on what was left out."""
    return count_tokens(f"({servable(sentence)})\n")


def total_remark(number: int, more: str, limit: int) -> FramePart:
    """Return one remark on all lines left out. `limit` is an option of the command that shows them, if that recalls."""
    command, _, last = more.rpartition(" ")
    if more.startswith(_RECALL):
        asked = more.removeprefix(_RECALL).removesuffix(_ALL)
        pieces = [f"; `{_RECALL}", asked, *([_ALL] if more.endswith(_ALL) else []), " --limit ", str(limit)]
    elif last.isdigit():
        pieces = [f"; `{command} ", last]
    else:
        pieces = [f"; `{more}"]
    return count_tokens("(left out: ", str(number), *pieces, "` shows them)\n")
