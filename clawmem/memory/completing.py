"""Git's own merges completed: git shows its merge driver one file at a time, and facts hang together across files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.errors import ClawmemError, Locked, NotPermitted, Refused, StorageFailed
from clawmem.memory.merging import policy_for, sides_of
from clawmem.memory.writing import Writing
from clawmem.model.change import Change, subject_line, trailers
from clawmem.model.layout import is_owned
from clawmem.model.merging.files import merge_file
from clawmem.model.merging.moves import Files
from clawmem.model.merging.policy import FAIL, REVIEW
from clawmem.model.merging.tree import Merged, merge_trees
from clawmem.vault.merges import GitMerge, leave, left
from clawmem.vault.vault import Vault

# Whoever starts it, it is done on behalf of the vault: `model/permission.py` counts it among upkeep.
OP = "complete"
_PASSING = (NotPermitted, Refused, Locked, StorageFailed)


class Completed(NamedTuple):
    """The commits that were made, and the merges that are left to the next caller: something was in the way now that
    need not be there then."""

    commits: tuple[str, ...] = ()
    left: tuple[GitMerge, ...] = ()


def complete_merges(work: Writing, merges: Iterable[GitMerge]) -> Completed:
    """Do what git could not: ids and chains across files, entities that moved, values that contradict each other by the
    catalog. One commit for each merge that needs it; what a person decided in the merge stays. Those that an earlier
    command left come first."""
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
    return Completed(tuple(commits), tuple(later))


def _complete(work: Writing, one: GitMerge) -> tuple[str, ...]:
    base, ours, theirs = sides_of(work.vault, one.ours, one.theirs)
    policy = policy_for(work.vault, _policy(work.vault), one.ours, one.theirs)
    whole = merge_trees(base, ours, theirs, policy)
    paths = sorted(path for path in whole.files if is_owned(path))
    now = {path: work.read(path) for path in paths}
    alone = {path: _alone(path, base, ours, theirs, now) for path in paths}
    done = merge_trees(alone, now, {path: whole.files[path] for path in paths}, policy)
    writes = {path: data for path, data in done.files.items() if data != now.get(path)}
    return work.commit([_change(work, one, whole, writes)], OP) if writes else ()


def _policy(vault: Vault) -> str:
    """The vault's policy; a merge that is made already cannot fail any more, so then a person is asked."""
    name = vault.settings.words("sync.conflict")
    return REVIEW if name == FAIL else name


def _alone(path: str, base: Files, ours: Files, theirs: Files, now: Files) -> bytes | None:
    """What the driver made of one file, or what stands there where it could not."""
    try:
        merged = merge_file(path, base.get(path), ours.get(path), theirs.get(path))
    except ClawmemError:
        return now[path]
    return merged.content


def _change(work: Writing, one: GitMerge, whole: Merged, writes: dict[str, bytes | None]) -> Change:
    facts = [twin.other for twin in whole.twins] + [clash.new for clash in whole.renamed]
    facts += [conflict.fact for conflict in whole.conflicts if conflict.fact]
    rows = trailers(OP, facts=facts, agent=work.caller.agent, session=work.caller.session)
    filed = tuple(("Proposal", each) for each in whole.proposals if f"review/{each}.json" in writes)
    words = f"what git could not see in the merge {one.commit[:12]}"
    return Change(subject_line(OP, "vault", words), writes, (*rows, *filed))
