"""One file merged by what it is: facts, events, a proposal, a page, settings, any text; anything else keeps a side."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from clawmem.errors import ClawmemError, NeedsDecision
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers, render_items
from clawmem.model.history.redaction import RECORD, merged_records
from clawmem.model.merging.facts.collisions import RenamedId, collisions, with_new_names
from clawmem.model.merging.facts.merge import merge_facts
from clawmem.model.merging.facts.values import merged_names
from clawmem.model.merging.files.keyed import keeping_keys
from clawmem.model.merging.files.ledger import merge_ledger, rested_upon
from clawmem.model.merging.files.lines import merge_lines
from clawmem.model.merging.files.pages import merge_page
from clawmem.model.merging.files.prose import TextMergeReport, counting
from clawmem.model.merging.files.records import merge_record
from clawmem.model.merging.policy import EVENT, FILE, OURS, SETTING, TEXT, MergeConflict, MergePolicy
from clawmem.model.records.entity import ITEMS

_RESTS = "a fact was learned from it on the other"


class MergedFile(NamedTuple):
    """What a file has become (None: gone), what was in conflict, whether its generated part must be made anew; where
    the other version cannot be put into it, `beside` is that version."""

    content: bytes | None
    conflicts: tuple[MergeConflict, ...] = ()
    stale: bool = False
    beside: bytes | None = None


def merge_file(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    policy: MergePolicy = MergePolicy(),  # noqa: B008
    cited: Container[str] = (),
) -> MergedFile:
    """Merge one file from what it was on either side; None is a file that is not there. Ids in `cited` are events that
    must stay.

    Raises NeedsPerson where a list of facts cannot be read: half of it would be lost.
    """
    # What was redacted stays known, whoever took the record out. Sorted, as whose side it is must not matter.
    records = merged_records(*sorted(filter(None, (base, ours, theirs)))) if path == RECORD else None
    if records is not None:
        return MergedFile(records)
    is_ledger = path.startswith("ledger/") and path.endswith(".jsonl")
    kept = rested_upon(base or b"", ours or b"", theirs or b"", cited) if is_ledger else ()
    if kept:
        said = (f"{one} was taken back on one side; it stays: {_RESTS}" for one in kept)
        lines = merge_ledger(base or b"", ours or b"", theirs or b"", cited)
        return MergedFile(lines, tuple(MergeConflict(EVENT, path, None, one) for one in said))
    if ours == theirs or theirs == base:
        return MergedFile(ours)
    if ours == base:
        return MergedFile(theirs)
    if ours is None or theirs is None:
        # Taken out on one side, changed on the other: what was changed stays.
        return MergedFile(theirs if ours is None else ours)
    if path.rsplit("/", 1)[-1] == ITEMS:
        return _facts(path, base, ours, theirs, policy)
    if is_ledger:
        return MergedFile(merge_ledger(base or b"", ours, theirs, cited))
    if path.endswith(".json"):
        record = merge_record(path, base, ours, theirs)
        if record is not None:
            return MergedFile(record)
    return _text(path, base, ours, theirs, policy)


def _facts(path: str, base: bytes | None, ours: bytes, theirs: bytes, policy: MergePolicy) -> MergedFile:
    try:
        before, one, other = (parse_items(data, path) for data in (base or b"[]", ours, theirs))
        for clash in collisions({path: before}, {path: one}, {path: other}):
            one, other = _renamed(clash, path, one, other)
        merged = merge_facts({path: before}, {path: one}, {path: other}, policy)
    except ClawmemError as problem:
        raise NeedsDecision(
            f"{path} was changed on both sides and one version cannot be read: {problem.message}",
            "Repair that version and commit it, then run the command again; nothing was merged.",
        ) from problem
    return MergedFile(render_items(merged.shelves.get(path, ())), merged.conflicts)


def _renamed(clash: RenamedId, path: str, *sides: tuple) -> list[tuple]:  # type: ignore[type-arg]
    names = {clash.old: clash.new}
    wanted = 0 if clash.side == OURS else 1
    changed = parse_items(with_new_names(render_items(sides[wanted]).decode(), names).encode(), path)
    return [changed if place == wanted else side for place, side in enumerate(sides)]


def _text(path: str, base: bytes | None, ours: bytes, theirs: bytes, policy: MergePolicy) -> MergedFile:
    texts = [_decoded(data) for data in (base or b"", ours, theirs)]
    before, one, other = texts
    if before is None or one is None or other is None:
        return _either(path, ours, theirs, policy)
    refuse_conflict_markers(one, path)
    refuse_conflict_markers(other, path)
    if path.endswith(".md"):
        page = merge_page(path, None if base is None else before, one, other, policy.side)
        return MergedFile(page.text.encode(), _told(TEXT, path, page.conflicts), page.stale)
    told = TextMergeReport()
    if path.endswith((".yaml", ".yml")):
        text = merge_lines(before, one, other, keeping_keys(told, policy.side))
        return MergedFile(text.encode(), _told(SETTING, path, told.conflicts))
    if path.rsplit("/", 1)[-1].startswith(".git"):
        return MergedFile(merge_lines(before, one, other, lambda *sides: list(merged_names(*sides))).encode())
    # In a program or a table two additions at one place are no more two paragraphs than two versions are.
    text = merge_lines(before, one, other, counting(told))
    return _either(path, ours, theirs, policy) if told.conflicts else MergedFile(text.encode())


def _decoded(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _told(kind: str, path: str, number: int) -> tuple[MergeConflict, ...]:
    if not number:
        return ()
    what = "values" if kind == SETTING else "versions"
    places = "one place" if number == 1 else f"{number} places"
    return (MergeConflict(kind, path, None, f"{path} has two {what} in {places}"),)


def _either(path: str, ours: bytes, theirs: bytes, policy: MergePolicy) -> MergedFile:
    """One version as the file, the other one beside it."""
    first, second = (ours, theirs) if ours > theirs else (theirs, ours)
    if policy.side is not None:
        return MergedFile(
            ours if policy.side == OURS else theirs, (MergeConflict(FILE, path, None, f"{path} is a side's"),)
        )
    conflict = MergeConflict(FILE, path, None, f"{path} cannot be merged; the other version stands beside it")
    return MergedFile(first, (conflict,), beside=second)
