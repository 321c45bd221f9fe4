"""Merge tasks: front matter key by key, the state with what belongs to it, boxes apart from their words."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.model.merging.files.keyed import REMARK, keeping_keys
from clawmem.model.merging.files.prose import ConflictRule, Lines, TextMergeReport, merge_lines, prose_rule
from clawmem.model.merging.policy import OURS
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.task import WORKING, key_lines, with_lines
from clawmem.model.records.workflow import STATES

# What is decided together: a verdict of one machine must not stand below the state that another machine chose.
_STANDING = ("state", "holder", "since", "verdict", "decided", "decided_by", "reason")
_BOX = re.compile(r"(?P<before>\s*(?:[-*+]|\d+[.)])\s+\[)(?P<mark>[ xX])(?P<after>\].*)")


class MergedTask(NamedTuple):
    """The merged page, the number of places with two versions, and a sentence where the states were in conflict."""

    text: str
    conflicts: int = 0
    rival: str = ""


def merge_task(base: str | None, ours: str, theirs: str, side: str | None) -> MergedTask:
    """Merge two versions of a task; `base` is None if each side created it, `side` is the one that always wins.

    Keys and boxes that one side changed are taken. Where both changed the state, the further one wins, with its holder
    and its verdict; of two that took the task, the first one; of two that closed it, the last one. The other value
    stays as a comment. The result is symmetric in both sides."""
    report = TextMergeReport()
    base, ours, theirs = (page.replace("\r\n", "\n") for page in (base or "", ours, theirs))
    ours, theirs, rival = _agreed_keys(base, ours, theirs, side)
    before, text, other = _agreed_boxes(base, ours, theirs)
    old, mine, yours = (_parted(page) for page in (before, text, other))
    front = merge_lines(old[0], mine[0], yours[0], keeping_keys(report, side))
    body = merge_lines(old[1], mine[1], yours[1], _box_rule(prose_rule(report, side)))
    return MergedTask(front + body, report.conflicts, rival)


def _parted(page: str) -> tuple[str, str]:
    front, body = split_front_matter(page)
    return (page[: len(page) - len(body)], body) if front is not None else ("", page)


def _agreed_keys(base: str, ours: str, theirs: str, side: str | None) -> tuple[str, str, str]:
    """Return both sides with the same lines for each key that both changed differently, and what is said about it."""
    before, record, other = key_lines(base), key_lines(ours), key_lines(theirs)
    rivals = [
        key
        for key in dict.fromkeys((*record, *other, *before))
        if len({before.get(key), record.get(key), other.get(key)}) == 3
    ]
    mine = side == OURS if side else _stands_first(before, record, other)
    for key in rivals:
        first, second = record.get(key), other.get(key)
        if key not in _STANDING and side is None:
            mine_here = (first is not None, first or "") > (second is not None, second or "")
        else:
            mine_here = mine
        kept, gone = (first, second) if mine_here else (second, first)
        remark = [f"{REMARK}{gone.splitlines()[0]}"] if gone and kept and side is None else []
        lines = [*remark, *(kept or "").splitlines()]
        ours, theirs = with_lines(ours, key, lines), with_lines(theirs, key, lines)
    if "state" not in rivals and "holder" not in rivals:
        return ours, theirs, ""
    kept_side, gone_side = (record, other) if mine else (other, record)
    return ours, theirs, f"{_says(kept_side)}; another machine had {_says(gone_side)}"


def _stands_first(before: dict[str, str], record: dict[str, str], other: dict[str, str]) -> bool:
    """Return whether the state of the first side wins."""
    states = [_word(side, "state") for side in (record, other)]
    was = _word(before, "state")
    if (states[0] == was) != (states[1] == was):
        return states[1] == was
    if states[0] != states[1]:
        return _rank(states[0]) > _rank(states[1])
    when = [(_word(side, "since") or _word(side, "decided"), sorted(side.values())) for side in (record, other)]
    return when[0] < when[1] if states[0] == WORKING else when[0] > when[1]


def _rank(state: str) -> tuple[int, str]:
    return (STATES.index(state) if state in STATES else -1, state)


def _word(side: dict[str, str], key: str) -> str:
    return side.get(key, "").partition(":")[2].partition(" #")[0].strip().strip("\"'").lower()


def _says(side: dict[str, str]) -> str:
    state, holder = _word(side, "state") or "without a state", _word(side, "holder")
    return f"{state} ({holder})" if holder else state


def _agreed_boxes(base: str, ours: str, theirs: str) -> tuple[str, str, str]:
    """Return the three texts with the same mark in each box that both sides have: the one that a side changed."""
    before, record, other = _boxes(base), _boxes(ours), _boxes(theirs)
    for words in record.keys() & other.keys():
        checked = {side[words] for side in (record, other)}
        if len(checked) == 2:
            mark = "x" if not before.get(words, False) else " "
            base, ours, theirs = (_marked(text, words, mark) for text in (base, ours, theirs))
    return base, ours, theirs


def _boxes(text: str) -> dict[str, bool]:
    """Return whether each box is checked, by the line around it; a line that occurs twice is left out."""
    found = [match for match in map(_BOX.fullmatch, text.splitlines()) if match]
    lines = [match["before"] + match["after"] for match in found]
    return {line: match["mark"] != " " for line, match in zip(lines, found, strict=True) if lines.count(line) == 1}


def _marked(text: str, words: str, mark: str) -> str:
    def row(line: str) -> str:
        found = _BOX.fullmatch(line)
        same = found and found["before"] + found["after"] == words
        return f"{found['before']}{mark}{found['after']}" if found and same else line

    return "\n".join(map(row, text.split("\n")))


def _box_rule(otherwise: ConflictRule) -> ConflictRule:
    """Return the rule for a task's text: where one side checked a box and the other changed its words, take both."""

    def settle(before: Lines, items: Lines, other: Lines) -> Lines:
        if [len(side) for side in (before, items, other)] != [1, 1, 1]:
            return otherwise(before, items, other)
        was, mine, yours = (_BOX.fullmatch(side[0]) for side in (before, items, other))
        if was is None or mine is None or yours is None:
            return otherwise(before, items, other)
        words = [(box["before"], box["after"]) for box in (was, mine, yours)]
        if words[0] not in words[1:]:
            return otherwise(before, items, other)
        kept = words[2] if words[1] == words[0] else words[1]
        changed = (mine["mark"] != " ") != (was["mark"] != " ") or (yours["mark"] != " ") != (was["mark"] != " ")
        mark = {True: "x", False: " "}[(was["mark"] != " ") != changed]
        return [f"{kept[0]}{mark}{kept[1]}"]

    return settle
