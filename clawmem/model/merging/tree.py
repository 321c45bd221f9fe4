"""Merge a whole vault: every file that differs on any side, and facts by id across files.

Follow entities that one side moved, so that the other side's files move along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import ITEMS_FILE, LOG, PROPOSAL_FILE, file_kind, handling
from clawmem.model.merging.collisions import (
    RenamedId,
    collisions,
    front_matters,
    join_duplicate_ids,
    proposal_id,
    with_new_names,
)
from clawmem.model.merging.facts import DuplicateFact, MergedFacts, merge_facts
from clawmem.model.merging.fields import OURS, VALUES, MergeConflict, MergePolicy, three_way
from clawmem.model.merging.files import merge_file, unreadable_version
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.proposals.proposal import OPEN, SUPERSEDE, Proposal, parse_proposal, proposal_path, render_proposal
from clawmem.model.records.entity import ITEMS, SUMMARY, folder_of, name_of_path

Trees = tuple[dict[str, bytes | None], dict[str, bytes | None], dict[str, bytes | None]]


class MergedTree(NamedTuple):
    """The result of a merge.

    `files` holds every file that differs on any side (None if deleted). `proposals` are the ids of the filed ones.
    `twins` are equal facts that were joined, `renamed` are facts with a new id, and `stale` are the pages whose
    generated part must be generated again.
    """

    files: Mapping[str, bytes | None]
    conflicts: tuple[MergeConflict, ...] = ()
    proposals: tuple[str, ...] = ()
    twins: tuple[DuplicateFact, ...] = ()
    renamed: tuple[RenamedId, ...] = ()
    stale: tuple[str, ...] = ()


def merge_trees(base: Files, ours: Files, theirs: Files, policy: MergePolicy = MergePolicy()) -> MergedTree:  # noqa: B008
    """Merge two sides of a vault.

    The three mappings hold every path that differs between any two of them; the content is None if a side has no such
    file. Raise NeedsDecision if both sides changed a file of facts and one version cannot be read.
    """
    trees = unify_moved_entities(base, ours, theirs)
    before, clashes = _one_meaning_each(trees)
    base_facts, our_facts, their_facts = (
        join_duplicate_ids(_readable(side, before), front_matters(side))[0] for side in before
    )
    facts = merge_facts(base_facts, our_facts, their_facts, policy)
    files, conflicts, stale = _others(before, facts, policy)
    for path, shelve in facts.shelves.items():
        files[path] = _written(path, shelve, before)
    proposals = _filed(files, facts)
    gone = dict.fromkeys({*base, *ours, *theirs} - files.keys())
    return MergedTree({**files, **gone}, (*facts.conflicts, *conflicts), proposals, facts.twins, clashes, tuple(stale))


def unify_moved_entities(base: Files, ours: Files, theirs: Files) -> Trees:
    """Return the three sides with each moved entity under one name."""
    names = common_names(find_moves(base, ours), find_moves(base, theirs))
    return rename_folders(base, names[0]), rename_folders(ours, names[1]), rename_folders(theirs, names[2])


def _one_meaning_each(trees: Trees) -> tuple[Trees, tuple[RenamedId, ...]]:
    """Return the three sides with each id naming one fact; a new id replaces the old one everywhere on its side."""
    base, *sides = trees
    facts = [_readable(side, trees) for side in trees]
    clashes = tuple(collisions(*facts))
    for side, number in ((OURS, 0), ("theirs", 1)):
        names = {clash.old: clash.new for clash in clashes if clash.side == side}
        sides[number] = {path: _with_names(path, data, names) for path, data in sides[number].items()}
    return (base, sides[0], sides[1]), clashes


def _with_names(path: str, data: bytes | None, names: Mapping[str, str]) -> bytes | None:
    """Return a file with new ids; ledgers are never changed."""
    if data is None or not names or handling(path).owner == LOG:
        return data
    try:
        return with_new_names(data.decode(), names).encode()
    except UnicodeDecodeError:
        return data


def _readable(side: Files, trees: Trees) -> dict[str, tuple[Fact, ...]]:
    """Return the facts of each file that is readable on all sides; raise NeedsDecision if both changed another one."""
    found = {}
    for path, data in side.items():
        if file_kind(path) is ITEMS_FILE and not _is_broken(path, trees):
            found[path] = parse_items(data, path) if data is not None else ()
    return found


def _is_broken(path: str, trees: Trees) -> bool:
    base, ours, theirs = (side.get(path) for side in trees)
    try:
        for data in (base, ours, theirs):
            if data is not None:
                parse_items(data, path)
    except ClawmemError as problem:
        if len({base, ours, theirs}) < 3:
            return True  # only one side changed it: that version is taken as a whole
        raise unreadable_version(path, problem) from problem
    return False


def _others(
    trees: Trees, facts: MergedFacts, policy: MergePolicy
) -> tuple[dict[str, bytes | None], list[MergeConflict], list[str]]:
    base, ours, theirs = trees
    cited = {fact.source_event for shelve in facts.shelves.values() for fact in shelve if fact.source_event}
    files: dict[str, bytes | None] = {}
    conflicts: list[MergeConflict] = []
    stale: list[str] = []
    for path in sorted({*base, *ours, *theirs} - facts.shelves.keys()):
        merged = merge_file(path, base.get(path), ours.get(path), theirs.get(path), policy, cited)
        files[path] = merged.content
        conflicts += merged.conflicts
        stale += [path] if merged.stale else []
        if merged.beside is not None:
            files[_beside(path, merged.beside)] = merged.beside
    return files, conflicts, stale


def _beside(path: str, data: bytes) -> str:
    """Return a name for the other version of a file, the same on every machine."""
    from hashlib import sha256  # files that cannot be merged are rare

    folder, slash, last = path.rpartition("/")
    stem, dot, ending = last.rpartition(".")
    mark = f"other-{sha256(data).hexdigest()[:8]}"
    return f"{folder}{slash}{stem}.{mark}.{ending}" if stem and dot else f"{path}.{mark}"


def _written(path: str, items: tuple[Fact, ...], trees: Trees) -> bytes | None:
    """Return the bytes of a fact file: a side's own bytes if equal, or None if it is empty and a side deleted it."""
    base, ours, theirs = (side.get(path) for side in trees)
    if not items and not three_way(base is not None, ours is not None, theirs is not None, max):
        return None
    same = [data for data in (ours, theirs) if data is not None and parse_items(data, path) == items]
    changed = [data for data in same if data != base]
    return max(changed or same) if same else render_items(items)


