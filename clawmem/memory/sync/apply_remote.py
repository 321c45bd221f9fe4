"""Taking in what other machines learned: by moving forward to it, or by a merge; where the branch was is kept first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.index.refresh.refresh import HeadChange
from clawmem.memory.sync.merge_message import OP, merge_change
from clawmem.memory.sync.merge_plan import MergePlan, plan_merge, policy_for
from clawmem.memory.sync.relation import HistoryRelation
from clawmem.memory.sync.removed_facts import RemoteRemoval, find_removals
from clawmem.memory.writing import WriteScope
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import subject_line
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.history.git_merges import leave_also
from clawmem.vault.history.merge_commit import DROP_JOINED, FileStates, advance, write_merge
from clawmem.vault.history.rescue_refs import RescueRef, rescue_lines
from clawmem.vault.vault import Vault


def plan_with_policy(vault: Vault, commits: tuple[str, str], conflict: str, relation: HistoryRelation) -> MergePlan:
    """How two commits, this machine's and the other's, would be merged by a policy."""
    return plan_merge(vault, commits, policy_for(vault, conflict, *commits), relation.common)


class AppliedRemote(NamedTuple):
    """Where the branch is now, the ref that tells where it was, for the index what has changed (None where that is
    much), and the facts that others took out."""

    commit: str
    rescue: str
    head_change: HeadChange | None
    removals: tuple[RemoteRemoval, ...] = ()


def fast_forward(txn: Transaction, caller: Caller, head: str, tip: str, relation: HistoryRelation) -> AppliedRemote:
    """Take in commits that build on what is here."""
    rescue = rescue_lines(txn.vault, head, caller.now)
    subject = subject_line(OP, "vault", f"took in {counted(relation.received, 'change')}")
    leave_also(txn.vault, relation.news.merges)
    look = advance(txn, tip, subject, rescue.lines)
    removals = find_removals(txn.vault, head, tip, tip, look)
    return _applied(head, tip, rescue, look)._replace(removals=removals)


def commit_merge(
    txn: Transaction, caller: Caller, remote: str, commits: tuple[str, str], relation: HistoryRelation, plan: MergePlan
) -> AppliedRemote:
    """Make the merge that was planned and move the branch to it."""
    vault, (head, tip) = txn.vault, commits
    summary = f"{counted(relation.received, 'change')} from {remote} joined with {relation.own} made here"
    change = merge_change(caller, plan, summary, relation.news.subjects)
    commit = write_merge(vault, commits, change, plan.entries, int(caller.now.timestamp()))
    rescue = rescue_lines(vault, head, caller.now)
    leave_also(vault, relation.news.merges)
    look = advance(txn, commit, change.subject, rescue.lines + DROP_JOINED)
    told = {one.fact for one in plan.conflicts if one.fact} | {one.old for one in plan.merged.renamed}
    removals = find_removals(vault, head, commit, tip, look, told)
    return _applied(head, commit, rescue, look)._replace(removals=removals)


def _applied(head: str, commit: str, rescue: RescueRef, look: FileStates | None) -> AppliedRemote:
    return AppliedRemote(commit, rescue.ref, HeadChange(head, commit, look.new) if look else None)


def regenerate_pages(work: WriteScope, stale: Iterable[str]) -> tuple[str, ...]:
    """Generated parts that both sides had rewritten are made anew, of the facts as they are now; the commits."""
    from clawmem.memory.pages import memory_page as curated  # few merges meet them
    from clawmem.memory.pages import summaries  # few merges meet them

    made: list[str | None] = []
    if any(path.endswith(("/summary.md", "/index.md")) for path in stale):
        made.append(summaries.refresh_pages(work).commit)
        work.update_index()
    if curated.PATH in stale:
        made.append(curated.refresh_memory_page(work).commit)
    return tuple(filter(None, made))
