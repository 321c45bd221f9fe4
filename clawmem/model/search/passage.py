"""The passage: what an event or a note is searched as, cut in pieces where it is long."""

from __future__ import annotations

from collections.abc import Iterator

PIECE = 800
# Pieces of one text have row numbers side by side; the last one takes what is left of a very long text.
SPREAD = 256
_MONTHS = "January February March April May June July August September October November December".split()


def pieces(text: str) -> list[str]:
    """The text in pieces of about 800 characters, cut between words; at least one, at most `SPREAD`."""
    found: list[str] = []
    rest = text
    while len(rest) > PIECE and len(found) < SPREAD - 1:
        end = rest.rfind(" ", PIECE // 2, PIECE)
        end = PIECE if end < 0 else end
        found.append(rest[:end])
        rest = rest[end:]
    return [*found, rest]


def search_texts(text: str, speaker: str | None, timestamp: str) -> Iterator[str]:
    """What each piece is found by: who said it, the words, and the day as people write it."""
    day = day_in_words(timestamp)
    for piece in pieces(text):
        yield f"{speaker}: {piece}\n{day}" if speaker else f"{piece}\n{day}"


def day_in_words(timestamp: str) -> str:
    """`7 May 2023` for a written time; empty where it has no such day."""
    year, month, day = timestamp[:4], timestamp[5:7], timestamp[8:10]
    if not (year.isdigit() and month.isdigit() and day.isdigit() and 1 <= int(month) <= 12):
        return ""
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def row_of(piece: int) -> int:
    """The row that a piece's number belongs to; notes count below zero."""
    return piece // SPREAD if piece >= 0 else -(-piece // SPREAD)
