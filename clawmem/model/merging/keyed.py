"""Merge two versions of a text line by line: a rule settles conflicts, and no conflict markers are left.

Prose keeps and labels both versions, notes are united by time, and commented YAML is merged key by key, so that
comments and order stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from clawmem.model.merging.fields import OURS, interleave, merged_names, three_way
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.task import STATES, WORKING, key_lines, with_lines

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


# What is decided together: a verdict of one machine must not stand below the state that another machine chose.
_STANDING = ("state", "holder", "since", "verdict", "decided", "decided_by", "reason")
_BOX = re.compile(r"(?P<before>\s*(?:[-*+]|\d+[.)])\s+\[)(?P<mark>[ xX])(?P<after>\].*)")


class MergedTask(NamedTuple):
    """The merged page, the number of places with two versions, and a clause for each key with two values."""

    text: str
    conflicts: int = 0
    rivals: tuple[str, ...] = ()


def merge_task(base: str | None, ours: str, theirs: str, side: str | None) -> MergedTask:
    """Merge two versions of a task; `base` is None if each side created it, `side` is the one that always wins.

    Keys and boxes that one side changed are taken. Where both changed the state, the further one wins, with its holder
    and its verdict; of two that took the task, the first one; of two that closed it, the last one. The other value
    stays as a comment. The result is symmetric in both sides."""
    report = TextMergeReport()
    base, ours, theirs = (page.replace("\r\n", "\n") for page in (base or "", ours, theirs))
    ours, theirs, rivals = _agreed_keys(base, ours, theirs, side)
    before, text, other = _agreed_boxes(base, ours, theirs)
    old, mine, yours = (divided(page) for page in (before, text, other))
    front = merge_lines(old[0], mine[0], yours[0], keeping_keys(report, side))
    body = merge_lines(old[1], mine[1], yours[1], prose_rule(report, side))
    return MergedTask(front + body, report.conflicts, rivals)


def divided(page: str) -> tuple[str, str]:
    """Return the front matter of a page with its fences, and the rest."""
    front, body = split_front_matter(page)
    return (page[: len(page) - len(body)], body) if front is not None else ("", page)


def _agreed_keys(base: str, ours: str, theirs: str, side: str | None) -> tuple[str, str, tuple[str, ...]]:
    """Return both sides with the same lines for each key that both changed differently, and what is said about it."""
    before, record, other = key_lines(base), key_lines(ours), key_lines(theirs)
    rivals = [
        key
        for key in dict.fromkeys((*record, *other, *before))
        if len({before.get(key), record.get(key), other.get(key)}) == 3
    ]
    mine = side == OURS if side else _stands_first(before, record, other)
    stands, fell = (_state(each) for each in ((record, other) if mine else (other, record)))
    says = [f"is {stands}; another machine had {fell}"] if {"state", "holder"} & {*rivals} else []
    for key in rivals:
        first, second = record.get(key), other.get(key)
        if key not in _STANDING and side is None:
            mine_here = (first is not None, first or "") > (second is not None, second or "")
        else:
            mine_here = mine
        kept, gone = (first, second) if mine_here else (second, first)
        remark = [f"{REMARK}{gone.splitlines()[0]}"] if gone and kept and side is None else []
        if remark and key not in _STANDING:
            says.append(f"has {_bare(kept or '')}; another machine had {_bare(gone or '')}")
        lines = [*remark, *(kept or "").splitlines()]
        ours, theirs = with_lines(ours, key, lines), with_lines(theirs, key, lines)
    return ours, theirs, tuple(says)


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
    return _value(side.get(key, "")).lower()


def _value(line: str) -> str:
    return line.partition(":")[2].partition(" #")[0].strip().strip("\"'")


def _bare(lines: str) -> str:
    return lines.splitlines()[0].partition(" #")[0].replace(":", "", 1).strip()


def _state(side: dict[str, str]) -> str:
    state, holder = _word(side, "state") or "without a state", _value(side.get("holder", ""))
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


FIRST = "<!-- clawmem: changed on two machines; both versions stand. The first: -->"
SECOND = "<!-- clawmem: the second: -->"
LAST = "<!-- clawmem: end of the two versions -->"

_TIMED = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?(\d{1,2}:\d{2})\b")
_LIST_ITEM = re.compile(r"\s*(?:[-*+>|#]|\d+[.)])")


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
    return bool(above.strip() and below.strip() and not _LIST_ITEM.match(below))


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
