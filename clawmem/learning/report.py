"""Reports of learning and promotion, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.learning.by_model.telemetry import RULES
from clawmem.learning.learn import LearnResult
from clawmem.learning.promote import PromoteResult
from clawmem.learning.reconciling.round_state import (
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
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.text import counted
from clawmem.model.proposals.promotion import PromotionVerdict, para_class
from clawmem.model.safety.secrets.find import redact

LEARNED = {
    "extractor": str,
    "events": int,
    "taught_nothing": int,
    **dict.fromkeys(OUTCOMES, int),
    "entities": [str],
    "model": ("run", None),
    "proposals": ["waiting"],
}
"""The shape of `learned_data`, as `clawmem.faces.parts.shapes` writes shapes."""
CANDIDATE = {
    "statement": str,
    "outcome": set(OUTCOMES),
    "gate": str,
    "reason": str,
    "event": (str, None),
    "evidence": (str, None),
    "fact": (str, None),
    "entity": (str, None),
    "proposal": (str, None),
}
"""The shape of `candidate_data`."""
_NOT_KEPT = {NOTED: "noted only", REFUSED: "refused"}
_MOST_NOT_KEPT = 3
PROMOTION = {
    "date": str,
    "promoted": [str],
    "candidates": [
        {
            "id": str,
            "fact": str,
            "entity": str,
            "para": str,
            "score": float,
            "promoted": bool,
            "waits": bool,
            "proposal": (str, None),
            "reason": str,
            "reasons": [str],
        }
    ],
    "proposals": ["waiting"],
    "judge": str,
    "model": ("run", None),
    "commit": (str, None),
}
"""The shape of `promotion_data`."""


def learn_data(learned: LearnResult) -> dict[str, Any]:
    """Return the result of learning as JSON. The outcome counts are counts of candidates."""
    return {
        "extractor": learned.extractor,
        "events": learned.events,
        "taught_nothing": learned.taught_nothing,
        **{outcome: learned.count(outcome) for outcome in OUTCOMES},
        "entities": list(learned.entities),
        "model": learned.extraction.run,
        "proposals": [
            {"id": proposal.id, "kind": proposal.kind, "says": proposal.says, "why": proposal.why}
            for proposal in learned.proposals
        ],
    }


def candidate_data(candidate: LearningCandidate) -> dict[str, Any]:
    """Return a candidate as JSON, with its outcome, the step that decided, and the reason."""
    return {
        "statement": candidate.proposition.statement,
        "outcome": candidate.outcome,
        "gate": candidate.gate,
        "reason": candidate.reason,
        "event": candidate.proposition.event_id,
        "evidence": candidate.proposition.source_text,
        "fact": candidate.fact.id if candidate.fact else None,
        "entity": candidate.entity,
        "proposal": candidate.proposal,
    }


def learn_lines(learned: LearnResult, dry_run: bool) -> Iterator[str]:
    """Yield one line with the counts, one about the events from which no fact came, then one line per proposal."""
    replaced = sum(learned.count(outcome) for outcome in (UPDATED, MERGED, RETRACTED))
    older = "an older one" if replaced == 1 else "older ones"
    waiting = learned.count(PROPOSED)
    yield (
        f"read {counted(learned.events, 'event')} by {learned.extractor}: "
        f"{counted(learned.count(ADDED), 'fact')} added, {replaced} replaced {older}, "
        f"{learned.count(NOOP)} already known, "
        f"{learned.count(NOTED)} noted only, {learned.count(REFUSED)} refused"
        + (f", {waiting} for a person to decide" if waiting else "")
    )
    if learned.taught_nothing:
        by_agent = "; without a model, an agent reads them: `clawmem learn pending`"
        yield (
            f"taught nothing: {learned.taught_nothing:,} of {counted(learned.events, 'event')}"
            + (by_agent if learned.extractor == RULES else "")
        )
    yield from _not_kept(learned)
    for proposal in learned.proposals:
        name = "" if dry_run else f"{proposal.id}  "
        yield f"waits for review: {name}{proposal.says}  [{proposal.kind}: {proposal.why}]"


def _not_kept(learned: LearnResult) -> Iterator[str]:
    """Yield what was noted only or refused, with the reason and its event, and how many more there are."""
    for outcome, words in _NOT_KEPT.items():
        found = [doubt for doubt in learned.candidates if doubt.outcome == outcome]
        for doubt in found[:_MOST_NOT_KEPT]:
            yield f"{words}: {redact(doubt.proposition.statement)}  [{doubt.reason} {doubt.proposition.event_id}]"
        if len(found) > _MOST_NOT_KEPT:
            yield f"{words}: {len(found) - _MOST_NOT_KEPT:,} more; `clawmem heartbeat --explain` lists all of a run"


def candidate_line(candidate: LearningCandidate) -> str:
    """Return a candidate on one line: outcome, statement, the step that decided, and the reason."""
    outcome = "ended" if candidate.outcome == RETRACTED else candidate.outcome  # it stands, and ends another one
    return f"{outcome:<9}  {candidate.proposition.statement}  [{candidate.gate}: {candidate.reason}]"


def promotion_data(result: PromoteResult, explain: bool, run: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the promotion of a day as JSON, with the model's run; with `explain`, every candidate."""
    shown = result.verdicts if explain else [*result.kept, *result.waiting]
    return {
        "date": result.on,
        "promoted": [verdict.candidate.fact.id for verdict in result.kept],
        "candidates": [_promotion_verdict(verdict) for verdict in shown],
        "proposals": [
            {"id": proposal.id, "kind": proposal.kind, "says": proposal.says, "why": proposal.why}
            for proposal in result.proposals
        ],
        "judge": result.judge,
        "model": run,
        "commit": result.commit,
    }


def promotion_line(verdict: PromotionVerdict) -> str:
    """Return a promotion candidate on one line: outcome, fact and reason."""
    word = "promoted" if verdict.promoted else "waits" if verdict.waits else "left"
    proposal = f"{verdict.proposal}: " if verdict.waits and verdict.proposal else ""
    return f"{word:<8}  {fact_line(verdict.candidate.fact, verdict.candidate.entity)}  [{proposal}{verdict.reason}]"


def replacement_line(old: Fact, new: Fact) -> str:
    """Return a fact on one line that another one follows."""
    return f"replaced {old.id} {old.fact}  [by: {new.fact}]"


def _promotion_verdict(verdict: PromotionVerdict) -> dict[str, Any]:
    fact, entity, judgement = verdict.candidate[:3]
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": entity,
        "para": para_class(entity),
        "score": judgement.score,
        "promoted": verdict.promoted,
        "waits": verdict.waits,
        "proposal": verdict.proposal,
        "reason": verdict.reason,
        "reasons": list(judgement.reasons),
    }
