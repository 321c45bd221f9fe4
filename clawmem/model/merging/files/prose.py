"""Rules for lines that both sides wrote: prose keeps both versions and names them, notes are united by time."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from clawmem.model.merging.facts.values import interleaved
from clawmem.model.merging.files.lines import Lines, Settle
from clawmem.model.merging.policy import OURS

FIRST = "<!-- clawmem: changed on two machines; both versions stand. The first: -->"
SECOND = "<!-- clawmem: the second: -->"
LAST = "<!-- clawmem: end of the two versions -->"

_TIMED = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?(\d{1,2}:\d{2})\b")
_ITEM = re.compile(r"\s*(?:[-*+>|#]|\d+[.)])")


class TextMergeReport:
    """What a rule had to settle, for the report."""

    def __init__(self) -> None:
        self.conflicts = 0


def counting(told: TextMergeReport) -> Settle:
    """The rule for texts of which nothing is known: what both sides changed is only counted."""

    def settle(before: Lines, one: Lines, other: Lines) -> Lines:
        told.conflicts += 1
        return before

    return settle


def keeping_both(told: TextMergeReport, side: str | None) -> Settle:
    """The rule for prose: what each side added stays; of lines that both changed, both versions, named."""

    def settle(before: Lines, one: Lines, other: Lines) -> Lines:
        first, second = sorted((one, other))
        if not before:
            return _both_added(first, second)
        if not first:
            return second  # the other side deleted what this one changed
        told.conflicts += 1
        if side is not None:
            return one if side == OURS else other
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
    """Whether two lines would be one paragraph in markdown."""
    return bool(above.strip() and below.strip() and not _ITEM.match(below))


def uniting(before: Lines, one: Lines, other: Lines) -> Lines:
    """The rule for notes: every line that a side wrote, by time where lines have one, in each side's own order."""
    kept = [line for line in before if line in one and line in other]
    first, second = sorted((one, other))
    mine = _timed([line for line in first if line not in before])
    yours = _timed([line for line in second if line not in before and (line not in first or not line.strip())])
    added = interleaved(mine, yours, lambda row: row[0], lambda row: row[1])
    return [*kept, *(line for _, line in added)]


def _timed(lines: Lines) -> list[tuple[str, str]]:
    """Each line with its time of day, or that of the line before it."""
    time, rows = "", []
    for line in lines:
        found = _TIMED.match(line)
        time = max(time, found[1].zfill(5)) if found else time
        rows.append((time, line))
    return rows
