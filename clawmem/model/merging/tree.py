"""A whole vault merged: every file that differs anywhere, and facts by id whichever file they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError, NeedsDecision
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import ITEMS_FILE, LOG, PROPOSAL_FILE, file_kind, handling
from clawmem.model.merging.facts.collisions import RenamedId, collisions, with_new_names
from clawmem.model.merging.facts.doubles import fronts, united
from clawmem.model.merging.facts.duplicates import DuplicateFact
from clawmem.model.merging.facts.merge import MergedFacts, merge_facts
from clawmem.model.merging.facts.rivals import proposal_id
from clawmem.model.merging.facts.values import three_way
from clawmem.model.merging.files.merge import merge_file
from clawmem.model.merging.moves import Files, agreed, moves, renamed
from clawmem.model.merging.policy import OURS, VALUES, MergeConflict, MergePolicy
from clawmem.model.proposals.proposal import OPEN, SUPERSEDE, Proposal, proposal_path
from clawmem.model.proposals.proposal_file import parse_proposal, render_proposal

Trees = tuple[dict[str, bytes | None], dict[str, bytes | None], dict[str, bytes | None]]


class MergedTree(NamedTuple):
    """Every file that differs anywhere, as merged (None: gone); what was in conflict; proposals that were filed; equal
    facts that became one; facts that got another id; pages whose generated part must be made anew."""

    files: Mapping[str, bytes | None]
    conflicts: tuple[MergeConflict, ...] = ()
    proposals: tuple[str, ...] = ()
    twins: tuple[DuplicateFact, ...] = ()
    renamed: tuple[RenamedId, ...] = ()
    stale: tuple[str, ...] = ()


def merge_trees(base: Files, ours: Files, theirs: Files, policy: MergePolicy = MergePolicy()) -> MergedTree:  # noqa: B008
    """Merge two sides of a vault. The three hold every path that differs between any two of them, None where a side
    has no such file; what is in none of them is the same everywhere.

    Raises NeedsPerson, naming the file, where facts that both sides changed cannot be read.
    """
    trees = one_name_each(base, ours, theirs)
    before, clashes = _one_meaning_each(trees)
    base_facts, our_facts, their_facts = (united(_readable(side, before), fronts(side))[0] for side in before)
    facts = merge_facts(base_facts, our_facts, their_facts, policy)
    files, conflicts, stale = _others(before, facts, policy)
    for path, held in facts.shelves.items():
        files[path] = _written(path, held, before)
    proposals = _filed(files, facts)
    gone = dict.fromkeys({*base, *ours, *theirs} - files.keys())
    return MergedTree({**files, **gone}, (*facts.conflicts, *conflicts), proposals, facts.twins, clashes, tuple(stale))


def one_name_each(base: Files, ours: Files, theirs: Files) -> Trees:
    """The three sides with moved entities under one name."""
    names = agreed(moves(base, ours), moves(base, theirs))
    return renamed(base, names["base"]), renamed(ours, names["ours"]), renamed(theirs, names["theirs"])


def _one_meaning_each(trees: Trees) -> tuple[Trees, tuple[RenamedId, ...]]:
    """The three sides with no id for two facts: the new name goes wherever that side wrote the old one."""
    base, *sides = trees
    shelves = [_readable(side, trees) for side in trees]
    clashes = tuple(collisions(*shelves))
    for side, number in ((OURS, 0), ("theirs", 1)):
        names = {one.old: one.new for one in clashes if one.side == side}
        sides[number] = {path: _with_names(path, data, names) for path, data in sides[number].items()}
    return (base, sides[0], sides[1]), clashes


def _with_names(path: str, data: bytes | None, names: Mapping[str, str]) -> bytes | None:
    """A file with new ids; what was said is never changed."""
    if data is None or not names or handling(path).owner == LOG:
        return data
    try:
        return with_new_names(data.decode(), names).encode()
    except UnicodeDecodeError:
        return data


def _readable(side: Files, trees: Trees) -> dict[str, tuple[Fact, ...]]:
    """The facts of each file that all three sides can be read of; NeedsPerson where both changed one that cannot."""
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
            return True  # one side left it as it was: the other's version is taken as it is
        raise NeedsDecision(
            f"{path} was changed on both sides and one version cannot be read: {problem.message}",
            "Repair that version and commit it, then run the command again; nothing was merged.",
        ) from problem
    return False


def _others(
    trees: Trees, facts: MergedFacts, policy: MergePolicy
) -> tuple[dict[str, bytes | None], list[MergeConflict], list[str]]:
    base, ours, theirs = trees
    cited = {fact.source_event for held in facts.shelves.values() for fact in held if fact.source_event}
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
    """A name for the other version of a file, the same on every machine."""
    from hashlib import sha256  # files that cannot be merged are rare

    folder, slash, last = path.rpartition("/")
    stem, dot, ending = last.rpartition(".")
    mark = f"other-{sha256(data).hexdigest()[:8]}"
    return f"{folder}{slash}{stem}.{mark}.{ending}" if stem and dot else f"{path}.{mark}"


def _written(path: str, held: tuple[Fact, ...], trees: Trees) -> bytes | None:
    """A file of facts: a side's own bytes where they say just this; gone where it is empty and a side removed it."""
    base, ours, theirs = (side.get(path) for side in trees)
    if not held and not three_way(base is not None, ours is not None, theirs is not None, max):
        return None
    same = [data for data in (ours, theirs) if data is not None and parse_items(data, path) == held]
    changed = [data for data in same if data != base]
    return max(changed or same) if same else render_items(held)


def _filed(files: dict[str, bytes | None], facts: MergedFacts) -> tuple[str, ...]:
    """Put the proposals among the files; one that was decided about these very facts is not asked again."""
    filed = []
    for conflict, proposal in facts.questions:
        wanted = _asked(files, conflict, proposal)
        if wanted is not None:
            files.update(dict.fromkeys(_narrower(files, wanted)) if conflict.kind == VALUES else {})
            files[proposal_path(wanted.id)] = render_proposal(wanted)
            filed.append(wanted.id)
    return tuple(filed)


def _narrower(files: Files, wanted: Proposal) -> list[str]:
    """Open questions about some of the facts that a new one is about."""
    about = {one.id for one in wanted.targets}
    paths = [path for path, data in files.items() if data is not None and file_kind(path) is PROPOSAL_FILE]
    return [path for path in paths if _asks_about(files[path] or b"", path) < about]


def _asks_about(data: bytes, path: str) -> set[str]:
    """The facts that an open question is about; every other file asks about something else."""
    try:
        known = parse_proposal(data, path)
    except ClawmemError:
        return {""}
    is_question = (known.kind, known.does, known.status) == ("conflict", SUPERSEDE, OPEN)
    return {one.id for one in known.targets} if is_question and known.targets else {""}


def _asked(files: Files, conflict: MergeConflict, proposal: Proposal) -> Proposal | None:
    path = proposal_path(proposal.id)
    known = files.get(path)
    if known is None:
        return proposal
    earlier = parse_proposal(known, path)
    if {one.id for one in earlier.targets} == {one.id for one in proposal.targets}:
        return None if earlier.status != OPEN else proposal
    if earlier.status == OPEN:
        return proposal
    return proposal._replace(id=proposal_id(conflict, *(one.id for one in proposal.targets)))
