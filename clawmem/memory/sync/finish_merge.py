"""Finish a git merge that stopped in the vault. Files that a person resolved are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError, HistoryRewritten, NeedsDecision, Refused
from clawmem.index.refresh.refresh import open_index
from clawmem.memory.sync.merge_plan import MergePlan, plan_merge, policy_for, regenerate_pages
from clawmem.memory.sync.relation import MAX_SUBJECTS, merge_change
from clawmem.memory.writing import writing
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.vault.edits.hand_edits import check_file
from clawmem.vault.git.merge_driver import install_driver
from clawmem.vault.history.git_merges import history_distance
from clawmem.vault.history.merge_commit import Entries, StoppedMerge, complete_merge, stopped_merge, write_merge
from clawmem.vault.history.points import create_rescue_ref, is_ancestor
from clawmem.vault.history.redacted_history import redacted_side
from clawmem.vault.vault import Vault

_CONFLICT_MARK = b"<<<<<<< "


class FinishedMerge(NamedTuple):
    """The merge commit (None if it existed already), the rescue ref and the merge plan."""

    commit: str | None
    rescue: str | None = None
    plan: MergePlan | None = None
    notices: tuple[str, ...] = ()


def finish_merge(vault: Vault, caller: Caller, policy: str | None = None) -> FinishedMerge:
    """Finish the merge. Raise Refused if there is none, NeedsDecision if a version cannot be read."""
    with stopped_merge(vault) as stopped:
        if stopped is None:
            raise Refused("There is no unfinished git merge here.", "`clawmem sync` merges with other machines.")
        install_driver(vault)
        merge = _finish(vault, caller, stopped, policy or vault.settings.words("sync.conflict"))
    vault = Vault(vault.root, vault.git.environment, vault.disk)  # the merge may have changed the settings
    open_index(vault).close()
    if merge.plan is not None and merge.plan.merged.stale:
        with writing(vault, caller, "summaries") as work:
            regenerate_pages(work, merge.plan.merged.stale)
    return merge


def _finish(vault: Vault, caller: Caller, stopped: StoppedMerge, policy: str) -> FinishedMerge:
    if is_ancestor(vault, stopped.theirs, stopped.ours):
        complete_merge(vault, stopped, stopped.ours, _unresolved(stopped))
        return FinishedMerge(None)
    between = history_distance(vault, stopped.ours, stopped.theirs, MAX_SUBJECTS)
    if redacted_side(vault, stopped.ours, stopped.theirs, between) is not None:
        raise HistoryRewritten(
            "One side of this merge has a redaction, and the other has the history from before it: finishing the merge"
            " would restore the redacted text.",
            "Stop it with `git merge --abort`, and clone the redacted side again.",
        )
    rule = policy_for(vault, policy, stopped.ours, stopped.theirs)
    plan = plan_merge(vault, (stopped.ours, stopped.theirs), rule)
    resolved = _resolved(stopped)
    entries: Entries = {**plan.entries, **resolved}
    words = f"finished a git merge of {counted(between.received, 'change')}"
    change = merge_change(caller, plan, words, between.news.subjects)
    rescue = create_rescue_ref(vault, stopped.ours, caller.now)
    parents = (stopped.ours, stopped.theirs)
    commit = write_merge(vault, parents, change, entries, int(caller.now.timestamp()))
    complete_merge(vault, stopped, commit, _unresolved(stopped))
    notices = tuple(f"{path} stays as you resolved it" for path in sorted(resolved))
    return FinishedMerge(commit, rescue, plan, notices)


def _unresolved(stopped: StoppedMerge) -> Mapping[str, bytes | None]:
    """Return the files whose content git wrote and no person changed."""
    return {path: data for path, data in stopped.files.items() if path not in _resolved(stopped)}


def _resolved(stopped: StoppedMerge) -> dict[str, bytes | None]:
    """Return the files that a person resolved: no conflict marks, and not what git wrote."""
    found: dict[str, bytes | None] = {}
    for path, data in stopped.files.items():
        if data is None or _CONFLICT_MARK in data or data in stopped.known[path]:
            continue
        try:
            check_file(path, data)
        except ClawmemError as problem:
            raise NeedsDecision(
                f"{path} was edited during the merge and cannot be read: {problem.message}",
                f"Repair it, or restore one side with `git checkout --ours {path}`, then run the command again.",
            ) from problem
        found[path] = data
    return found
