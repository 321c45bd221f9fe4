"""Text as facts hold it: one line, printable, and a normal form for telling equal statements."""

from __future__ import annotations

import re
import unicodedata

from clawmem.errors import InvalidInput

LONGEST_FACT = 4000
_SPACES = re.compile(r"\s+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def one_line(text: str) -> str:
    """White space of any kind folded into single spaces, the ends trimmed."""
    return _SPACES.sub(" ", text).strip()


def counted(number: int, noun: str, many: str | None = None) -> str:
    """A number with its noun, which gets an s, or is `many`, where it is not one."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def check_statement(text: str, what: str = "fact") -> str:
    """A statement fit to be kept: one line, not empty, at most 4,000 characters, nothing unprintable."""
    statement = one_line(text)
    if not statement:
        raise InvalidInput(f"The {what} is empty.", f"Say the {what} in one sentence, or pass - to read it from stdin.")
    for position, character in enumerate(statement):
        if character in _HIDDEN or unicodedata.category(character) in ("Cc", "Cs"):
            raise InvalidInput(
                f"The {what} has the control character U+{ord(character):04X} at position {position}.",
                "Remove it: it would hide or reorder text for whoever reads the history.",
            )
    if len(statement) > LONGEST_FACT:
        raise InvalidInput(
            f"The {what} has {len(statement):,} characters; {LONGEST_FACT:,} is the most.",
            "A fact is one atomic statement: split it, or keep the whole text with `clawmem ingest`.",
        )
    return statement


def normal(text: str) -> str:
    """The form two statements share when they are the same but for case, spacing and outer punctuation."""
    return _EDGES.sub("", _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).casefold())
