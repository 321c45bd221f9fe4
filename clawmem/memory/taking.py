"""Taking in what other machines learned: by moving forward to it, or by a merge; where the branch was is kept first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.index.refresh import Step
from clawmem.memory.merge_words import OP, merge_change
from clawmem.memory.merging import Plan, plan_merge, policy_for
from clawmem.memory.relation import Relation
from clawmem.memory.taken_out import TakenOut, taken_out
from clawmem.memory.writing import Writing
from clawmem.model.caller import Caller
from clawmem.model.change import subject_line
from clawmem.model.text import counted
from clawmem.vault.joining import DROP_JOINED, Look, advance, write_merge
from clawmem.vault.merges import leave_also
from clawmem.vault.rescue import Rescue, rescue_lines
from clawmem.vault.transaction import Transaction
from clawmem.vault.vault import Vault


def planned(vault: Vault, commits: tuple[str, str], conflict: str, apart: Relation) -> Plan:
    """How two commits, this machine's and the other's, would be merged by a policy."""
    return plan_merge(vault, commits, policy_for(vault, conflict, *commits), apart.common)


class Joined(NamedTuple):
    """Where the branch is now, the ref that tells where it was, for the index what has changed (None where that is
    much), and the facts that others took out."""

    commit: str
    rescue: str
    step: Step | None
    lost: tuple[TakenOut, ...] = ()


def move_forward(started: Transaction, caller: Caller, head: str, tip: str, apart: Relation) -> Joined:
    """Take in commits that build on what is here."""
    rescue = rescue_lines(started.vault, head, caller.now)
    subject = subject_line(OP, "vault", f"took in {counted(apart.received, 'change')}")
    leave_also(started.vault, apart.news.merges)
    look = advance(started, tip, subject, rescue.lines)
    lost = taken_out(started.vault, head, tip, tip, look)
    return _joined(head, tip, rescue, look)._replace(lost=lost)


def join(
    started: Transaction, caller: Caller, remote: str, commits: tuple[str, str], apart: Relation, plan: Plan
) -> Joined:
    """Make the merge that was planned and move the branch to it."""
    vault, (head, tip) = started.vault, commits
    words = f"{counted(apart.received, 'change')} from {remote} joined with {apart.own} made here"
    change = merge_change(caller, plan, words, apart.news.subjects)
    commit = write_merge(vault, commits, change, plan.entries, int(caller.now.timestamp()))
    rescue = rescue_lines(vault, head, caller.now)
    leave_also(vault, apart.news.merges)
    look = advance(started, commit, change.subject, rescue.lines + DROP_JOINED)
    told = {one.fact for one in plan.conflicts if one.fact} | {one.old for one in plan.merged.renamed}
    lost = taken_out(vault, head, commit, tip, look, told)
    return _joined(head, commit, rescue, look)._replace(lost=lost)


def _joined(head: str, commit: str, rescue: Rescue, look: Look | None) -> Joined:
    return Joined(commit, rescue.ref, Step(head, commit, look.new) if look else None)


def make_anew(work: Writing, stale: Iterable[str]) -> tuple[str, ...]:
    """Generated parts that both sides had rewritten are made anew, of the facts as they are now; the commits."""
    from clawmem.memory import curated, summaries  # few merges meet them

    made: list[str | None] = []
    if any(path.endswith(("/summary.md", "/index.md")) for path in stale):
        made.append(summaries.refreshed(work).commit)
        work.bring_index()
    if curated.PATH in stale:
        made.append(curated.refreshed(work).commit)
    return tuple(filter(None, made))
