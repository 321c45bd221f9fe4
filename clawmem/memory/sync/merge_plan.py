"""Plan the merge of two commits, as changes on the first one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError, NeedsDecision, Refused
from clawmem.index.refresh import HeadChange
from clawmem.memory.scope import WriteScope
from clawmem.memory.sync.relation import OP, HistoryRelation, merge_change
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping, is_single
from clawmem.model.facts.stated_value import single_phrases
from clawmem.model.kinds import ITEMS_FILE, PAGE, YAML, file_kind, handling
from clawmem.model.language.text import counted
from clawmem.model.merging.fields import FAIL, FILE, NEWEST, OURS, THEIRS, MergeConflict, MergePolicy
from clawmem.model.merging.files import merge_file
from clawmem.model.merging.tree import Files, MergedTree, merge_trees
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.model.records.layout import CATALOG, is_owned
from clawmem.model.records.strict_json import UnreadFile
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.edits.hand_edits import check_file
from clawmem.vault.history.git_merges import add_unfinished_merges
from clawmem.vault.history.history import (
    EMPTY_TREE,
    REGULAR_MODE,
    FileVersion,
    Versions,
    commit_times,
    common_ancestors,
    diff_commits,
    last_commits_at,
    read_versions,
    rescue_ref_update,
)
from clawmem.vault.history.merge_commit import DROP_MERGE_REF, PAST_REF, Entries, fast_forward, write_merge
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

GONE, ALTERED = "gone", "altered"
# The maximum number of commits that are searched for the author.
_MAX_COMMITS = 100
_FORMAT = "--format=%H%x00%an <%ae>%x00%s"


class RemoteRemoval(NamedTuple):
    """A fact of ours that received commits removed (`gone`) or reworded (`altered`), with its former entity and words.

    `commit`, `author` and `subject` are None if no single commit did it."""

    fact: str
    how: str
    entity: str
    words: str
    commit: str | None = None
    author: str | None = None
    subject: str | None = None


def find_removals(
    vault: Vault, head: str, commit: str, tip: str, files: tuple[Files, Files] | None, reported: Collection[str] = ()
) -> tuple[RemoteRemoval, ...]:
    """Return our facts that were removed or reworded between `head` and `commit`, which includes `tip`.

    `files` are the changed files before and after, if they are known. The facts in `reported` are left out."""
    before, after = files or _changed_files(vault, head, commit)
    lost = {removal.fact: (path, removal) for path, removal in _removals(before, after) if removal.fact not in reported}
    return tuple(_with_commits(vault, head, tip, lost)) if lost else ()


def _changed_files(vault: Vault, old: str, new: str) -> tuple[Files, Files]:
    paths = [path for path in vault.changed_paths(old, new) if _is_items(path)]
    return vault.contents_at(old, paths), vault.contents_at(new, paths)


def _is_items(path: str) -> bool:
    return file_kind(path) is ITEMS_FILE


def _removals(before: Files, after: Files) -> Iterable[tuple[str, RemoteRemoval]]:
    """Compare the files by lines. Only lines that differ are parsed."""
    old = {path: _lines(data) for path, data in before.items() if _is_items(path)}
    new = frozenset(line for path, data in after.items() if _is_items(path) for line in _lines(data))
    known = frozenset(line for lines in old.values() for line in lines)
    now = dict(filter(None, map(_id_and_statement, new - known)))
    for path, lines in old.items():
        for line in lines:
            pair = _id_and_statement(line) if line not in new else None
            if pair is not None and now.get(pair[0]) != pair[1]:
                how = ALTERED if pair[0] in now else GONE
                yield path, RemoteRemoval(pair[0], how, name_of_path(path) or path, pair[1])


def _lines(data: bytes | None) -> list[bytes]:
    return [line for raw in (data or b"").split(b"\n") if (line := raw.strip().removesuffix(b",")).startswith(b"{")]


def _id_and_statement(line: bytes) -> tuple[str, str] | None:
    try:
        record = json.loads(line)
        return str(record["id"]), str(record["fact"])
    except (ValueError, KeyError, RecursionError):
        return None  # readers of the file report an unreadable line


def _with_commits(
    vault: Vault, head: str, tip: str, lost: Mapping[str, tuple[str, RemoteRemoval]]
) -> Iterable[RemoteRemoval]:
    """Yield the facts with the commit that changed each, newest first. Facts without a single commit come last."""
    left = dict(lost)
    paths = [f":(literal){path}" for path in dict.fromkeys(path for path, _ in lost.values())]
    # If a fact was moved first, it was removed from another file.
    asked = ("log", "--no-merges", f"-n{_MAX_COMMITS}", _FORMAT, f"{head}..{tip}", "--")
    for where in (paths, [f":(glob)**/{ITEMS}"]):
        for row in vault.git.run(*asked, *where).decode(errors="replace").splitlines() if left else ():
            commit, author, subject = row.split("\0")
            gone = {removal.fact: removal for _, removal in _removals(*_changed_files(vault, f"{commit}~1", commit))}
            for fact in [fact for fact in left if fact in gone]:
                yield left.pop(fact)[1]._replace(commit=commit, author=author, subject=subject)
    yield from (removal for _, removal in left.values())


class MergePlan(NamedTuple):
    """The changes of a merge on our side, and the merge result with its conflicts."""

    entries: Entries
    merged: MergedTree

    @property
    def conflicts(self) -> tuple[MergeConflict, ...]:
        """Return the conflicts of the merge."""
        return self.merged.conflicts


def policy_for(vault: Vault, name: str, ours: str, theirs: str) -> MergePolicy:
    """Return the merge policy with this name. The commit times decide which side is newer; the predicate catalog says
    which predicates have a single value."""
    times = commit_times(vault, ours, theirs) if name == NEWEST else ((), ())
    catalog = _catalog(vault)
    single = frozenset(predicate for predicate in catalog.predicates if is_single(catalog, predicate))
    return MergePolicy(name, OURS if times[0] > times[1] else THEIRS, single, single_phrases(catalog))


def _catalog(vault: Vault) -> Catalog:
    try:
        return vault.catalog
    except ClawmemError:
        # A stopped merge or an edit may have made it unreadable. Then the committed catalog is used.
        data = (vault.contents_at("HEAD", [CATALOG])[CATALOG] or b"").decode(errors="replace")
        return catalog_from_mapping(parse_yaml(data, CATALOG) or {})


def plan_merge(
    vault: Vault, commits: tuple[str, str], policy: MergePolicy, common: Sequence[str] | None = None
) -> MergePlan:
    """Merge two commits. `common` are their common ancestors, if they are known already.

    Raise NeedsDecision if facts cannot be read, or if the policy is `fail` and there is a conflict. Raise Refused for
    symbolic links."""
    ours, theirs = commits
    bases = [*(common_ancestors(vault, ours, theirs) if common is None else common)] or [EMPTY_TREE]
    found = diff_commits(vault, bases[0], ours, theirs)
    _refuse_links(found)
    sides = _load_sides(vault, found, bases)
    merged = _with_valid_files(merge_trees(*sides, policy), sides[1], sides[2])
    if policy.name == FAIL and merged.conflicts:
        raise NeedsDecision(
            f"Both sides changed the same thing in different ways: {merged.conflicts[0].says}.",
            f"Nothing was changed ({counted(len(merged.conflicts), 'conflict')} in all). Name a --conflict policy.",
        )
    plan = MergePlan(_entries(found, merged, sides), merged)
    _refuse_path_clashes(plan, found)
    return _with_other_files(vault, plan, found, policy)


def _refuse_links(found: Versions) -> None:
    for path in sorted(found.paths):
        for side in (found.ours, found.theirs):
            if is_owned(path) and path in side and not side[path].is_file:
                raise Refused(
                    f"{path} is not a plain file on one side: clawmem does not follow links.",
                    "Replace it by a plain file on that side, commit, then run the command again.",
                )


class FullMerge(NamedTuple):
    """The differing files of clawmem in the base and on both sides, and the merge of all of them together."""

    base: Files
    ours: Files
    theirs: Files
    merged: MergedTree


def merge_commits(vault: Vault, ours: str, theirs: str, policy: MergePolicy) -> FullMerge:
    """Merge all files of two commits together, as `sync` does."""
    bases = common_ancestors(vault, ours, theirs) or [EMPTY_TREE]
    sides = _load_sides(vault, diff_commits(vault, bases[0], ours, theirs), bases)
    return FullMerge(*sides, _with_valid_files(merge_trees(*sides, policy), sides[1], sides[2]))


def _load_sides(vault: Vault, found: Versions, bases: list[str]) -> tuple[Files, Files, Files]:
    paths = sorted(path for path in found.paths if is_owned(path))
    sides = (found.base, found.ours, found.theirs)
    data = read_versions(
        vault, ((path, side[path]) for side in sides for path in paths if path in side and side[path].is_file)
    )
    base, ours, theirs = (
        {path: data.get(side[path].blob) if path in side else None for path in paths} for side in sides
    )
    return {**base, **_merged_bases(vault, bases, base)}, ours, theirs


def _merged_bases(vault: Vault, bases: list[str], first: Files) -> dict[str, bytes | None]:
    """Return the merge of several common ancestors, which criss-cross merges have."""
    found: dict[str, bytes | None] = {}
    for other in bases[1:]:
        merged = plan_merge(vault, (bases[0], other), MergePolicy()).merged
        found.update({path: data for path, data in merged.files.items() if path in first})
    return found


def _with_valid_files(merged: MergedTree, ours: Files, theirs: Files) -> MergedTree:
    """Replace merged settings and summaries that are not valid by the version of one side."""
    files, conflicts = dict(merged.files), list(merged.conflicts)
    for path, data in merged.files.items():
        sides = [side.get(path) for side in (ours, theirs)]
        if data is None or handling(path).merge not in (PAGE, YAML) or data in sides:
            continue
        try:
            check_file(path, data)
        except ClawmemError as problem:
            files[path] = max(side for side in sides if side is not None)
            says = f"{path} keeps the version of one side, because the merged file is not valid ({problem.message})"
            conflicts.append(MergeConflict(FILE, path, None, says))
    return merged._replace(files=files, conflicts=tuple(conflicts))


def _entries(found: Versions, merged: MergedTree, sides: tuple[Files, Files, Files]) -> Entries:
    _, ours, theirs = sides
    entries: dict[str, bytes | FileVersion | None] = {}
    for path, data in merged.files.items():
        if data == ours.get(path) and (path in found.ours) == (data is not None):
            continue
        if data is not None and path in found.theirs and data == theirs.get(path):
            entries[path] = FileVersion(REGULAR_MODE, found.theirs[path].blob)
        elif isinstance(data, UnreadFile):
            entries[path] = FileVersion(REGULAR_MODE, data.blob)
        else:
            entries[path] = data
    return entries


def _with_other_files(vault: Vault, plan: MergePlan, found: Versions, policy: MergePolicy) -> MergePlan:
    """Add the files that clawmem does not manage to the plan.

    If both sides changed a file, it is merged as text. If that fails, the other version is stored beside ours."""
    entries, conflicts = dict(plan.entries), list(plan.merged.conflicts)
    for path in sorted(path for path in found.paths if not is_owned(path)):
        base, version, other = (side.get(path) for side in (found.base, found.ours, found.theirs))
        if version == other or other == base:
            continue
        if version == base or version is None:
            entries[path] = other
        elif other is not None:
            added, new_conflicts = _merge_other_file(vault, path, (base, version, other), policy)
            entries.update(added)
            conflicts += new_conflicts
    return MergePlan(entries, plan.merged._replace(conflicts=tuple(conflicts)))


def _merge_other_file(
    vault: Vault, path: str, sides: tuple[FileVersion | None, FileVersion, FileVersion], policy: MergePolicy
) -> tuple[dict[str, bytes | FileVersion | None], Iterable[MergeConflict]]:
    base, version, other = sides
    if version.is_file and other.is_file and (base is None or base.is_file):
        data = read_versions(vault, ((path, side) for side in sides if side))
        merged = merge_file(path, data[base.blob] if base else None, data[version.blob], data[other.blob], policy)
        if merged.beside is None and merged.content is not None:
            return {path: merged.content}, merged.conflicts
    says = f"{path} cannot be merged; the other version is stored beside it"
    return {f"{path}.other-{other.blob[:8]}": other}, (MergeConflict(FILE, path, None, says),)


def _refuse_path_clashes(plan: MergePlan, found: Versions) -> None:
    """Raise NeedsDecision if a path is a file on one side and a folder on the other."""
    there = {path for path, entry in plan.entries.items() if entry is not None}
    for path in there:
        parts = path.split("/")
        for size in range(1, len(parts)):
            folder = "/".join(parts[:size])
            if folder in found.ours and plan.entries.get(folder, found.ours[folder]) is not None:
                raise NeedsDecision(
                    f"{folder} is a file on one side and a folder on the other.", "Rename one of them, then try again."
                )


def plan_with_policy(vault: Vault, commits: tuple[str, str], conflict: str, relation: HistoryRelation) -> MergePlan:
    """Plan the merge of two commits, ours and theirs, by a policy."""
    return plan_merge(vault, commits, policy_for(vault, conflict, *commits), relation.common)


def state_at(vault: Vault, moment: str) -> str | None:
    """Return the last commit at or before an ISO time, or None.

    If clones had commits by then that were merged later, it is a merge of these, to which no ref points."""
    last = last_commits_at(vault, moment)
    if not last:
        return None
    state = last[0]
    for other in last[1:]:
        commits = (state, other)
        seconds = commit_times(vault, state)[0][0]
        change = Change(subject_line(OP, "vault", f"joined {state[:12]} and {other[:12]}"), {})
        try:
            entries = plan_merge(vault, commits, policy_for(vault, NEWEST, *commits)).entries
            state = write_merge(vault, commits, change, entries, seconds, ref=PAST_REF)
        except (ClawmemError, OSError):
            return state  # what cannot be joined is left out
        vault.git.run("update-ref", "-d", PAST_REF)
    return state


class AppliedRemote(NamedTuple):
    """The new commit of the branch, the rescue ref, and the facts of ours that others removed or changed.

    `head_change` lists the changed files for the index; None if there are too many."""

    commit: str
    rescue: str
    head_change: HeadChange | None
    removals: tuple[RemoteRemoval, ...] = ()


def apply_fast_forward(
    txn: Transaction, caller: Caller, head: str, tip: str, relation: HistoryRelation
) -> AppliedRemote:
    """Move the branch forward to commits that are based on it."""
    subject = subject_line(OP, "vault", f"took in {counted(relation.received, 'change')}")
    return _applied(txn, caller, (head, tip, tip), relation, subject)


def commit_merge(
    txn: Transaction, caller: Caller, remote: str, commits: tuple[str, str], relation: HistoryRelation, plan: MergePlan
) -> AppliedRemote:
    """Commit the planned merge and move the branch to it."""
    head, tip = commits
    summary = f"{counted(relation.received, 'change')} from {remote} joined with {relation.own} made here"
    change = merge_change(caller, plan, summary, relation.news.subjects)
    commit = write_merge(txn.vault, commits, change, plan.entries, int(caller.now.timestamp()))
    reported = {conflict.fact for conflict in plan.conflicts if conflict.fact}
    reported |= {other_id.old for other_id in plan.merged.renamed}
    return _applied(txn, caller, (head, commit, tip), relation, change.subject, DROP_MERGE_REF, reported)


def _applied(
    txn: Transaction,
    caller: Caller,
    commits: tuple[str, str, str],
    relation: HistoryRelation,
    subject: str,
    more: str = "",
    reported: Collection[str] = (),
) -> AppliedRemote:
    """Move the branch from our commit to a new one, which includes theirs; `more` are further moves of refs."""
    vault, (head, commit, tip) = txn.vault, commits
    rescue = rescue_ref_update(vault, head, caller.now)
    add_unfinished_merges(vault, relation.news.merges)
    look = fast_forward(txn, head, commit, subject, rescue.lines + more)
    removals = find_removals(vault, head, commit, tip, look, reported)
    return AppliedRemote(commit, rescue.ref, HeadChange(head, commit, look.new) if look else None, removals)


def regenerate_pages(work: WriteScope, stale: Iterable[str]) -> tuple[str, ...]:
    """Regenerate the pages that both sides had rewritten, from the current facts. Return the commits."""
    from clawmem.memory.pages import (
        guardrails,  # few merges need them
        memory_page,  # few merges need them
        summaries,  # few merges need them
    )

    made: list[str | None] = []
    if any(path.endswith(("/summary.md", "/index.md")) for path in stale):
        made.append(summaries.refresh_pages(work).commit)
        work.update_index()
    if memory_page.PATH in stale:
        made.append(memory_page.refresh_memory_page(work).commit)
    if any(path.endswith(f"/{guardrails.PAGE}") for path in stale):
        made.append(guardrails.refresh_guardrail_pages(work).commit)
    return tuple(filter(None, made))
