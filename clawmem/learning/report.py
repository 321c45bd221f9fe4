"""What learning and promotion did, in lines and as JSON: counts, what waits for review, each candidate's verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clawmem.learning.learn import LearnResult
from clawmem.learning.promotion.promote import PromoteResult
from clawmem.learning.reconciling.candidate import (
    ADDED,
    MERGED,
    NOOP,
    NOTED,
    OUTCOMES,
    PROPOSED,
    REFUSED,
    RETRACTED,
    UPDATED,
    LearningCandidate,
)
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.text import counted
from clawmem.model.proposals.promotion import PromotionVerdict, para_class


def learn_data(learned: LearnResult) -> dict[str, Any]:
    """The round as callers of --json get it; the counts of outcomes are of candidates."""
    return {
        "extractor": learned.extractor,
        "events": learned.events,
        **{outcome: learned.count(outcome) for outcome in OUTCOMES},
        "entities": list(learned.entities),
        "model": learned.extraction.run,
        "proposals": [{"id": one.id, "kind": one.kind, "says": one.says, "why": one.why} for one in learned.proposals],
    }


def candidate_data(one: LearningCandidate) -> dict[str, Any]:
    """A candidate and its verdict: the step that decided, its reason, and what became of it."""
    return {
        "statement": one.proposition.statement,
        "outcome": one.outcome,
        "gate": one.gate,
        "reason": one.reason,
        "event": one.proposition.event_id,
        "evidence": one.proposition.source_text,
        "fact": one.fact.id if one.fact else None,
        "entity": one.entity,
        "proposal": one.proposal,
    }


def learn_lines(learned: LearnResult, dry_run: bool) -> Iterator[str]:
    """The counts, then each proposal that was filed."""
    replaced = sum(learned.count(outcome) for outcome in (UPDATED, MERGED, RETRACTED))
    older = "an older one" if replaced == 1 else "older ones"
    waiting = learned.count(PROPOSED)
    yield (
        f"read {counted(learned.events, 'event')} by {learned.extractor}: "
        f"{counted(learned.count(ADDED), 'fact')} added, {replaced} replaced {older}, "
        f"{learned.count(NOOP)} known already, "
        f"{learned.count(NOTED)} noted only, {learned.count(REFUSED)} refused"
        + (f", {waiting} for a person to decide" if waiting else "")
    )
    for one in learned.proposals:
        name = "" if dry_run else f"{one.id}  "
        yield f"waits for review: {name}{one.says}  [{one.kind}: {one.why}]"


def candidate_line(one: LearningCandidate) -> str:
    """A candidate on one line: its outcome, its statement, the step that decided and why."""
    return f"{one.outcome:<9}  {one.proposition.statement}  [{one.gate}: {one.reason}]"


def promotion_data(done: PromoteResult, explain: bool) -> dict[str, Any]:
    """A run of promotion as JSON: what was promoted, and with `explain` every candidate."""
    shown = done.verdicts if explain else [*done.kept, *done.waiting]
    return {
        "date": done.on,
        "promoted": [one.candidate.fact.id for one in done.kept],
        "from_notes": list(done.noted),
        "candidates": [_promotion_verdict(one) for one in shown],
        "proposals": [{"id": one.id, "kind": one.kind, "says": one.says, "why": one.why} for one in done.proposals],
        "judge": done.judge,
        "model": done.run,
        "commit": done.commit,
    }


def promotion_line(one: PromotionVerdict) -> str:
    """A candidate on one line: what became of it, and why."""
    word = "promoted" if one.promoted else "waits" if one.waits else "left"
    proposal = f"{one.proposal}: " if one.waits and one.proposal else ""
    return f"{word:<8}  {fact_line(one.candidate.fact, one.candidate.entity)}  [{proposal}{one.reason}]"


def _promotion_verdict(one: PromotionVerdict) -> dict[str, Any]:
    fact, entity, judgement = one.candidate[:3]
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": entity,
        "para": para_class(entity),
        "score": judgement.score,
        "promoted": one.promoted,
        "waits": one.waits,
        "proposal": one.proposal,
        "reason": one.reason,
        "reasons": list(judgement.reasons),
    }
