"""Split text into sentences with exact spans. Code and headings are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_SENTENCE = 600
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(r"[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]+")
# A run of marks is entered at its beginning only, or it would take quadratic time.
_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’)\]*]*+|(?<![\U0001F000-\U0001FAFF☀-➿️])[\U0001F000-\U0001FAFF☀-➿️]++)(?=\s|$)"
    r"|(?<=[a-z])[!?](?=[A-Z])"
)
_ABBREVIATION = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof|vs|etc|e\.g|i\.e|approx|No|Inc|Jr|Sr|a\.m|p\.m|[A-Z]))\.$")
_DAY_OF_MONTH = re.compile(r"(?<=\d\.) (?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_CODE_LINE = re.compile(
    r"^(?:[#>|<@$%{}/]|import |from \w+ import|def |class |const |let |var |function|\w+\(.*\)|SELECT )"
)
_CODE_SIGN = re.compile(r"[{};]\s*$|=>|==|</|\(\)|\s=\s|::|\w\[\w+\]|->")


class TextSpan(NamedTuple):
    """A part of a text: `text` is the text from `start` to `end`."""

    text: str
    start: int
    end: int


def sentences(text: str) -> Iterator[TextSpan]:
    """Yield the prose sentences of a text in order, without surrounding white space and list marks."""
    fenced = False
    for line in _LINE.finditer(text):
        if _FENCE.match(line[0]):
            # A fence that opens and closes on one line hides only itself.
            fenced ^= line[0].count("```") + line[0].count("~~~") == 1
            continue
        if not fenced and not _is_code(line[0]):
            bullet = _BULLET.match(line[0])
            yield from _in_line(text, line.start() + (bullet.end() if bullet else 0), line.end())


def sub_span(piece: TextSpan, start: int, end: int) -> TextSpan:
    """Return the part of a span between two of its own offsets, without surrounding white space."""
    return next(_trimmed(piece.text, start, end, piece.start), TextSpan("", piece.start + start, piece.start + start))


def _in_line(text: str, start: int, end: int) -> Iterator[TextSpan]:
    at = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and _ABBREVIATION.search(text, max(at, stop.end() - 8), stop.end()):
            continue
        if _DAY_OF_MONTH.match(text, stop.end()):
            continue
        yield from _trimmed(text, at, stop.end(), 0)
        at = stop.end()
    yield from _trimmed(text, at, end, 0)


def _trimmed(text: str, start: int, end: int, offset: int) -> Iterator[TextSpan]:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    kept = part.strip()
    if kept:
        first = offset + start + left
        yield TextSpan(kept, first, first + len(kept))


def _is_code(line: str) -> bool:
    stripped = line.strip()
    return bool(_CODE_LINE.match(stripped)) or bool(_CODE_SIGN.search(stripped[:LONGEST_SENTENCE]))
