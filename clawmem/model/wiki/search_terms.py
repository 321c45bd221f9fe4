"""The words of the site's search, and how they are divided into files.

A site has an inverted index: for each word the statements that contain it. The words are divided into files by their
first two characters, so that a browser loads only the files of the words that it searches for. `search.js` divides
texts and words in the same way.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_BOTH = "abcdefghijklmnopqrstuvwxyz0123456789"


class _Gaps(dict[int, str]):
    """Spaces and punctuation as a space, any other character as itself, as MiniSearch divides texts."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        between = letter in "\r\n" or unicodedata.category(letter)[0] in "ZP"
        self[code] = " " if between else letter
        return self[code]


_GAPS = _Gaps()


def words_of(text: str) -> set[str]:
    """Return the words of a text in the form in which they are compared: lower case, without accents."""
    found = set(map(_folded, text.translate(_GAPS).split(" ")))
    found.discard("")
    return found


@lru_cache(100_000)
def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if unicodedata.category(letter)[0] != "M").lower()


def file_of(word: str) -> str:
    """Return the name of the file that a word is in: its first two characters if they are letters or digits of ASCII,
    `_` in place of a second one that is not; otherwise a number for the block of 64 characters of the first one."""
    if word[0] not in _BOTH:
        return f"u{ord(word[0]) >> 6:x}_"
    return word[0] + (word[1] if len(word) > 1 and word[1] in _BOTH else "_")
