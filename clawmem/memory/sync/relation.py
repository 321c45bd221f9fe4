"""Compare two histories, and refuse those that must not be merged.

The commit message of a merge: the received commits, the decisions and the changed facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import HistoryRewritten, Refused
from clawmem.model.history.entry import SYNC
from clawmem.model.language.text import visible
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.vault.exchange.remote import tracking_ref
from clawmem.vault.history.git_merges import HistoryDistance, IncomingCommits, history_distance
from clawmem.vault.history.history import common_ancestors
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.sync.merge_plan import MergePlan
    from clawmem.model.merging.fields import MergeConflict


class RemoteBranch(NamedTuple):
    """A branch of a remote repository, and what the caller allows for it."""

    remote: str
    branch: str
    allow_unrelated: bool = False
    allow_rewritten: bool = False


class HistoryRelation(NamedTuple):
    """The difference of two histories: the number of commits only in ours (`own`) and only in theirs (`received`), the
    received commits, and the common ancestors."""

    own: int = 0
    received: int = 0
    news: IncomingCommits = IncomingCommits()
    common: tuple[str, ...] = ()


def compare_histories(vault: Vault, head: str, tip: str, remote_branch: RemoteBranch) -> HistoryRelation:
    """Compare our branch at `head` with the remote branch at `tip`. The caller must hold the writer lock.

    Raise Refused if they have no common ancestor, HistoryRewritten if one is the history before a redaction.
    """
    if head == tip:
        return HistoryRelation()
    between = history_distance(vault, head, tip, MAX_SUBJECTS)
    own, received = between.own, between.received
    if not received:
        return HistoryRelation(own, 0)
    common: tuple[str, ...] = (head,)
    if own:  # the best common ancestors are among the commits where the histories part
        common = between.parting if len(between.parting) < 2 else tuple(common_ancestors(vault, head, tip))
    if not remote_branch.allow_rewritten:
        _refuse_rewritten(vault, head, tip, remote_branch, between)
    if not common and not remote_branch.allow_unrelated:
        _forget_where_redacted(vault, head, remote_branch)
        raise Refused(
            f"This vault and {remote_branch.remote}/{remote_branch.branch} have no common history:"
            " they were created separately.",
            _UNRELATED if not (vault.git_dir / "shallow").exists() else _SHALLOW,
        )
    return HistoryRelation(own, received, between.news, common)


def _refuse_rewritten(vault: Vault, head: str, tip: str, remote_branch: RemoteBranch, between: HistoryDistance) -> None:
    """Raise HistoryRewritten if a merge would restore a redacted text."""
    from clawmem.vault.history.git_merges import (  # only where commits were received
        HERE,
        discard_fetched,
        redacted_side,
    )

    side = redacted_side(vault, head, tip, between)
    if side == HERE:
        discard_fetched(vault, tracking_ref(remote_branch.remote, remote_branch.branch), remote_branch.remote)
    if side is not None:
        raise _rewritten_error(remote_branch.remote, remote_branch.branch, side == HERE)


def _forget_where_redacted(vault: Vault, head: str, remote_branch: RemoteBranch) -> None:
    """Delete the fetched commits if this history has redactions: they may contain the redacted text."""
    from clawmem.vault.history.git_merges import (  # only where commits were received
        discard_fetched,
        is_redacted,
    )

    if is_redacted(vault, head):
        discard_fetched(vault, tracking_ref(remote_branch.remote, remote_branch.branch), remote_branch.remote)


def _rewritten_error(remote: str, branch: str, here: bool) -> HistoryRewritten:
    if here:
        return HistoryRewritten(
            f"{remote} still has the history from before a redaction here: merging it would restore the redacted text."
            " The fetched commits were deleted.",
            f"Push the new history: `git push --force {remote} HEAD:{branch}`. Then clone again on all other machines.",
        )
    return HistoryRewritten(
        f"{remote} has a redaction, and this clone still has the history from before it: merging them would restore"
        " the redacted text.",
        "Clone again, and copy the commits that only this clone has, for example with `git cherry-pick`. "
        "`clawmem sync --allow-rewritten` restores the old history.",
    )


_UNRELATED = (
    "If they are the same memory, merge them with --allow-unrelated; else name another remote, or clone that vault."
)
_SHALLOW = "This clone is shallow: fetch the rest with `git fetch --unshallow`, then run the command again."


OP = SYNC
_DECIDED = "Decided:"
# The maximum number of received commits that the message lists.
MAX_SUBJECTS = 20


def merge_change(caller: Caller, plan: MergePlan, words: str, subjects: Sequence[str]) -> Change:
    """Return the message of a merge commit as a change without writes. `subjects` are those of the received commits."""
    merged = plan.merged
    received = [f"- {line}" for line in subjects]
    decided = [f"- {conflict.says}" for conflict in merged.conflicts]
    decided += [f"- {each.old} was the id of two facts; one of them is {each.new} now" for each in merged.renamed]
    decided += [f"- {twin.other} says the same as {twin.kept}, which is current for both" for twin in merged.twins]
    body = "\n".join(["Received:", *received, *(["", _DECIDED, *decided] if decided else [])])
    facts = [conflict.fact for conflict in merged.conflicts if conflict.fact]
    facts += [other_id.new for other_id in merged.renamed] + [
        name for twin in merged.twins for name in (twin.kept, twin.other)
    ]
    rows = trailers(OP, facts=facts, agent=caller.agent, session=caller.session)
    filed = tuple(("Proposal", proposal) for proposal in merged.proposals)
    return Change(subject_line(OP, "vault", words), {}, (*rows, *filed), body, agent_author(caller.agent))


def joined_elsewhere(vault: Vault, joins: Sequence[str]) -> tuple[list[MergeConflict], list[str]]:
    """Return what some received merges say that they decided, and the ids of the proposals that they filed."""
    from clawmem.model.merging.fields import ELSEWHERE, MergeConflict  # only where merges were received

    conflicts, proposals = list[MergeConflict](), list[str]()
    for commit in joins:
        printed = vault.git.run("show", "-s", "--format=%b%x00%(trailers:key=Proposal,valueonly)", commit)
        body, _, filed = printed.decode(errors="replace").partition("\0")
        decided = body.partition(f"\n{_DECIDED}\n")[2].partition("\n\n")[0].splitlines()
        conflicts += [MergeConflict(ELSEWHERE, "", None, visible(line.removeprefix("- "))) for line in decided]
        proposals += filed.split()
    return conflicts, proposals
