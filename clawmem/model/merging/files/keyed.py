"""Merge commented YAML line by line, key by key, so that comments and order stay."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.model.merging.facts.values import merged_names
from clawmem.model.merging.files.prose import ConflictRule, Lines, TextMergeReport
from clawmem.model.merging.policy import OURS

_KEY = re.compile(r"(?P<indent>\s*)(?P<key>[\w.\"'-]+)\s*:(?P<value>.*)")
_LIST = re.compile(r"\s*\[(.*)\]\s*")
_ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^,]+')
REMARK = "# another machine had: "
_BORN = "created"


class _Row(NamedTuple):
    """A key with the comments above it and the deeper lines below it."""

    above: Lines
    line: str
    below: Lines

    @property
    def lines(self) -> Lines:
        """Return the row's lines in order."""
        return [*self.above, self.line, *self.below]


_Rows = dict[str, _Row]


def keeping_keys(report: TextMergeReport, side: str | None) -> ConflictRule:
    """Return the rule for settings: keep the keys of both sides.

    Of two values for one key, one wins and the other one stays as a comment. Lists in brackets are united. Of two
    creation days, the earlier one wins.
    """

    def settle(before: Lines, items: Lines, other: Lines) -> Lines:
        old, mine, yours = _rows(before), _rows(items), _rows(other)
        if old is None or mine is None or yours is None:
            report.conflicts += 1
            return _whole(items, other, side)
        merged = [
            line for key in _in_order(old, mine, yours) for line in row(old.get(key), mine.get(key), yours.get(key))
        ]
        return [*merged, *_remarks(items, other)]

    def row(before: _Row | None, other_row: _Row | None, other: _Row | None) -> Lines:
        if other_row is None or other is None:
            left = other_row or other
            return [] if left is None or left == before else left.lines
        if other_row == other or other == before:
            return other_row.lines
        if other_row == before:
            return other.lines
        above = other_row.above if before and other.above == before.above else max(other_row.above, other.above)
        return [
            *above,
            *line(before, other_row, other),
            *settle(before.below if before else [], other_row.below, other.below),
        ]

    def line(before: _Row | None, row: _Row, other: _Row) -> Lines:
        old = before.line if before else None
        if row.line == other.line or other.line == old:
            return [row.line]
        if row.line == old:
            return [other.line]
        united = _united(old, row.line, other.line)
        if united is not None:
            return [united]
        if row.line.strip().startswith(_BORN):
            return [min(row.line, other.line)]
        report.conflicts += 1
        return _chosen(row.line, other.line, side)

    return settle


def _in_order(*sides: _Rows) -> list[str]:
    """Return deeper keys first (they belong to the section above), then old keys in order, then new ones sorted."""
    places = {key: place for place, key in enumerate(sides[0])}
    keys = {key for rows in sides for key in rows}
    return sorted(keys, key=lambda key: (-_depth(key), places.get(key, len(places)), key))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rows(lines: Lines) -> _Rows | None:
    """Return rows by key, or None if a line is neither key nor comment, or a key occurs twice."""
    rows: _Rows = {}
    waiting: Lines = []
    last = ""
    for text in lines:
        found = _KEY.fullmatch(text)
        if found is None or (_depth(text) > _depth(last) and last):
            if found is None and text.strip() and not text.lstrip().startswith("#"):
                return None
            waiting.append(text)
            if found is not None:
                rows[last] = rows[last]._replace(below=[*rows[last].below, *waiting])
                waiting = []
            continue
        last = found["indent"] + found["key"]
        if last in rows:
            return None
        rows[last] = _Row(waiting, text, [])
        waiting = []
    return rows


def _remarks(items: Lines, other: Lines) -> Lines:
    """Return the comments at the end of both sides."""
    first, second = sorted((_tail(items), _tail(other)))
    return [*first, *(line for line in second if line not in first)]


def _tail(lines: Lines) -> Lines:
    last = max((place for place, line in enumerate(lines) if _KEY.fullmatch(line)), default=-1)
    return lines[last + 1 :]


def _united(before: str | None, text: str, other: str) -> str | None:
    """Return the line with the items of both lists, or None if one is not a list in brackets."""
    old, mine, yours = (_items(line) for line in (before or "", text, other))
    if mine is None or yours is None:
        return None
    return f"{text.split('[', 1)[0]}[{', '.join(merged_names(old or [], mine, yours))}]"


def _items(line: str) -> list[str] | None:
    found = _KEY.fullmatch(line)
    listed = _LIST.fullmatch(found["value"]) if found else None
    if listed is None or any(mark in listed[1] for mark in "[]{}#"):
        return None
    return [item.strip() for item in _ITEM.findall(listed[1]) if item.strip()]


def _chosen(text: str, other: str, side: str | None) -> Lines:
    kept, gone = (text, other) if (side == OURS if side else text > other) else (other, text)
    if side is not None:
        return [kept]
    return [f"{gone[: _depth(gone)]}{REMARK}{gone.strip()}", kept]


def _whole(items: Lines, other: Lines, side: str | None) -> Lines:
    if side is not None:
        return items if side == OURS else other
    kept, gone = max(items, other), min(items, other)
    return [*(f"{REMARK}{line}" for line in gone if line.strip()), *kept]
