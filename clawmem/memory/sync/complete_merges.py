"""Git's own merges completed: git shows its merge driver one file at a time, and facts hang together across files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clawmem.errors import ClawmemError, Locked, NotPermitted, Refused, StorageFailed
from clawmem.memory.sync.apply_remote import make_anew
from clawmem.memory.sync.merge_plan import Whole, policy_for, whole_merge
from clawmem.memory.writing import WriteScope
from clawmem.model.merging.files.merge import merge_file
from clawmem.model.merging.moves import Files
from clawmem.model.merging.policy import FAIL, REVIEW, MergePolicy
from clawmem.model.merging.tree import MergedTree, merge_trees, unify_moved_entities
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.layout import is_owned
from clawmem.vault.history.git_merges import COMPLETES, GitMerge, is_completed, leave, left
from clawmem.vault.vault import Vault

# Whoever starts it, it is done on behalf of the vault: `model/permission.py` counts it among upkeep.
OP = "complete"
_PASSING = (NotPermitted, Refused, Locked, StorageFailed)


class CompletedMerges(NamedTuple):
    """The commits that were made, and the merges that are left to the next caller: something was in the way now that
    need not be there then."""

    commits: tuple[str, ...] = ()
    left: tuple[GitMerge, ...] = ()


def complete_merges(work: WriteScope, merges: Iterable[GitMerge]) -> CompletedMerges:
    """Do what git could not: ids and chains across files, entities that moved, values that contradict each other by the
    catalog. One commit for each merge that needs it, which names the merge, so that no other clone does it again; what
    a person decided in the merge stays. Those that an earlier command left come first."""
    commits: list[str] = []
    later: list[GitMerge] = []
    wanted = tuple(dict.fromkeys((*left(work.vault), *merges)))
    leave(work.vault, wanted)  # killed meanwhile, the next command goes on
    for one in wanted:
        try:
            commits += _complete(work, one)
        except ClawmemError as problem:
            work.started.notices.append(f"the merge {one.commit[:12]} is not completed: {problem.message}")
            later += [one] if isinstance(problem, _PASSING) else []
    leave(work.vault, later)
    return CompletedMerges(tuple(commits), tuple(later))


def _complete(work: WriteScope, one: GitMerge) -> tuple[str, ...]:
    if is_completed(work.vault, one):
        return ()
    policy = policy_for(work.vault, _policy(work.vault), one.ours, one.theirs)
    whole = whole_merge(work.vault, one.ours, one.theirs, policy)
    made, wanted = _as_made(work.vault, one, whole, policy)
    lacking = [path for path, data in wanted.items() if data != made[path]]
    commits: tuple[str, ...] = ()
    if lacking:
        at_merge, whole_now = ({path: side[path] for path in lacking} for side in (made, wanted))
        writes = _since(work, one, at_merge, whole_now, policy)
        commits = work.commit([_change(work, one, whole.merged, writes)], OP) if writes else ()
        work.bring_index()
    return (*commits, *make_anew(work, whole.merged.stale))


def _as_made(vault: Vault, one: GitMerge, whole: Whole, policy: MergePolicy) -> tuple[Files, Files]:
    """The files that the merge is about, as its commit holds them and as it should: what the two sides together come
    to, and of a file that a person decided about, with that decision."""
    paths = sorted(path for path in whole.merged.files if is_owned(path))
    made = vault.contents_at(one.commit, paths)
    files = {path: whole.merged.files[path] for path in paths}
    alone = {path: _alone(path, whole, made[path]) for path in paths}
    if alone == made:
        return made, files
    done = merge_trees(alone, made, files, policy).files
    return {path: made.get(path) for path in done}, done


def _alone(path: str, whole: Whole, made: bytes | None) -> bytes | None:
    """What git and the driver make of one file by themselves; what stands there where they could not, or where git
    followed a folder that one side moved."""
    sides = whole.base.get(path), whole.ours.get(path), whole.theirs.get(path)
    if made in sides[1:]:
        return made
    try:
        merged = merge_file(path, *sides)
        return made if made in _followed(path, whole) else merged.content
    except ClawmemError:
        return made


def _followed(path: str, whole: Whole) -> Iterator[bytes | None]:
    """What a file has become where each side's moves are followed."""
    base, ours, theirs = unify_moved_entities(whole.base, whole.ours, whole.theirs)
    yield merge_file(path, base.get(path), ours.get(path), theirs.get(path)).content


def _since(work: WriteScope, one: GitMerge, made: Files, wanted: Files, policy: MergePolicy) -> dict[str, bytes | None]:
    """What the merge lacks, brought to the vault as it is now: entities may have moved since, and facts gone on."""
    vault = work.vault
    head = vault.head().commit
    paths = [path for path in vault.changes_between(one.commit, head or one.commit) if is_owned(path)]
    then = {**vault.contents_at(one.commit, paths), **made}
    now = {path: work.read(path) for path in then}
    done = merge_trees(then, now, {**then, **wanted}, policy).files
    return {path: data for path, data in done.items() if data != now.get(path)}


def _policy(vault: Vault) -> str:
    """The vault's policy; a merge that is made already cannot fail any more, so then a person is asked."""
    name = vault.settings.words("sync.conflict")
    return REVIEW if name == FAIL else name


def _change(work: WriteScope, one: GitMerge, whole: MergedTree, writes: dict[str, bytes | None]) -> Change:
    facts = [twin.other for twin in whole.twins] + [clash.new for clash in whole.renamed]
    facts += [conflict.fact for conflict in whole.conflicts if conflict.fact]
    rows = trailers(OP, facts=facts, agent=work.caller.agent, session=work.caller.session)
    filed = tuple(("Proposal", each) for each in whole.proposals if f"review/{each}.json" in writes)
    filed = (*filed, (COMPLETES, one.commit))
    words = f"what git could not see in the merge {one.commit[:12]}"
    return Change(subject_line(OP, "vault", words), writes, (*rows, *filed))
