"""Text as facts hold it: one line, printable, and a normal form for telling equal statements."""

from __future__ import annotations

import re
import unicodedata

from clawmem.errors import InvalidInput

LONGEST_FACT = 4000
_SPACES = re.compile(r"\s+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160))
_ESCAPES = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *map(ord, _HIDDEN))}


def one_line(text: str) -> str:
    """White space of any kind folded into single spaces, the ends trimmed."""
    return _SPACES.sub(" ", text).strip()


def visible(text: str) -> str:
    """The text with its control and bidirectional override characters, but for tabs and line breaks, as `\\u001b`:
    they would hide, move or colour what a terminal shows."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def counted(number: int, noun: str, many: str | None = None) -> str:
    """A number with its noun, which gets an s, or is `many`, where it is not one."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def all_of(number: int) -> str:
    """`both` of two, else `all`."""
    return "both" if number == 2 else "all"


def check_statement(text: str, what: str = "fact") -> str:
    """A statement fit to be kept: one line, not empty, at most 4,000 characters, nothing unprintable."""
    statement = one_line(text)
    if not statement:
        raise InvalidInput(f"The {what} is empty.", f"Say the {what} in one sentence, or pass - to read it from stdin.")
    check_visible(statement, what)
    if len(statement) > LONGEST_FACT:
        raise InvalidInput(
            f"The {what} has {len(statement):,} characters; the limit is {LONGEST_FACT:,}.",
            "A fact is one atomic statement: split it, or keep the whole text with `clawmem ingest`."
            if what == "fact"
            else f"Say the {what} in fewer words.",
        )
    return statement


def check_visible(text: str, what: str) -> None:
    """Raise InvalidInput where a text has a control character other than a tab or a line break, or half a character."""
    if text.isprintable():
        return
    for position, character in enumerate(text):
        if unicodedata.category(character) == "Cs":
            raise InvalidInput(
                f"The {what} is not UTF-8 text at position {position}.", "Write it, or set the terminal, in UTF-8."
            )
        if character in _HIDDEN or (character not in "\n\t" and unicodedata.category(character) == "Cc"):
            raise InvalidInput(
                f"The {what} has the control character U+{ord(character):04X} at position {position}.",
                "Remove it: it would hide or reorder text for whoever reads the history.",
            )


def as_one_file(path: str) -> str:
    """The form that two paths share where some file system takes them for one: it tells neither capitals nor the ways
    to write an accent apart, and unfolds letters such as ß."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def normal(text: str) -> str:
    """The form two statements share when they are the same but for case, spacing and outer punctuation."""
    return _EDGES.sub("", _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).casefold())
