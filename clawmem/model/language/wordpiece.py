"""WordPiece: split a text into the pieces of a vocabulary, as uncased BERT models expect it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

CONTINUED = "##"
_LONGEST_WORD = 100
_PART = re.compile(r"[^\W_]+|[^\w\s]|_")
_WORD = re.compile(r"[^\W_]+")
# First and last characters of scripts without spaces: each character is a word. A pattern takes 5 ms to compile.
_IDEOGRAPHS = (
    ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"),
    ("\U00020000", "\U0002ebef"), ("\U0002f800", "\U0002fa1f"),
)  # fmt: skip

# Separate accents, and characters that are never printed.
_UNSEEN = ("Mn", "Cc", "Cf", "Co", "Cs")


def parts(text: str) -> list[str]:
    """Return the words and marks of a text, in lower case and without accents."""
    return _PART.findall(_plain(text))


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without accents."""
    return _WORD.findall(_plain(text))


def cut(word: str, known: Container[str]) -> tuple[str, ...]:
    """Return the word as its longest known pieces from the start, or nothing if it cannot be split."""
    if len(word) > _LONGEST_WORD:
        return ()
    found: list[str] = []
    start = 0
    while start < len(word):
        mark = CONTINUED if start else ""
        piece = next((piece for piece in _beginnings(word[start:], mark) if piece in known), None)
        if piece is None:
            return ()
        found.append(piece)
        start += len(piece) - len(mark)
    return tuple(found)


def _beginnings(word: str, mark: str) -> Iterator[str]:
    return (mark + word[:end] for end in range(len(word), 0, -1))


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    from unicodedata import category, normalize

    spread = "".join(f" {character} " if _is_ideograph(character) else character for character in text.lower())
    return "".join(mark for mark in normalize("NFD", spread) if mark.isspace() or category(mark) not in _UNSEEN)


def _is_ideograph(character: str) -> bool:
    return character >= _IDEOGRAPHS[0][0] and any(first <= character <= last for first, last in _IDEOGRAPHS)
