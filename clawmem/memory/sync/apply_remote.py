"""Apply remote commits by a fast-forward or a merge. A rescue ref keeps the former position of the branch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.index.refresh.refresh import HeadChange
from clawmem.memory.scope import WriteScope
from clawmem.memory.sync.merge_plan import MergePlan, plan_merge, policy_for
from clawmem.memory.sync.relation import OP, HistoryRelation, merge_change
from clawmem.memory.sync.removed_facts import RemoteRemoval, find_removals
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import subject_line
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.history.git_merges import add_unfinished_merges
from clawmem.vault.history.merge_commit import DROP_MERGE_REF, FileStates, fast_forward, write_merge
from clawmem.vault.history.rescue_refs import RescueRef, rescue_ref_update
from clawmem.vault.vault import Vault


def plan_with_policy(vault: Vault, commits: tuple[str, str], conflict: str, relation: HistoryRelation) -> MergePlan:
    """Plan the merge of two commits, ours and theirs, by a policy."""
    return plan_merge(vault, commits, policy_for(vault, conflict, *commits), relation.common)


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
    rescue = rescue_ref_update(txn.vault, head, caller.now)
    subject = subject_line(OP, "vault", f"took in {counted(relation.received, 'change')}")
    add_unfinished_merges(txn.vault, relation.news.merges)
    look = fast_forward(txn, head, tip, subject, rescue.lines)
    removals = find_removals(txn.vault, head, tip, tip, look)
    return _applied(head, tip, rescue, look)._replace(removals=removals)


def commit_merge(
    txn: Transaction, caller: Caller, remote: str, commits: tuple[str, str], relation: HistoryRelation, plan: MergePlan
) -> AppliedRemote:
    """Commit the planned merge and move the branch to it."""
    vault, (head, tip) = txn.vault, commits
    summary = f"{counted(relation.received, 'change')} from {remote} joined with {relation.own} made here"
    change = merge_change(caller, plan, summary, relation.news.subjects)
    commit = write_merge(vault, commits, change, plan.entries, int(caller.now.timestamp()))
    rescue = rescue_ref_update(vault, head, caller.now)
    add_unfinished_merges(vault, relation.news.merges)
    look = fast_forward(txn, head, commit, change.subject, rescue.lines + DROP_MERGE_REF)
    reported = {conflict.fact for conflict in plan.conflicts if conflict.fact} | {
        other_id.old for other_id in plan.merged.renamed
    }
    removals = find_removals(vault, head, commit, tip, look, reported)
    return _applied(head, commit, rescue, look)._replace(removals=removals)


def _applied(head: str, commit: str, rescue: RescueRef, look: FileStates | None) -> AppliedRemote:
    return AppliedRemote(commit, rescue.ref, HeadChange(head, commit, look.new) if look else None)


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
