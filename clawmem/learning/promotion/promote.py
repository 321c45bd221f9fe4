"""Promotion: mark the facts of a day that are worth keeping for thirty days, in one commit, each with its reason.

Notes whose entity exists by now are candidates too. Doubtful promotions are proposed for review in the same commit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.index.search.lookup import facts_containing
from clawmem.index.tables.accesses import counted_fact
from clawmem.learning.by_model.extraction import RULES
from clawmem.learning.promotion.adapt import current_adaptation
from clawmem.learning.promotion.candidates import (
    PromotionCandidate,
    is_placed_by_learning,
    promotion_candidates,
)
from clawmem.learning.promotion.doubtful import PendingPromotions
from clawmem.llm.tasks import ModelTask, checked_answer
from clawmem.memory.entities.moving import FactMove, move_writes
from clawmem.memory.review.proposals import proposal_trailers, proposal_writes
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted, normal, one_line
from clawmem.model.proposals.para import entity_name
from clawmem.model.proposals.promotion import (
    MARK,
    PromotionScore,
    PromotionTerms,
    PromotionVerdict,
    ScoredFact,
    decide,
    mark_promoted,
    para_class,
    promotion_of,
    score_fact,
    without_place,
)
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import is_candidate_place
from clawmem.vault.state.reading_state import MOST_JUDGED, keep_reading_state, read_reading_state
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.learning.by_model.judge import Judgements

# A reader is asked about the facts of so many days before today.
_DAYS_TO_JUDGE = 7


class PromoteResult(NamedTuple):
    """The result of promoting one day.

    `verdicts` has every candidate, best first. `judge` is the reader who judged, or `rules`.
    """

    on: str
    verdicts: tuple[PromotionVerdict, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    judge: str = RULES

    @property
    def kept(self) -> tuple[PromotionVerdict, ...]:
        """Return the verdicts that promote."""
        return tuple(one for one in self.verdicts if one.promoted)

    @property
    def waiting(self) -> tuple[PromotionVerdict, ...]:
        """Return the verdicts that wait for review."""
        return tuple(one for one in self.verdicts if one.waits)


class _PromotionDay(NamedTuple):
    """The scored candidates of a day, the candidates by fact id, the pending proposals, and the limits."""

    on: str
    candidates: tuple[ScoredFact, ...]
    by_id: dict[str, PromotionCandidate]
    pending: PendingPromotions
    terms: PromotionTerms


def promotion_tasks(
    vault: Vault, caller: Caller, days: Sequence[str] = ()
) -> dict[str, tuple[str, ModelTask, list[ScoredFact]]]:
    """Return the tasks to judge the facts of some days, or of the last ones, that no reader has judged: by their ids,
    each with its day and what it shows."""
    from clawmem.learning.by_model.judge import judging_tasks  # only where a reader is asked

    today = caller.now.date()
    found = {}
    for on in days or [(today - timedelta(days=back)).isoformat() for back in range(1, _DAYS_TO_JUDGE + 1)]:
        with writing(vault, caller, "promote", dry_run=True) as work:
            day = _day(work, on)
        ranked = sorted(day.candidates, key=lambda one: -one.judgement.score)
        open_ones = [one for one in ranked if one.judgement.refusal is None and one.settled is None]
        found.update({key: (on, *task) for key, task in judging_tasks(open_ones, on).items()})
    return found


def apply_promotion(
    vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any], days: Sequence[str] = (), judge: str = ""
) -> PromoteResult | None:
    """Promote and place facts by an answer of `judge`, or of the calling agent, to a task of `promotion_tasks`. Return
    None if no such task waits."""
    from clawmem.learning.by_model.judge import judged_facts  # only where a reader is asked

    asked = promotion_tasks(vault, caller, days).get(key)
    if asked is None:
        return None
    on, task, shown = asked
    judging = judged_facts(judge or caller.agent or "agent", checked_answer(task, answer), shown)
    done = promote(vault, caller, on, judging=judging)
    state = read_reading_state(vault)
    judged = (*state.judged, *(one.fact.id for one in shown))[-MOST_JUDGED:]
    keep_reading_state(vault, state._replace(judged=judged))
    return done


def joined_results(results: Sequence[PromoteResult]) -> PromoteResult:
    """Return several runs of one day as one; of a fact that was decided about twice, the first verdict counts."""
    last = results[-1]
    verdicts = {one.candidate.fact.id: one for result in reversed(results) for one in result.verdicts}
    ranked = sorted(verdicts.values(), key=lambda one: (not one.promoted, -one.candidate.judgement.score))
    return last._replace(
        verdicts=tuple(ranked),
        commit=next((one.commit for one in reversed(results) if one.commit), None),
        notices=tuple(dict.fromkeys(one for result in results for one in result.notices)),
        proposals=tuple(one for result in results for one in result.proposals),
        judge=next((one.judge for one in results if one.judge != RULES), RULES),
    )


def promote(
    vault: Vault, caller: Caller, on: str, dry_run: bool = False, judging: Judgements | None = None
) -> PromoteResult:
    """Promote the best facts of the day `on`, up to the daily limit: by what a reader judged, else by the rules.

    Earlier promotions for that day count towards the limit, so a second run promotes nothing more. Facts that a reader
    judged before are left alone.
    """
    with writing(vault, caller, "promote", dry_run=dry_run) as work:
        day = _day(work, on)
        candidates = [one._replace(judgement=_score(one, judging)) for one in day.candidates]
        placed = _place_elsewhere(day, judging, work.vault.settings.words("defaults.entity"))
        verdicts = [_with_move(one, day.by_id[one.candidate.fact.id]) for one in decide(candidates, day.terms)]
        proposals: list[Proposal] = []
        commit = None
        if not dry_run:
            verdicts, proposals = _with_proposals(day, verdicts)
            proposals += day.pending.archiving(judging.finished, judging.judge) if judging else []
            commit = _commit(work, day, verdicts, proposals, placed)
        return PromoteResult(
            on,
            tuple(verdicts),
            commit,
            (*work.notices, *day.pending.notices, *(judging.notices if judging else ())),
            tuple(proposals),
            judging.judge if judging and judging.scores else RULES,
        )


def _day(work: WriteScope, on: str) -> _PromotionDay:
    settings = work.vault.settings
    values, pending = current_adaptation(work.read, settings), PendingPromotions(work)
    found = {one.fact.id: one for one in promotion_candidates(work, on)}
    terms = PromotionTerms(
        values.score,
        values.max_facts,
        sum(1 for one in facts_containing(work.index, f'"{MARK}"') if _promoted_alone(one.fact, on)),
        settings.number("promotion.margin"),
        settings.whole("promotion.max_proposals"),
        pending.count(on),
    )
    scored = (
        pending.scored(one, score_fact(counted_fact(work.index, one.fact), one.entity, on)) for one in found.values()
    )
    judged = frozenset(read_reading_state(work.vault).judged)
    candidates = (
        one._replace(settled="a reader judged it before") if one.fact.id in judged and not one.settled else one
        for one in scored
    )
    return _PromotionDay(on, tuple(candidates), found, pending, terms)


def _promoted_alone(fact: Fact, on: str) -> bool:
    """Return whether the fact was promoted for that day without review. Only these count towards the daily limit."""
    mark = promotion_of(fact)
    return mark is not None and day_of(mark["on"]) == on and "proposal" not in mark


def _score(one: ScoredFact, judging: Judgements | None) -> PromotionScore:
    """Return the score of the reader, but keep the refusal of the rules."""
    found = judging.scores.get((one.entity, normal(one.fact.fact))) if judging else None
    return found._replace(refusal=one.judgement.refusal) if found else one.judgement


def _place_elsewhere(day: _PromotionDay, judging: Judgements | None, default: str) -> frozenset[str]:
    """Let candidates go where the reader says that they belong; what a person placed stays. Return the ids of those
    that go there whatever they are worth."""
    found: set[str] = set()
    for one in day.candidates if judging and judging.places else ():
        hint = judging.places.get((one.entity, normal(one.fact.fact))) if judging else None
        entity = entity_name(hint) if hint else None
        candidate = day.by_id[one.fact.id]
        free = is_placed_by_learning(one.fact) or candidate.entity == default
        if hint and entity and entity != candidate.entity and free:
            source = candidate.moves or candidate.entity
            why = f"it is about the {hint.kind} {hint.title}"
            day.by_id[one.fact.id] = candidate._replace(entity=entity, title=hint.title, moves=source, why=why)
            found |= set() if is_candidate_place(source) else {one.fact.id}
    return frozenset(found)


def _with_move(verdict: PromotionVerdict, candidate: PromotionCandidate) -> PromotionVerdict:
    """Return the verdict that says where a promoted fact moves from, and why."""
    if not (verdict.promoted and candidate.moves):
        return verdict
    return verdict._replace(reason=f"{verdict.reason}; moved from {candidate.moves}: {candidate.why}")


def _with_proposals(
    day: _PromotionDay, verdicts: Sequence[PromotionVerdict]
) -> tuple[list[PromotionVerdict], list[Proposal]]:
    """Return the verdicts with the ids of their new proposals, and the proposals."""
    proposals, known = [], []
    for one in verdicts:
        if one.waits:
            proposals.append(day.pending.proposal(day.by_id[one.candidate.fact.id], one, day.on))
            known.append(one._replace(proposal=proposals[-1].id))
        else:
            known.append(one)
    return known, proposals


def _commit(
    work: WriteScope,
    day: _PromotionDay,
    verdicts: Sequence[PromotionVerdict],
    proposals: Sequence[Proposal],
    placed: Collection[str],
) -> str | None:
    kept = [one.candidate for one in verdicts if one.promoted]
    moved = [one.candidate for one in verdicts if one.candidate.fact.id in placed and not (one.promoted or one.waits)]
    change = _change(work, day, kept, proposals, moved)
    return work.commit([change])[-1] if kept or proposals or moved else None


def _change(
    work: WriteScope,
    day: _PromotionDay,
    kept: Sequence[ScoredFact],
    proposals: Sequence[Proposal],
    moved: Sequence[ScoredFact],
) -> Change:
    moves = [_move(day.by_id[one.fact.id], mark_promoted(one.fact, day.on, one.judgement)) for one in kept]
    moves += [_move(day.by_id[one.fact.id], one.fact) for one in moved]
    writes = move_writes(work, moves)
    facts = [move.fact for move in moves]
    touched = {place for move in moves for place in (move.target, move.source) if place}
    said = trailers("promote", facts=[one.id for one in facts], entities=sorted(touched))
    body = [
        *(_body_line(one, day.by_id[one.fact.id]) for one in (*kept, *moved)),
        *(f"- {one.id} waits for review: {one.says} ({one.why})" for one in proposals),
    ]
    return Change(
        subject_line("promote", day.on, _words(len(kept), len(proposals), len(moved))),
        {**writes, **proposal_writes(proposals)},
        (*said, *proposal_trailers(proposals)),
        body="\n".join(body),
    )


def _words(facts: int, proposals: int, moved: int) -> str:
    rest = [f"{proposals} for a person to decide"] * bool(proposals) + [f"{moved} placed elsewhere"] * bool(moved)
    kept = f"{counted(facts, 'fact') if facts else 'nothing'} worth thirty days"
    return ", ".join([kept, *rest] if facts or not rest else rest)


def _move(one: PromotionCandidate, promoted: Fact) -> FactMove:
    return FactMove(without_place(promoted), one.moves or one.entity, one.entity, one.title)


def _body_line(one: ScoredFact, candidate: PromotionCandidate) -> str:
    why = f"{one.judgement.score:.2f}: {'; '.join(one.judgement.reasons)}"
    line = f"- {para_class(candidate.entity)} {candidate.entity}: {one_line(one.fact.fact)} ({why})"
    return f"{line}; moved from {candidate.moves}: {candidate.why}" if candidate.moves else line
