"""Quotation marks in a text."""

from __future__ import annotations

import re
from bisect import bisect_right

Span = tuple[int, int]
_QUOTATION = re.compile(
    r"(?<![\w\"“”])[\"“](?=\S)[^\"“”\n]{2,4000}?[\"”](?!\w)|«[^«»\n]{2,4000}»|„[^„“”\n]{2,4000}[“”]|"
    # Between single marks only what begins like a sentence; an apostrophe stands between letters.
    r"(?<!\w)['‘](?=[A-Z])(?:[^'’\n]|(?<=\w)['’](?=\w)){2,400}['’](?!\w)"
)
_OPENING = re.compile(r"(?<![\w\"“”])[\"“](?=\S)|„|«")


def quotations(text: str) -> list[Span]:
    """Return the spans between quotation marks, including the marks."""
    return [found.span() for found in _QUOTATION.finditer(text)]


def unclosed_quotations(text: str) -> list[Span]:
    """Return a span from each quotation mark that its line does not close to the end of the line."""
    within = quotations(text)
    starts = [start for start, _ in within]
    spans: list[Span] = []
    for mark in _OPENING.finditer(text):
        before = bisect_right(starts, mark.start())
        inside = before > 0 and mark.start() < within[before - 1][1]
        if not inside and not (spans and mark.start() < spans[-1][1]):
            line = text.find("\n", mark.end())
            spans.append((mark.start(), len(text) if line < 0 else line))
    return spans
