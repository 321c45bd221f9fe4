"""Passages: the searchable text of an event or a note, split into pieces if it is long."""

from __future__ import annotations

from collections.abc import Iterator

PIECE = 800
# The pieces of one text have consecutive row numbers; the last one takes the rest of a very long text. After them comes
# the line that tells a message alone.
SPREAD = 256
LINE = SPREAD - 1
_MONTHS = "January February March April May June July August September October November December".split()


def pieces(text: str) -> list[str]:
    """Return the text in pieces of about 800 characters, split between words; at least one, at most `LINE`."""
    found: list[str] = []
    rest = text
    while len(rest) > PIECE and len(found) < LINE - 1:
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
