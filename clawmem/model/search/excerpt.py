"""The part of a long text that has most words of a question."""

from __future__ import annotations

from collections.abc import Sequence


def excerpt(text: str, words: Sequence[str], most: int) -> str:
    """Return the text on one line, or of a longer one the `most` characters with the most of these words.

    What was cut is marked by an ellipsis. `words` are in lower case; each counts where a word of the text begins so.
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    begin, end = excerpt_place(line, words, most)
    return f"{'… ' if begin else ''}{line[begin:end]}{' …' if end < len(line) else ''}"


def excerpt_place(line: str, words: Sequence[str], most: int) -> tuple[int, int]:
    """Return where the excerpt of a longer line begins and ends: between words, unless a word is very long."""
    lowered = f" {line.lower()}"
    places = sorted((at, number) for number, word in enumerate(words) for at in _beginnings(lowered, word))
    start = max(
        (at for at, _ in places),
        key=lambda at: len({n for each, n in places if at <= each < at + most * 3 // 4}),
        default=0,
    )
    begin = 0 if start < most // 4 else line.rfind(" ", 0, start - most // 8) + 1
    if begin + most > len(line):  # the end fits as a whole
        begin = line.find(" ", len(line) - most - 1) + 1
    end = len(line) if begin + most >= len(line) else max(line.rfind(" ", begin, begin + most), begin + most // 2)
    return begin, end


def _beginnings(lowered: str, word: str) -> list[int]:
    """Return where words begin with a word: the first hundred places."""
    found: list[int] = []
    at = lowered.find(f" {word}")
    while at >= 0 and len(found) < 100:
        found.append(at)
        at = lowered.find(f" {word}", at + 1)
    return found
