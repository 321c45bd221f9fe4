"""Taking in what other machines learned: by moving forward to it, or by a merge; where the branch was is kept first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.index.refresh.refresh import HeadChange
from clawmem.memory.sync.merge_message import OP, merge_change
from clawmem.memory.sync.merge_plan import MergePlan, plan_merge, policy_for
from clawmem.memory.sync.relation import HistoryRelation
from clawmem.memory.sync.removed_facts import TakenOut, taken_out
from clawmem.memory.writing import WriteScope
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import subject_line
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.history.git_merges import add_unfinished_merges
from clawmem.vault.history.merge_commit import DROP_MERGE_REF, FileStates, fast_forward, write_merge
from clawmem.vault.history.rescue_refs import RescueRef, rescue_ref_update
from clawmem.vault.vault import Vault


def planned(vault: Vault, commits: tuple[str, str], conflict: str, apart: HistoryRelation) -> MergePlan:
    """How two commits, this machine's and the other's, would be merged by a policy."""
    return plan_merge(vault, commits, policy_for(vault, conflict, *commits), apart.common)


class AppliedRemote(NamedTuple):
    """Where the branch is now, the ref that tells where it was, for the index what has changed (None where that is
    much), and the facts that others took out."""

    commit: str
    rescue: str
    step: HeadChange | None
    lost: tuple[TakenOut, ...] = ()


def move_forward(started: Transaction, caller: Caller, head: str, tip: str, apart: HistoryRelation) -> AppliedRemote:
    """Take in commits that build on what is here."""
    rescue = rescue_ref_update(started.vault, head, caller.now)
    subject = subject_line(OP, "vault", f"took in {counted(apart.received, 'change')}")
    add_unfinished_merges(started.vault, apart.news.merges)
    look = fast_forward(started, tip, subject, rescue.lines)
    lost = taken_out(started.vault, head, tip, tip, look)
    return _joined(head, tip, rescue, look)._replace(lost=lost)


def join(
    started: Transaction, caller: Caller, remote: str, commits: tuple[str, str], apart: HistoryRelation, plan: MergePlan
) -> AppliedRemote:
    """Make the merge that was planned and move the branch to it."""
    vault, (head, tip) = started.vault, commits
    words = f"{counted(apart.received, 'change')} from {remote} joined with {apart.own} made here"
    change = merge_change(caller, plan, words, apart.news.subjects)
    commit = write_merge(vault, commits, change, plan.entries, int(caller.now.timestamp()))
    rescue = rescue_ref_update(vault, head, caller.now)
    add_unfinished_merges(vault, apart.news.merges)
    look = fast_forward(started, commit, change.subject, rescue.lines + DROP_MERGE_REF)
    told = {one.fact for one in plan.conflicts if one.fact} | {one.old for one in plan.merged.renamed}
    lost = taken_out(vault, head, commit, tip, look, told)
    return _joined(head, commit, rescue, look)._replace(lost=lost)


def _joined(head: str, commit: str, rescue: RescueRef, look: FileStates | None) -> AppliedRemote:
    return AppliedRemote(commit, rescue.ref, HeadChange(head, commit, look.new) if look else None)


def make_anew(work: WriteScope, stale: Iterable[str]) -> tuple[str, ...]:
    """Generated parts that both sides had rewritten are made anew, of the facts as they are now; the commits."""
    from clawmem.memory.pages import memory_page as curated  # few merges meet them
    from clawmem.memory.pages import summaries  # few merges meet them

    made: list[str | None] = []
    if any(path.endswith(("/summary.md", "/index.md")) for path in stale):
        made.append(summaries.refreshed(work).commit)
        work.bring_index()
    if curated.PATH in stale:
        made.append(curated.refreshed(work).commit)
    return tuple(filter(None, made))
