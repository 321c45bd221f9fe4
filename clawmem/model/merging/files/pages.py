"""Merge pages: front matter by key, people's text by line, and the generated part as one value."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.merging.facts.values import MISSING, more_complete, three_way
from clawmem.model.merging.files.keyed import keeping_keys
from clawmem.model.merging.files.lines import ConflictRule, merge_lines
from clawmem.model.merging.files.prose import TextMergeReport, notes_rule, prose_rule
from clawmem.model.pages.summary import generated_part, marker_problem, split_front_matter, with_generated


class MergedPage(NamedTuple):
    """The page, whether both sides changed its generated part (so it must be generated again), and the number of
    places with two versions."""

    text: str
    stale: bool = False
    conflicts: int = 0


class _PageParts(NamedTuple):
    """The parts of a page: front matter with its fences, the rest without the generated part, and that part."""

    front: str
    body: str
    generated: str | None


def merge_page(base: str | None, ours: str, theirs: str, side: str | None, is_note: bool = False) -> MergedPage:
    """Merge two versions of a page; `base` is None if each side created it. A note keeps the lines of both."""
    report = TextMergeReport()
    before, one, other = _parted(base or ""), _parted(ours), _parted(theirs)
    front = merge_lines(before.front, one.front, other.front, keeping_keys(report, side))
    rule: ConflictRule = notes_rule if is_note else prose_rule(report, side)
    body = merge_lines(before.body, one.body, other.body, rule)
    generated, stale = _generated(before.generated if base else None, one.generated, other.generated, is_note)
    text = front + body
    return MergedPage(text if generated is None else with_generated(text, generated), stale, report.conflicts)


def _parted(text: str) -> _PageParts:
    front, rest = split_front_matter(text)
    head = text[: len(text) - len(rest)] if front is not None else ""
    if marker_problem(rest) is not None:
        return _PageParts(head, rest, None)
    part = generated_part(rest)
    return _PageParts(head, rest if part is None else with_generated(rest, ""), part)


def _generated(base: str | None, ours: str | None, theirs: str | None, is_note: bool) -> tuple[str | None, bool]:
    """Return the merged generated part, and whether it is out of date. Daily notes keep the mentions of both sides."""
    if ours == theirs or theirs == base:
        return ours, False
    if ours == base:
        return theirs, False
    if is_note and ours is not None and theirs is not None:
        return merge_lines(base or "", ours, theirs, notes_rule), True
    kept: str | None = three_way(MISSING, ours, theirs, more_complete)
    return kept, True
