"""Pages merged: front matter key by key, what people wrote as text, the generated part as one thing."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.merging.facts.values import MISSING, fuller, three_way
from clawmem.model.merging.files.keyed import keeping_keys
from clawmem.model.merging.files.lines import Settle, merge_lines
from clawmem.model.merging.files.prose import TextMergeReport, keeping_both, uniting
from clawmem.model.pages.summary import generated_part, marker_problem, split_front_matter, with_generated


class MergedPage(NamedTuple):
    """The page; whether both sides had changed its generated part, so that it must be made anew; how many places
    hold two versions."""

    text: str
    stale: bool = False
    conflicts: int = 0


class _PageParts(NamedTuple):
    """A page taken apart: front matter with its fences, the rest without its generated part, and that part."""

    front: str
    body: str
    generated: str | None


def merge_page(base: str | None, ours: str, theirs: str, side: str | None, is_note: bool = False) -> MergedPage:
    """Merge two versions of a page; `base` is None where each side created it. A note keeps the lines of both."""
    told = TextMergeReport()
    before, one, other = _parted(base or ""), _parted(ours), _parted(theirs)
    front = merge_lines(before.front, one.front, other.front, keeping_keys(told, side))
    rule: Settle = uniting if is_note else keeping_both(told, side)
    body = merge_lines(before.body, one.body, other.body, rule)
    generated, stale = _generated(before.generated if base else None, one.generated, other.generated, is_note)
    text = front + body
    return MergedPage(text if generated is None else with_generated(text, generated), stale, told.conflicts)


def _parted(text: str) -> _PageParts:
    front, rest = split_front_matter(text)
    head = text[: len(text) - len(rest)] if front is not None else ""
    if marker_problem(rest) is not None:
        return _PageParts(head, rest, None)
    part = generated_part(rest)
    return _PageParts(head, rest if part is None else with_generated(rest, ""), part)


def _generated(base: str | None, ours: str | None, theirs: str | None, is_note: bool) -> tuple[str | None, bool]:
    """The generated part, and whether it is only one side's: a day's note keeps what both say was only mentioned."""
    if ours == theirs or theirs == base:
        return ours, False
    if ours == base:
        return theirs, False
    if is_note and ours is not None and theirs is not None:
        return merge_lines(base or "", ours, theirs, uniting), True
    kept: str | None = three_way(MISSING, ours, theirs, fuller)
    return kept, True
