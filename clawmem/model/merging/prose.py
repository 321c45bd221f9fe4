"""Rules for lines that both sides wrote: prose keeps and labels both versions, notes are united by time.

Merge two versions of a text line by line; a rule settles conflicts, and no conflict markers are left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from clawmem.model.merging.fields import OURS, interleave, three_way

FIRST = "<!-- clawmem: changed on two machines; both versions stand. The first: -->"
SECOND = "<!-- clawmem: the second: -->"
LAST = "<!-- clawmem: end of the two versions -->"

_TIMED = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?(\d{1,2}:\d{2})\b")
_ITEM = re.compile(r"\s*(?:[-*+>|#]|\d+[.)])")


class TextMergeReport:
    """Counts the conflicts that a rule settled."""

    def __init__(self) -> None:
        self.conflicts = 0


def counting(report: TextMergeReport) -> ConflictRule:
    """Return the rule for texts of unknown structure: only count the conflicts."""

    def settle(before: Lines, lines: Lines, other: Lines) -> Lines:
        report.conflicts += 1
        return before

    return settle


def prose_rule(report: TextMergeReport, side: str | None) -> ConflictRule:
    """Return the rule for prose: keep what each side added; keep and label both versions of changed lines."""

    def settle(before: Lines, items: Lines, other: Lines) -> Lines:
        first, second = sorted((items, other))
        if not before:
            return _both_added(first, second)
        if not first:
            return second  # the other side deleted what this one changed
        report.conflicts += 1
        if side is not None:
            return items if side == OURS else other
        return [FIRST, *first, SECOND, *second, LAST]

    return settle


def _both_added(first: Lines, second: Lines) -> Lines:
    merged: Lines = []
    for kind, start, end, begin, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        merged += first[start:end]
        if kind != "equal":
            added = second[begin:stop]
            if added and start < end:
                merged += [""] if _would_run_together(merged[-1], added[0]) else []
            merged += added
    return merged


def _would_run_together(above: str, below: str) -> bool:
    """Return whether Markdown would join two lines into one paragraph."""
    return bool(above.strip() and below.strip() and not _ITEM.match(below))


def notes_rule(before: Lines, items: Lines, other: Lines) -> Lines:
    """The rule for notes: keep every line of both sides, by time where lines have one, else in each side's order."""
    kept = [line for line in before if line in items and line in other]
    first, second = sorted((items, other))
    mine = _timed([line for line in first if line not in before])
    yours = _timed([line for line in second if line not in before and (line not in first or not line.strip())])
    added = interleave(mine, yours, lambda row: row[0], lambda row: row[1])
    return [*kept, *(line for _, line in added)]


def _timed(lines: Lines) -> list[tuple[str, str]]:
    """Return each line with its time of day, or with that of the line before it."""
    time, rows = "", []
    for line in lines:
        found = _TIMED.match(line)
        time = max(time, found[1].zfill(5)) if found else time
        rows.append((time, line))
    return rows


Lines = list[str]
ConflictRule = Callable[[Lines, Lines, Lines], Lines]
"""Resolves a conflict: takes the old lines and both new versions, and returns the lines to keep."""


def merge_lines(base: str, ours: str, theirs: str, settle: ConflictRule) -> str:
    """Return the text with the changes of both sides, symmetric in them if the result of `settle` is."""

    def join(mine: str, yours: str) -> str:
        pieces = _pieces(_split(base), _split(mine), _split(yours))
        merged = [line for piece in pieces for line in _piece(*piece, settle)]
        return "\n".join(merged) + "\n" if merged else ""

    return three_way(base, ours, theirs, join)


def _split(text: str) -> Lines:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _piece(before: Lines, items: Lines, other: Lines, settle: ConflictRule) -> Lines:
    if items == other or other == before:
        return items
    if items == before:
        return other
    if len(before) == len(items) == len(other) > 1:
        # Neighbouring lines, each changed on one side.
        rows = zip(before, items, other, strict=True)
        return [line for old, mine, yours in rows for line in _piece([old], [mine], [yours], settle)]
    start = _shared(items, other)
    end = _shared(items[start:][::-1], other[start:][::-1])
    if not before and (start or end):
        inner = _piece([], items[start : len(items) - end], other[start : len(other) - end], settle)
        return [*items[:start], *inner, *items[len(items) - end :]]
    return settle(before, items, other)


def _shared(items: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(items, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(items), len(other)))


def _pieces(base: Lines, ours: Lines, theirs: Lines) -> Iterator[tuple[Lines, Lines, Lines]]:
    """Cut the three texts at the lines that all of them share; yield the shared pieces, too."""
    pair = (0, 0, 0)
    for at, mine, yours, size in _common(base, ours, theirs):
        yield base[pair[0] : at], ours[pair[1] : mine], theirs[pair[2] : yours]
        same = base[at : at + size]
        yield same, same, same
        pair = (at + size, mine + size, yours + size)
    yield base[pair[0] :], ours[pair[1] :], theirs[pair[2] :]


def _common(base: Lines, ours: Lines, theirs: Lines) -> Iterator[tuple[int, int, int, int]]:
    record, other = _matches(base, ours), _matches(base, theirs)
    place = 0
    while place < len(base):
        if place not in record or place not in other:
            place += 1
            continue
        size = 1
        while record.get(place + size) == record[place] + size and other.get(place + size) == other[place] + size:
            size += 1
        yield place, record[place], other[place], size
        place += size


def _matches(base: Lines, side: Lines) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
