"""Rules for lines that both sides wrote: prose keeps and labels both versions, notes are united by time."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from clawmem.model.merging.facts.values import interleave
from clawmem.model.merging.files.lines import ConflictRule, Lines
from clawmem.model.merging.policy import OURS

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

    def settle(before: Lines, one: Lines, other: Lines) -> Lines:
        report.conflicts += 1
        return before

    return settle


def prose_rule(report: TextMergeReport, side: str | None) -> ConflictRule:
    """Return the rule for prose: keep what each side added; keep and label both versions of changed lines."""

    def settle(before: Lines, one: Lines, other: Lines) -> Lines:
        first, second = sorted((one, other))
        if not before:
            return _both_added(first, second)
        if not first:
            return second  # the other side deleted what this one changed
        report.conflicts += 1
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
    """Return whether Markdown would join two lines into one paragraph."""
    return bool(above.strip() and below.strip() and not _ITEM.match(below))


def notes_rule(before: Lines, one: Lines, other: Lines) -> Lines:
    """The rule for notes: keep every line of both sides, by time where lines have one, else in each side's order."""
    kept = [line for line in before if line in one and line in other]
    first, second = sorted((one, other))
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
