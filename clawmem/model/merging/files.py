"""Merge one file, by the rule that its kind names; a file that no rule can merge keeps one side.

Merge pages: front matter by key, people's text by line, and the generated part as one value.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import NamedTuple

from clawmem.errors import ClawmemError, NeedsDecision
from clawmem.extension import named
from clawmem.model import kinds
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers, render_items
from clawmem.model.history.redaction import merged_records
from clawmem.model.merging.collisions import RenamedId, collisions, with_new_names
from clawmem.model.merging.facts import merge_facts
from clawmem.model.merging.fields import (
    EVENT,
    FILE,
    MISSING,
    OURS,
    SETTING,
    TEXT,
    MergeConflict,
    MergePolicy,
    merged_names,
    more_complete,
    three_way,
)
from clawmem.model.merging.keyed import (
    ConflictRule,
    TextMergeReport,
    counting,
    divided,
    keeping_keys,
    merge_lines,
    merge_task,
    notes_rule,
    prose_rule,
)
from clawmem.model.merging.records import (
    MergeRecords,
    kept_for_facts,
    latest_adaptation,
    merge_ledger,
    merge_records,
    merged_cursor,
    merged_digestion,
    merged_object,
    merged_proposal,
    merged_session,
    summed_accesses,
)
from clawmem.model.pages.summary import generated_part, marker_problem, with_generated
from clawmem.model.records.strict_json import UnreadFile

_RESTS = "a fact was learned from it on the other"


class MergedFile(NamedTuple):
    """The merged content (None: deleted), the conflicts, whether the generated part must be made again; `beside` is
    the other version, where it could not be merged in."""

    content: bytes | None
    conflicts: tuple[MergeConflict, ...] = ()
    stale: bool = False
    beside: bytes | None = None


class FileVersions(NamedTuple):
    """A file that both sides changed: its path, its three versions (`base` is None where both created it), and how to
    decide. Ids in `cited` are events that must stay."""

    path: str
    base: bytes | None
    ours: bytes
    theirs: bytes
    policy: MergePolicy
    cited: Container[str]


def merge_file(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    policy: MergePolicy = MergePolicy(),  # noqa: B008
    cited: Container[str] = (),
) -> MergedFile:
    """Merge one file from its three versions; None is a file that does not exist. Ids in `cited` are events that must
    stay.

    Raises NeedsDecision where a list of facts cannot be read: half of it would be lost.
    """
    rule = kinds.handling(path).merge
    unread = any(isinstance(data, UnreadFile) for data in (base, ours, theirs))
    whole = None if unread else _WHOLE.get(rule)
    merged = whole(path, base, ours, theirs, cited) if whole else None
    if merged is not None:
        return merged
    if ours == theirs or theirs == base:
        return MergedFile(ours)
    if ours == base:
        return MergedFile(theirs)
    if ours is None or theirs is None:
        # One side deleted the file and the other changed it: the change stays.
        return MergedFile(theirs if ours is None else ours)
    file = FileVersions(path, base, ours, theirs, policy, cited)
    return _either(file) if unread else (RULES.get(rule) or named(rule))(file)


def _all_redactions(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, cited: Container[str]
) -> MergedFile | None:
    """Every record of a redaction stays, whoever deleted it. Sorted: the result must not depend on the side."""
    records = merged_records(*sorted(filter(None, (base, ours, theirs))))
    return None if records is None else MergedFile(records)


def _cited_events(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, cited: Container[str]
) -> MergedFile | None:
    """The events that one side deleted although a fact cites them stay, even where only that side changed the file."""
    kept = kept_for_facts(base or b"", ours or b"", theirs or b"", cited)
    if not kept:
        return None
    generator = (f"{text} was taken back on one side; it stays: {_RESTS}" for text in kept)
    lines = merge_ledger(base or b"", ours or b"", theirs or b"", cited)
    return MergedFile(lines, tuple(MergeConflict(EVENT, path, None, text) for text in generator))


# Rules that look at the file even where only one side changed it; None leaves it to the usual rule.
_WHOLE: Mapping[str, Callable[..., MergedFile | None]] = {
    kinds.REDACTIONS: _all_redactions,
    kinds.EVENTS: _cited_events,
}


def _facts(file: FileVersions) -> MergedFile:
    path = file.path
    try:
        before, items, other = (parse_items(data, path) for data in (file.base or b"[]", file.ours, file.theirs))
        for clash in collisions({path: before}, {path: items}, {path: other}):
            items, other = _renamed(clash, path, items, other)
        merged = merge_facts({path: before}, {path: items}, {path: other}, file.policy)
    except ClawmemError as problem:
        raise unreadable_version(path, problem) from problem
    return MergedFile(render_items(merged.shelves.get(path, ())), merged.conflicts)


def unreadable_version(path: str, problem: ClawmemError) -> NeedsDecision:
    """Return the error for a file that both sides changed and of which one version cannot be read."""
    return NeedsDecision(
        f"{path} was changed on both sides and one version cannot be read: {problem.message}",
        "Repair that version and commit it, then run the command again; nothing was merged.",
    )


def _renamed(clash: RenamedId, path: str, *sides: tuple) -> list[tuple]:  # type: ignore[type-arg]
    names = {clash.old: clash.new}
    wanted = 0 if clash.side == OURS else 1
    changed = parse_items(with_new_names(render_items(sides[wanted]).decode(), names).encode(), path)
    return [changed if place == wanted else side for place, side in enumerate(sides)]


def _events(file: FileVersions) -> MergedFile:
    return MergedFile(merge_ledger(file.base or b"", file.ours, file.theirs, file.cited))


def _object(merge: MergeRecords) -> Callable[[FileVersions], MergedFile]:
    """The rule for a JSON object; where a version is none, both are kept as text."""

    def rule(file: FileVersions) -> MergedFile:
        record = merge_records(merge, file.base, file.ours, file.theirs)
        return _text(file) if record is None else MergedFile(record)

    return rule


_Texts = tuple[str, str, str]


def _of_texts(rule: Callable[[FileVersions, _Texts], MergedFile]) -> Callable[[FileVersions], MergedFile]:
    """The rule for a file of text; where a version is none, one stands beside the other."""

    def merge(file: FileVersions) -> MergedFile:
        texts = _texts(file)
        return _either(file) if texts is None else rule(file, texts)

    return merge


def _page(file: FileVersions, texts: _Texts, is_note: bool = False) -> MergedFile:
    base = None if file.base is None else texts[0]
    page = merge_page(base, texts[1], texts[2], file.policy.side, is_note)
    return MergedFile(page.text.encode(), _conflicts(TEXT, file.path, page.conflicts), page.stale)


def _task(file: FileVersions, texts: _Texts) -> MergedFile:
    merged = merge_task(None if file.base is None else texts[0], texts[1], texts[2], file.policy.side)
    named = (MergeConflict(SETTING, file.path, None, f"{file.path} {words}") for words in merged.rivals)
    return MergedFile(merged.text.encode(), (*_conflicts(TEXT, file.path, merged.conflicts), *named))


def _yaml(file: FileVersions, texts: _Texts) -> MergedFile:
    report = TextMergeReport()
    text = merge_lines(*texts, keeping_keys(report, file.policy.side))
    return MergedFile(text.encode(), _conflicts(SETTING, file.path, report.conflicts))


@_of_texts
def _text(file: FileVersions, texts: _Texts) -> MergedFile:
    # In a program or a table two additions at one place are no more two paragraphs than two versions are.
    report = TextMergeReport()
    text = merge_lines(*texts, counting(report))
    return _either(file) if report.conflicts else MergedFile(text.encode())


# For each value of a kind's `merge`, the rule for a file that both sides changed.
RULES: Mapping[str, Callable[[FileVersions], MergedFile]] = {
    kinds.FACTS: _facts,
    kinds.EVENTS: _events,
    kinds.RECORD: _object(merged_object),
    kinds.PROPOSAL: _object(merged_proposal),
    kinds.CURSOR: _object(merged_cursor),
    kinds.ADAPTATION: _object(latest_adaptation),
    kinds.ACCESSES: _object(summed_accesses),
    kinds.SESSION: _object(merged_session),
    kinds.DIGESTION: _object(merged_digestion),
    kinds.REDACTIONS: _object(merged_object),
    kinds.PAGE: _of_texts(_page),
    kinds.NOTE: _of_texts(partial(_page, is_note=True)),
    kinds.TASK: _of_texts(_task),
    kinds.YAML: _of_texts(_yaml),
    kinds.NAMES: _of_texts(
        lambda file, texts: MergedFile(merge_lines(*texts, lambda *sides: list(merged_names(*sides))).encode())
    ),
    kinds.TEXT: _text,
}


def _texts(file: FileVersions) -> _Texts | None:
    """The three versions as text, or None where one is not text; NeedsDecision where one has conflict markers."""
    before, text, other = (_decoded(data) for data in (file.base or b"", file.ours, file.theirs))
    if before is None or text is None or other is None:
        return None
    refuse_conflict_markers(text, file.path)
    refuse_conflict_markers(other, file.path)
    return before, text, other


def _decoded(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _conflicts(kind: str, path: str, number: int) -> tuple[MergeConflict, ...]:
    if not number:
        return ()
    what = "values" if kind == SETTING else "versions"
    places = "one place" if number == 1 else f"{number} places"
    return (MergeConflict(kind, path, None, f"{path} has two {what} in {places}"),)


def _either(file: FileVersions) -> MergedFile:
    """One version as the file, and the other one beside it unless the policy names a side."""
    path, side = file.path, file.policy.side
    if side is not None:
        content = file.ours if side == OURS else file.theirs
        return MergedFile(content, (MergeConflict(FILE, path, None, f"{path} is a side's"),))
    conflict = MergeConflict(FILE, path, None, f"{path} cannot be merged; the other version is stored beside it")
    return MergedFile(max(file.ours, file.theirs), (conflict,), beside=min(file.ours, file.theirs))


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
    before, parts, other = _parted(base or ""), _parted(ours), _parted(theirs)
    front = merge_lines(before.front, parts.front, other.front, keeping_keys(report, side))
    rule: ConflictRule = notes_rule if is_note else prose_rule(report, side)
    body = merge_lines(before.body, parts.body, other.body, rule)
    generated, stale = _generated(before.generated if base else None, parts.generated, other.generated, is_note)
    text = front + body
    return MergedPage(text if generated is None else with_generated(text, generated), stale, report.conflicts)


def _parted(text: str) -> _PageParts:
    head, rest = divided(text)
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
