"""Git's own merges completed: git shows its merge driver one file at a time, and facts hang together across files."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.errors import ClawmemError
from clawmem.memory.merging import policy_for, sides_of
from clawmem.memory.writing import Writing
from clawmem.model.change import Change, subject_line, trailers
from clawmem.model.layout import is_owned
from clawmem.model.merging.files import merge_file
from clawmem.model.merging.moves import Files
from clawmem.model.merging.policy import REVIEW
from clawmem.model.merging.tree import Merged, merge_trees
from clawmem.vault.merges import GitMerge

OP = "complete"


def complete_merges(work: Writing, merges: Iterable[GitMerge]) -> tuple[str, ...]:
    """Do what git could not: ids and chains across files, entities that moved. One commit for each merge that needs it;
    what a person decided in the merge stays. Returns the commits."""
    commits: list[str] = []
    for one in merges:
        try:
            commits += _complete(work, one)
        except ClawmemError as problem:
            work.started.notices.append(f"the merge {one.commit[:12]} is not completed: {problem.message}")
    return tuple(commits)


def _complete(work: Writing, one: GitMerge) -> tuple[str, ...]:
    base, ours, theirs = sides_of(work.vault, one.ours, one.theirs)
    policy = policy_for(work.vault, REVIEW, one.ours, one.theirs)
    whole = merge_trees(base, ours, theirs, policy)
    paths = sorted(path for path in whole.files if is_owned(path))
    now = {path: work.read(path) for path in paths}
    alone = {path: _alone(path, base, ours, theirs, now) for path in paths}
    done = merge_trees(alone, now, {path: whole.files[path] for path in paths}, policy)
    writes = {path: data for path, data in done.files.items() if data != now.get(path)}
    return work.commit([_change(work, one, whole, writes)]) if writes else ()


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
