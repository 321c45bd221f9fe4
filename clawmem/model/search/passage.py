"""Passages: the searchable text of an event or a note, split into pieces if it is long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

PIECE = 800
# The pieces of one text have consecutive row numbers; the last one takes the rest of a very long text. After them comes
# those of its parts that more people may see than the whole, and the line that tells a message alone.
SPREAD = 256
LINE = SPREAD - 1
MOST_PARTS = 8
PART = LINE - MOST_PARTS
_MONTHS = "January February March April May June July August September October November December".split()


def pieces(text: str) -> list[str]:
    """Return the text in pieces of about 800 characters, split between words; at least one, at most `PART`."""
    found: list[str] = []
    rest = text
    while len(rest) > PIECE and len(found) < PART - 1:
        end = rest.rfind(" ", PIECE // 2, PIECE)
        end = PIECE if end < 0 else end
        found.append(rest[:end])
        rest = rest[end:]
    return [*found, rest]


def search_texts(text: str, speaker: str | None, timestamp: str) -> Iterator[str]:
    """Yield the searchable text of each piece: speaker, text, and the day in words."""
    day = day_in_words(timestamp)
    for piece in pieces(text):
        yield f"{speaker}: {piece}\n{day}" if speaker else f"{piece}\n{day}"


def day_in_words(timestamp: str) -> str:
    """Return a timestamp's day as `7 May 2023`, or an empty text if it has no valid day."""
    year, month, day = timestamp[:4], timestamp[5:7], timestamp[8:10]
    if not (year.isdigit() and month.isdigit() and day.isdigit() and 1 <= int(month) <= 12):
        return ""
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def row_of(piece: int) -> int:
    """Return the row of a piece's number; the numbers of notes are negative."""
    return piece // SPREAD if piece >= 0 else -(-piece // SPREAD)


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
