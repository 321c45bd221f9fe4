"""What a person must decide: which candidates wait for review, why, and which of them were decided before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.learning.reconciling import reconcile
from clawmem.learning.reconciling.gate import GateVerdict
from clawmem.learning.reconciling.reconcile import ReconcileDecision
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.proposals import proposal
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, Proposal
from clawmem.model.proposals.proposition import Proposition

_DEEDS = {reconcile.UPDATE: proposal.SUPERSEDE, reconcile.MERGE: proposal.MERGE, reconcile.RETRACT: proposal.END}
_JOINTS = {proposal.SUPERSEDE: "instead of", proposal.MERGE: "joined with", proposal.END: "which ends"}


class ReviewReason(NamedTuple):
    """The kind of proposal a candidate becomes, and why it waits."""

    kind: str
    why: str


def waits(
    proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact], verdict: GateVerdict, sure: float
) -> ReviewReason | None:
    """Whether a person must decide; `sure` is the confidence above which a fact is not replaced by a less sure one."""
    against = [known[one] for one in against_ids(decision) if one in known]
    return (
        _untrusted(proposition, verdict, against)
        or _guarded(decision)
        or _less_sure(proposition, decision, against, sure)
    )


def against_ids(decision: ReconcileDecision) -> tuple[str, ...]:
    """The facts that a decision would replace, or that it stands against."""
    return tuple(dict.fromkeys((*decision.targets, *decision.contradicts)))


def deed(decision: ReconcileDecision) -> str:
    """What approving the candidate does; what only contradicts takes the place of what it contradicts."""
    return _DEEDS.get(decision.outcome) or (proposal.SUPERSEDE if decision.contradicts else proposal.ADD)


def in_words(does: str, statement: str, targets: Sequence[Fact]) -> str:
    """The change in one sentence."""
    if not targets:
        return statement
    return f"{statement} ({_JOINTS[does]}: {'; '.join(fact.fact for fact in targets)})"


def _untrusted(proposition: Proposition, verdict: GateVerdict, against: Sequence[Fact]) -> ReviewReason | None:
    kind = "conflict" if against else "fact"
    if not verdict.accepted:
        return ReviewReason(kind, verdict.reason)
    better = [fact for fact in against if not is_low_trust(fact.trust)]
    if not is_low_trust(proposition.trust) or not better:
        return None
    said = better[0].trust or "user"
    return ReviewReason(
        kind, f"A source of low trust ({proposition.trust}) would change what the {said} said: {better[0].id}."
    )


def _guarded(decision: ReconcileDecision) -> ReviewReason | None:
    if decision.outcome != reconcile.ADD or not decision.contradicts:
        return None
    return ReviewReason("conflict", f"{decision.reason} It stands against {', '.join(decision.contradicts)}.")


def _less_sure(
    proposition: Proposition, decision: ReconcileDecision, against: Sequence[Fact], sure: float
) -> ReviewReason | None:
    if decision.outcome != reconcile.UPDATE or _says_so(proposition, against):
        return None
    for fact in against:
        if fact.confidence is not None and fact.confidence > sure and proposition.confidence < fact.confidence:
            compared = f"({proposition.confidence:.2f}) than {fact.id} ({fact.confidence:.2f})"
            return ReviewReason("conflict", f"It is less sure {compared}, which it would replace.")
    return None


def _says_so(proposition: Proposition, against: Sequence[Fact]) -> bool:
    """Whether the text itself tells of a change: a correction must win, however sure the old fact is."""
    named = any(fact.id in proposition.source_text for fact in against)
    later = proposition.valid_from is not None and all(_began(fact) < proposition.valid_from for fact in against)
    return named or later or proposition.corrects or bool(proposition.former)


def _began(fact: Fact) -> str:
    said = (fact.metadata or {}).get("said_at")
    return fact.valid_from or (said if isinstance(said, str) else fact.timestamp)[:10]


def decided_before(same: Iterable[Proposal], fact: Fact, said_at: str, targets: Collection[str]) -> Proposal | None:
    """The proposal of the same thing that settles this one: made for this very event; waiting, to change the same
    `targets`; or turned down with nothing said since. What a source of low trust repeats stays turned down."""
    for one in same:
        if one.source_event == fact.source_event:
            return one
        if one.status == OPEN and {target.id for target in one.targets} == set(targets):
            return one
        if one.status == REJECTED and one.decided and (is_low_trust(fact.trust) or said_at <= one.decided.at):
            return one
    return None


def verdict_before(one: Proposal) -> tuple[str, str]:
    """The outcome, noop or refused, and the reason, for a candidate that an earlier proposal settles."""
    if one.status == OPEN:
        return "noop", f"It waits for review already as {one.id}."
    if one.status == APPROVED:
        return "noop", f"It was approved already, as {one.id}."
    because = f": {one.decided.reason}" if one.decided and one.decided.reason else "."
    return "refused", f"It was turned down in review, as {one.id}{because}"
