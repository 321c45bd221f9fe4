"""Complete merges made by git. The merge driver sees one file at a time, but facts depend on facts in other files.

Merge duplicate ids: one fact id in several entities. Copies committed with git, merges by git and older versions of
clawmem cause them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from clawmem.errors import ClawmemError, Locked, NotPermitted, Refused, StorageFailed
from clawmem.index.refresh import record_duplicates
from clawmem.index.tables.store import duplicate_ids
from clawmem.memory.scope import WriteScope
from clawmem.memory.sync.merge_plan import FullMerge, merge_commits, policy_for, regenerate_pages
from clawmem.model.facts.codec import render_items
from clawmem.model.language.text import counted
from clawmem.model.merging.collisions import JoinedId, front_matters, join_duplicate_ids
from clawmem.model.merging.fields import FAIL, REVIEW, MergePolicy
from clawmem.model.merging.files import merge_file
from clawmem.model.merging.tree import Files, MergedTree, merge_trees, unify_moved_entities
from clawmem.model.pages.summary import split_front_matter, with_generated
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, items_path, name_of_path, summary_path
from clawmem.model.records.layout import is_owned
from clawmem.vault.history.git_merges import (
    COMPLETES,
    GitMerge,
    is_completed,
    read_unfinished_merges,
    write_unfinished_merges,
)
from clawmem.vault.vault import Vault

# The vault itself is the author, whoever runs the command: the permission rules list it as upkeep.
OP, UNITE = "complete", "unite"
_RETRYABLE = (NotPermitted, Refused, Locked, StorageFailed)


class CompletedMerges(NamedTuple):
    """The new commits, and the merges that were postponed because of a passing problem, such as a lock."""

    commits: tuple[str, ...] = ()
    postponed: tuple[GitMerge, ...] = ()


def complete_merges(work: WriteScope, merges: Iterable[GitMerge]) -> CompletedMerges:
    """Repair what git could not merge: ids and chains across files, moved entities, and contradicting values.

    Each merge that needs it gets one commit. The commit names the merge, so that other clones skip it. Decisions of
    a person in the merge are kept. Postponed merges come first."""
    commits: list[str] = []
    postponed: list[GitMerge] = []
    wanted = tuple(dict.fromkeys((*read_unfinished_merges(work.vault), *merges)))
    write_unfinished_merges(work.vault, wanted)  # if this process is killed, the next command continues
    for merge in wanted:
        try:
            commits += _complete(work, merge)
        except ClawmemError as problem:
            work.transaction.notices.append(f"the merge {merge.commit[:12]} is not completed: {problem.message}")
            postponed += [merge] if isinstance(problem, _RETRYABLE) else []
    write_unfinished_merges(work.vault, postponed)
    return CompletedMerges(tuple(commits), tuple(postponed))


def _complete(work: WriteScope, merge: GitMerge) -> tuple[str, ...]:
    if is_completed(work.vault, merge):
        return ()
    policy = policy_for(work.vault, _policy_name(work.vault), merge.ours, merge.theirs)
    whole = merge_commits(work.vault, merge.ours, merge.theirs, policy)
    made, wanted = _committed_and_expected(work.vault, merge, whole, policy)
    lacking = [path for path, data in wanted.items() if data != made[path]]
    commits: tuple[str, ...] = ()
    if lacking:
        at_merge, whole_now = ({path: side[path] for path in lacking} for side in (made, wanted))
        writes = _writes_now(work, merge, at_merge, whole_now, policy)
        commits = work.commit([_change(work, merge, whole.merged, writes)], OP) if writes else ()
        work.update_index()
    return (*commits, *regenerate_pages(work, whole.merged.stale))


def _committed_and_expected(
    vault: Vault, merge: GitMerge, whole: FullMerge, policy: MergePolicy
) -> tuple[Files, Files]:
    """Return the merged files as the merge commit has them, and as they should be.

    If a person changed a file during the merge, the expected content includes that change."""
    paths = sorted(path for path in whole.merged.files if is_owned(path))
    made = vault.contents_at(merge.commit, paths)
    files = {path: whole.merged.files[path] for path in paths}
    alone = {path: _merged_alone(path, whole, made[path]) for path in paths}
    if alone == made:
        return made, files
    record = merge_trees(alone, made, files, policy).files
    return {path: made.get(path) for path in record}, record


def _merged_alone(path: str, whole: FullMerge, made: bytes | None) -> bytes | None:
    """Return what git and the driver make of one file alone.

    Return the committed content if they cannot merge it, or if git followed a moved folder."""
    sides = whole.base.get(path), whole.ours.get(path), whole.theirs.get(path)
    if made in sides[1:]:
        return made
    try:
        merged = merge_file(path, *sides)
        return made if made in _merged_with_moves(path, whole) else merged.content
    except ClawmemError:
        return made


def _merged_with_moves(path: str, whole: FullMerge) -> Iterator[bytes | None]:
    """Yield the merged file with the moves of both sides applied."""
    base, ours, theirs = unify_moved_entities(whole.base, whole.ours, whole.theirs)
    yield merge_file(path, base.get(path), ours.get(path), theirs.get(path)).content


def _writes_now(
    work: WriteScope, merge: GitMerge, made: Files, wanted: Files, policy: MergePolicy
) -> dict[str, bytes | None]:
    """Return the missing changes as writes to the current vault, which may have changed since the merge."""
    vault = work.vault
    head = vault.head().commit
    paths = [path for path in vault.changed_paths(merge.commit, head or merge.commit) if is_owned(path)]
    then = {**vault.contents_at(merge.commit, paths), **made}
    now = {path: work.read(path) for path in then}
    record = merge_trees(then, now, {**then, **wanted}, policy).files
    return {path: data for path, data in record.items() if data != now.get(path)}


def _policy_name(vault: Vault) -> str:
    """Return the conflict policy. A finished merge cannot fail, so `fail` becomes `review`."""
    name = vault.settings.words("sync.conflict")
    return REVIEW if name == FAIL else name


def _change(work: WriteScope, merge: GitMerge, whole: MergedTree, writes: dict[str, bytes | None]) -> Change:
    facts = [twin.other for twin in whole.twins] + [clash.new for clash in whole.renamed]
    facts += [conflict.fact for conflict in whole.conflicts if conflict.fact]
    rows = trailers(OP, facts=facts, agent=work.caller.agent, session=work.caller.session)
    filed = tuple(("Proposal", each) for each in whole.proposals if f"review/{each}.json" in writes)
    filed = (*filed, (COMPLETES, merge.commit))
    words = f"what git could not see in the merge {merge.commit[:12]}"
    return Change(subject_line(OP, "vault", words), writes, (*rows, *filed))


def merge_duplicate_ids(work: WriteScope) -> tuple[str, ...]:
    """Keep each duplicate id in one file, and return the commits.

    If a fact ended in one file, it ends. Different statements are kept as separate facts. Unreadable files are
    skipped."""
    doubled = duplicate_ids(work.index)
    names = sorted({name for places in doubled.values() for name in places})
    if not names:
        return ()
    try:
        commits = work.commit([_uniting_change(work, names)], UNITE)
    except ClawmemError as problem:
        work.transaction.notices.append(f"{counted(len(doubled), 'id')} exist twice: {problem.message}")
        return ()
    work.update_index()
    with work.index.writing():
        record_duplicates(work.index)
    return commits


def _uniting_change(work: WriteScope, names: Collection[str]) -> Change:
    shelves = {items_path(name): tuple(work.facts(name)) for name in names}
    pages = {summary_path(name): work.read(summary_path(name)) for name in names}
    single, joined = join_duplicate_ids(shelves, front_matters(pages))
    writes: dict[str, bytes | None] = {
        path: render_items(facts) for path, facts in single.items() if facts != shelves[path]
    }
    for path in [path for path in writes if not single[path]]:
        writes.update(_removed_files(path, pages, joined))
    ids = [joined_id.id for joined_id in joined] + [fact_id for other_id in joined for fact_id in other_id.beside]
    rows = trailers(UNITE, facts=ids, entities=names, agent=work.caller.agent, session=work.caller.session)
    words = f"{counted(len(joined), 'id')} existed in several entities, and now in one each"
    work.transaction.notices.append(
        f"{words}: {', '.join(dict.fromkeys(f'{name_of_path(other_id.kept)} keeps them' for other_id in joined))}"
    )
    return Change(
        subject_line(UNITE, "vault", words), writes, rows, "\n".join(f"- {_describe(other_id)}" for other_id in joined)
    )


def _removed_files(path: str, pages: dict[str, bytes | None], joined: Collection[JoinedId]) -> dict[str, bytes | None]:
    """Return the deletion of an entity that has no facts left and is the former place of another one.

    The entity is kept if its page has text that the other page lacks."""
    name = name_of_path(path) or path
    kept = {name_of_path(other_id.kept) or "" for other_id in joined if path in other_id.left}
    page = summary_path(name)
    own = _lines(pages.get(page))
    for other in kept:
        theirs = pages.get(summary_path(other))
        if f'"{name}"' in (split_front_matter((theirs or b"").decode(errors="replace"))[0] or "") and own <= _lines(
            theirs
        ):
            return {path: None, **({page: None} if pages.get(page) is not None else {})}
    return {}


def _lines(page: bytes | None) -> set[str]:
    """Return the lines that a person wrote on a page, without the title."""
    _, rest = split_front_matter((page or b"").decode(errors="replace"))
    return {
        line.strip() for line in with_generated(rest, "").splitlines() if line.strip() and not line.startswith("# ")
    }


def _describe(other_id: JoinedId) -> str:
    beside = f"; other statements with this id are now {', '.join(other_id.beside)}" if other_id.beside else ""
    left = ", ".join(path.removesuffix(f"/{ITEMS}") for path in other_id.left)
    return f"{other_id.id} stays in {other_id.kept.removesuffix(f'/{ITEMS}')} and is removed from {left}{beside}"
