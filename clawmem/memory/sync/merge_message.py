"""The commit message of a merge: the received commits, the decisions and the changed facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers

if TYPE_CHECKING:
    from clawmem.memory.sync.merge_plan import MergePlan

OP = "sync"
# The maximum number of received commits that the message lists.
MAX_SUBJECTS = 20


def merge_change(caller: Caller, plan: MergePlan, words: str, subjects: Sequence[str]) -> Change:
    """Return the message of a merge commit as a change without writes. `subjects` are those of the received commits."""
    merged = plan.merged
    received = [f"- {line}" for line in subjects]
    decided = [f"- {one.says}" for one in merged.conflicts]
    decided += [f"- {one.old} was the id of two facts; one of them is {one.new} now" for one in merged.renamed]
    decided += [f"- {one.other} says the same as {one.kept}, which is current for both" for one in merged.twins]
    body = "\n".join(["Received:", *received, *(["", "Decided:", *decided] if decided else [])])
    facts = [one.fact for one in merged.conflicts if one.fact]
    facts += [one.new for one in merged.renamed] + [name for one in merged.twins for name in (one.kept, one.other)]
    rows = trailers(OP, facts=facts, agent=caller.agent, session=caller.session)
    filed = tuple(("Proposal", one) for one in merged.proposals)
    return Change(subject_line(OP, "vault", words), {}, (*rows, *filed), body, agent_author(caller.agent))
