"""Decide which candidates wait for review, and why, and find earlier decisions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.learning.reconciling import reconcile
from clawmem.learning.reconciling.gate import GateVerdict, content_words
from clawmem.learning.reconciling.reconcile import ADD, UPDATE, ReconcileDecision
from clawmem.learning.rules.clauses import is_specific
from clawmem.model.facts.catalog import ASK, CONFIDENCE, Catalog, is_replaced, is_single
from clawmem.model.facts.fact import DEFAULT_CATEGORY, Fact, is_low_trust
from clawmem.model.proposals import proposal
from clawmem.model.proposals.para import Proposition
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, Proposal, is_against_content, is_candidate

_ACTIONS = {reconcile.UPDATE: proposal.SUPERSEDE, reconcile.MERGE: proposal.MERGE, reconcile.RETRACT: proposal.END}
_CONNECTIVES = {proposal.SUPERSEDE: "instead of", proposal.MERGE: "joined with", proposal.END: "which ends"}


class ReviewReason(NamedTuple):
    """The kind of the proposal, and why it waits for review."""

    kind: str
    why: str


def review_reason(
    proposition: Proposition,
    decision: ReconcileDecision,
    known: Mapping[str, Fact],
    verdict: GateVerdict,
    confident: float,
) -> ReviewReason | None:
    """Return why a person must decide, or None: a less confident fact does not replace one above `confident`."""
    opposed = [known[affected_id] for affected_id in affected_ids(decision) if affected_id in known]
    return (
        _untrusted(proposition, verdict, opposed)
        or _contradiction(decision)
        or _less_confident(proposition, decision, opposed, confident)
    )


class SettledChange(NamedTuple):
    """What the strategy of a relation makes of a decision: the decision, why it waits, or why it is refused."""

    decision: ReconcileDecision
    wait: ReviewReason | None = None
    refused: str | None = None


def by_strategy(
    proposition: Proposition,
    decision: ReconcileDecision,
    known: Mapping[str, Fact],
    wait: ReviewReason | None,
    catalog: Catalog,
) -> SettledChange:
    """Return the decision as the strategy for conflicts of the relation has it; without a strategy, as it was.

    What comes from a source of low trust, and what the text itself states as a change, is not settled by a strategy."""
    entry = catalog.predicates.get(proposition.predicate or "")
    strategy = entry.conflict if entry else None
    opposed = [known[affected_id] for affected_id in affected_ids(decision) if affected_id in known]
    conflict = wait is not None and wait.kind == "conflict"
    replaced = wait is None and decision.outcome == reconcile.UPDATE and not _is_explicit_change(proposition, opposed)
    if strategy is None or not opposed or is_low_trust(proposition.trust) or not (conflict or replaced):
        return SettledChange(decision, wait)
    text = f"{proposition.predicate} settles conflicts by `{strategy}`"
    names = ", ".join(fact.id for fact in opposed)
    if strategy == ASK:
        return SettledChange(decision, wait or ReviewReason("conflict", f"It would replace {names}, and {text}."))
    if strategy == CONFIDENCE:
        sure = [fact.confidence for fact in opposed if fact.confidence is not None]
        if len(sure) < len(opposed) or (conflict and proposition.confidence == max(sure)):
            return SettledChange(decision, wait)
        if proposition.confidence < max(sure):
            less = f"It is less confident ({proposition.confidence:.2f}) than {names} ({max(sure):.2f}), and {text}"
            return SettledChange(decision, None, f"{less}: {names} stays.")
    never = is_single(catalog, proposition.predicate) and not is_replaced(catalog, proposition.predicate)
    why = f"{decision.reason} The new fact wins against {names}: {text}."
    return SettledChange(ReconcileDecision(reconcile.UPDATE, affected_ids(decision), why, never=never))


def affected_ids(decision: ReconcileDecision) -> tuple[str, ...]:
    """Return the ids of the facts that a decision would replace or contradict."""
    return tuple(dict.fromkeys((*decision.targets, *decision.contradicts)))


def proposal_action(decision: ReconcileDecision) -> str:
    """Return what approving the candidate does. A candidate that only contradicts facts replaces them."""
    return _ACTIONS.get(decision.outcome) or (proposal.SUPERSEDE if decision.contradicts else proposal.ADD)


def describe_change(does: str, statement: str, targets: Sequence[Fact]) -> str:
    """Return the change in one sentence."""
    if not targets:
        return statement
    return f"{statement} ({_CONNECTIVES[does]}: {'; '.join(fact.fact for fact in targets)})"


def _untrusted(proposition: Proposition, verdict: GateVerdict, opposed: Sequence[Fact]) -> ReviewReason | None:
    kind = "conflict" if opposed else "fact"
    if not verdict.accepted:
        return ReviewReason(kind, verdict.reason)
    better = [fact for fact in opposed if not is_low_trust(fact.trust)]
    if not is_low_trust(proposition.trust) or not better:
        return None
    text = better[0].trust or "user"
    return ReviewReason(
        kind, f"A source with low trust ({proposition.trust}) would change {better[0].id}, which comes from the {text}."
    )


def _contradiction(decision: ReconcileDecision) -> ReviewReason | None:
    if decision.outcome != reconcile.ADD or not decision.contradicts:
        return None
    return ReviewReason("conflict", f"{decision.reason} It contradicts {', '.join(decision.contradicts)}.")


def _less_confident(
    proposition: Proposition, decision: ReconcileDecision, opposed: Sequence[Fact], confident: float
) -> ReviewReason | None:
    if decision.outcome != reconcile.UPDATE or _is_explicit_change(proposition, opposed):
        return None
    for fact in opposed:
        if fact.confidence is not None and fact.confidence > confident and proposition.confidence < fact.confidence:
            compared = f"({proposition.confidence:.2f}) than {fact.id} ({fact.confidence:.2f})"
            return ReviewReason("conflict", f"It is less confident {compared}, which it would replace.")
    return None


def _is_explicit_change(proposition: Proposition, opposed: Sequence[Fact]) -> bool:
    """Return whether the text itself states a change. Then it wins even over a confident fact."""
    named = any(fact.id in proposition.source_text for fact in opposed)
    later = proposition.valid_from is not None and all(_began(fact) < proposition.valid_from for fact in opposed)
    chosen = {change.target for change in proposition.changes}
    named = named or (bool(opposed) and all(fact.id in chosen for fact in opposed))
    return named or later or proposition.corrects or bool(proposition.former)


def _began(fact: Fact) -> str:
    text = (fact.metadata or {}).get("said_at")
    return fact.valid_from or (text if isinstance(text, str) else fact.timestamp)[:10]


def earlier_proposal(same: Iterable[Proposal], fact: Fact, said_at: str, targets: Collection[str]) -> Proposal | None:
    """Return the earlier proposal of the same thing that settles this one, or None.

    It was made for the same event, or waits and has the same `targets`, or was rejected and nothing newer was said. A
    repetition by a source with low trust stays rejected. A candidate that was rejected for its words settles nothing.
    """
    for earlier in same:
        if bad_words(earlier):
            continue
        if earlier.source_event == fact.source_event:
            return earlier
        if earlier.status == OPEN and {target.id for target in earlier.targets} == set(targets):
            return earlier
        if (
            earlier.status == REJECTED
            and earlier.decided
            and (is_low_trust(fact.trust) or said_at <= earlier.decided.at)
        ):
            return earlier
    return None


def earlier_outcome(proposal: Proposal) -> tuple[str, str]:
    """Return the outcome (noop or refused) and the reason for a candidate that an earlier proposal settles."""
    if proposal.status == OPEN:
        return "noop", f"It already waits for review as {proposal.id}."
    if proposal.status == APPROVED:
        return "noop", f"It was already approved as {proposal.id}."
    because = f": {proposal.decided.reason}" if proposal.decided and proposal.decided.reason else "."
    return "refused", f"It was rejected in review as {proposal.id}{because}"


def bad_words(candidate: Proposal) -> ReviewReason | None:
    """Return why a reader's sentence waits where a person rejected the raw words of the same message; None where the
    reason says that it is not true or not wanted, which settles it, and for what is no rejected candidate."""
    reason = candidate.decided.reason if candidate.decided and is_candidate(candidate) else None
    if candidate.status != REJECTED or reason is None or is_against_content(reason):
        return None
    return ReviewReason("fact", f"A reader's words; those of {candidate.id} were rejected: {reason}")


def as_statement(proposition: Proposition, known: Iterable[Fact]) -> Proposition:
    """Return a correction with its value as its statement where that has words of a known fact beside the wrong value:
    "No, Jane lives in Bergen, not Oslo"."""
    value, old = proposition.object or "", proposition.former or ""
    if not any(content_words(value) & _beside(old, fact) for fact in known):
        return proposition
    return proposition._replace(statement=f"{value[:1].upper()}{value[1:]}.", object=None)


def _beside(value: str, fact: Fact) -> frozenset[str]:
    return content_words(fact.fact.rstrip(".")) - content_words(value)


def resolve_correction(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Return the corrected fact and the decision, or None if no known fact contains the wrong value.

    A single fact with exactly that value is replaced. Otherwise a person decides.
    """
    old, new = proposition.former or "", proposition.object or ""
    holding = [fact for fact in known if fact.is_current and _find_value(old, fact.fact)]
    if not new:  # the whole statement was said: what it has all words of, beside the value, is meant
        words = content_words(proposition.statement.rstrip("."))
        rest = {fact.id: _beside(old, fact) for fact in holding}
        meant = tuple(key for key, other in rest.items() if len(other) > 1 and other <= words)
        plain = proposition._replace(category=DEFAULT_CATEGORY)
        return (plain, ReconcileDecision(ADD, (), f"The text says that '{old}' was wrong.", meant)) if meant else None
    exact = [fact for fact in holding if content_words(fact.object or "") == content_words(old)]
    found = sorted(exact or (holding if is_specific(old) else ()), key=_said)
    if not found:
        return None
    fact = found[-1]
    made = proposition._replace(
        statement=_replace_value(fact.fact, old, new) or fact.fact,
        subject=fact.subject,
        predicate=fact.predicate,
        object=_replace_value(fact.object or "", old, new) or fact.object,
        relation_phrase=fact.relation_phrase,
        category=fact.category,
        importance=proposition.importance if fact.importance is None else fact.importance,
    )
    if len(exact) == 1:
        return made, ReconcileDecision(UPDATE, (fact.id,), f"The text says that '{old}' was wrong.")
    reason = f"The text says that '{old}' was wrong, but not in which fact, and {len(found)} known facts contain it."
    return made, ReconcileDecision(ADD, (), reason, (fact.id,))


def _find_value(old: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE)


def _replace_value(text: str, old: str, new: str) -> str | None:
    place = _find_value(old, text)
    return f"{text[: place.start()]}{new}{text[place.end() :]}" if place else None


def _said(fact: Fact) -> str:
    return str((fact.metadata or {}).get("said_at") or fact.timestamp)