def _filed(files: dict[str, bytes | None], facts: MergedFacts) -> tuple[str, ...]:
    """Add the proposals to the files, except those already decided about the same facts."""
    filed = []
    for conflict, proposal in facts.questions:
        wanted = _asked(files, conflict, proposal)
        if wanted is not None:
            files.update(dict.fromkeys(_narrower(files, wanted)) if conflict.kind == VALUES else {})
            files[proposal_path(wanted.id)] = render_proposal(wanted)
            filed.append(wanted.id)
    return tuple(filed)


def _narrower(files: Files, wanted: Proposal) -> list[str]:
    """Return the paths of open questions about a part of the facts of a new question."""
    about = {target.id for target in wanted.targets}
    paths = [path for path, data in files.items() if data is not None and file_kind(path) is PROPOSAL_FILE]
    return [path for path in paths if _asks_about(files[path] or b"", path) < about]


def _asks_about(data: bytes, path: str) -> set[str]:
    """Return the facts that an open question is about; other files return a value that matches no question."""
    try:
        known = parse_proposal(data, path)
    except ClawmemError:
        return {""}
    is_question = (known.kind, known.does, known.status) == ("conflict", SUPERSEDE, OPEN)
    return {target.id for target in known.targets} if is_question and known.targets else {""}


def _asked(files: Files, conflict: MergeConflict, proposal: Proposal) -> Proposal | None:
    path = proposal_path(proposal.id)
    known = files.get(path)
    if known is None:
        return proposal
    earlier = parse_proposal(known, path)
    if {target.id for target in earlier.targets} == {target.id for target in proposal.targets}:
        return None if earlier.status != OPEN else proposal
    if earlier.status == OPEN:
        return proposal
    return proposal._replace(id=proposal_id(conflict, *(target.id for target in proposal.targets)))


Files = Mapping[str, bytes | None]


def find_moves(base: Files, side: Files) -> dict[str, str]:
    """Return the new name of each entity that a side moved.

    An entity moved if its folder is gone and exactly one new folder has all its facts or lists it as a former place.
    """
    gone = [name for name in _names(base) if _is_there(base, name) and not _is_there(side, name)]
    fresh = [name for name in _names(side) if _is_there(side, name) and not _is_there(base, name)]
    found = {}
    for old in gone:
        targets = [new for new in fresh if _followed(base, side, old, new)]
        if len(targets) == 1:
            found[old] = targets[0]
    return found


def _names(files: Files) -> list[str]:
    names = {name_of_path(path) for path, data in files.items() if data is not None}
    return sorted(name for name in names if name)


def _is_there(files: Files, name: str) -> bool:
    folder = folder_of(name)
    return any(files.get(f"{folder}/{last}") is not None for last in (ITEMS, SUMMARY))


def _followed(base: Files, side: Files, old: str, new: str) -> bool:
    before = _ids(base, old)
    if before and before <= _ids(side, new):
        return True
    page = (side.get(f"{folder_of(new)}/{SUMMARY}") or b"").decode(errors="replace")
    return f'"{old}"' in (split_front_matter(page)[0] or "")


def _ids(files: Files, name: str) -> set[str]:
    path = f"{folder_of(name)}/{ITEMS}"
    try:
        return {fact.id for fact in parse_items(files.get(path) or b"[]", path)}
    except ClawmemError:
        return set()


def common_names(
    ours: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the renames to apply to the base, to ours and to theirs, so that each entity has one name.

    Where both sides moved an entity, the name that sorts last wins.
    """
    base = {old: max(name for name in (ours.get(old), theirs.get(old)) if name) for old in sorted({*ours, *theirs})}
    mine, yours = ({moved.get(old, old): target for old, target in base.items()} for moved in (ours, theirs))
    return base, mine, yours


def rename_folders(files: Files, names: Mapping[str, str]) -> dict[str, bytes | None]:
    """Return the files with some entity folders renamed; a file that already exists at the new path is kept."""
    folders = {folder_of(old) + "/": folder_of(new) + "/" for old, new in names.items() if old != new}
    found = dict(files)
    for path, target in _targets(files, folders):
        if found.get(target) is None:
            found[target] = found[path]
            found[path] = None
    return found


def _targets(files: Files, folders: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path, data in files.items():
        for old, new in folders.items():
            rest = path.removeprefix(old)
            if data is not None and rest != path and "/" not in rest:
                yield path, new + rest
