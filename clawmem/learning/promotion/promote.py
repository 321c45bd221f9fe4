"""Promotion: mark the facts of a day that are worth keeping for thirty days, in one commit, each with its reason.

Notes whose entity exists by now are candidates too. Doubtful promotions are proposed for review in the same commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import facts_containing
from clawmem.index.tables.accesses import counted_fact
from clawmem.learning.by_model.extraction import RULES
from clawmem.learning.by_model.telemetry import add_event
from clawmem.learning.promotion.adapt import current_adaptation
from clawmem.learning.promotion.candidates import (
    PromotionCandidate,
    is_placed_by_learning,
    promotion_candidates,
)
from clawmem.learning.promotion.doubtful import PendingPromotions
from clawmem.learning.reconciling.entities import entity_name
from clawmem.llm.choice import Model
from clawmem.llm.tasks import ModelTask, checked_answer
from clawmem.memory.entities.moving import FactMove, move_writes
from clawmem.memory.review.proposals import proposal_trailers, proposal_writes
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted, one_line
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
from clawmem.vault.state.reading_state import MOST_JUDGED, keep_reading_state, read_reading_state
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.learning.by_model.judge import ModelJudgements

# A reader is asked about the facts of so many days before today.
_DAYS_TO_JUDGE = 7


class PromoteResult(NamedTuple):
    """The result of promoting one day.

    `verdicts` has every candidate, best first. `noted` has the ids of promoted facts that were only notes before.
    `judge` is the model or `rules`, `run` the record of the model run, `problem` why the model judged only a part.
    """

    on: str
    verdicts: tuple[PromotionVerdict, ...]
    noted: tuple[str, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    judge: str = RULES
    run: Any = None
    problem: ClawmemError | None = None

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


def promotion_tasks(vault: Vault, caller: Caller) -> dict[str, tuple[str, ModelTask, list[ScoredFact]]]:
    """Return the tasks to judge the facts of the last days that no reader has judged, by their ids, each with its day
    and what it shows."""
    from clawmem.learning.by_model.judge import judging_tasks  # only where a reader is asked

    judged, today = frozenset(read_reading_state(vault).judged), caller.now.date()
    found = {}
    for on in ((today - timedelta(days=back)).isoformat() for back in range(1, _DAYS_TO_JUDGE + 1)):
        with writing(vault, caller, "promote", dry_run=True) as work:
            day = _day(work, on, None)
        new = [one for one in _to_judge(day) if one.fact.id not in judged]
        found.update({key: (on, *task) for key, task in judging_tasks(new, on).items()})
    return found


def apply_promotion(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> PromoteResult | None:
    """Promote and place facts by an agent's answer to a task of `promotion_tasks`. Return None if none such waits."""
    from clawmem.learning.by_model.judge import judged_by_agent  # only where a reader is asked

    asked = promotion_tasks(vault, caller).get(key)
    if asked is None:
        return None
    on, task, shown = asked
    judging = judged_by_agent(caller.agent or "agent", checked_answer(task, answer), shown)
    done = promote(vault, caller, on, judging=judging)
    state = read_reading_state(vault)
    judged = (*state.judged, *(one.fact.id for one in shown))[-MOST_JUDGED:]
    keep_reading_state(vault, state._replace(judged=judged))
    return done


def _to_judge(day: _PromotionDay) -> list[ScoredFact]:
    ranked = sorted(day.candidates, key=lambda one: -one.judgement.score)
    return [one for one in ranked if one.judgement.refusal is None and one.settled is None]


def promote(
    vault: Vault,
    caller: Caller,
    on: str,
    dry_run: bool = False,
    model: Model | None = None,
    judging: ModelJudgements | None = None,
) -> PromoteResult:
    """Promote the best facts of the day `on`, up to the daily limit.

    Earlier promotions for that day count towards the limit, so a second run promotes nothing more. If a `model` is
    given, it judges the candidates; the rules judge those that the model does not reach.
    """
    judging = judging or _judging(vault, caller, on, dry_run, model)
    with writing(vault, caller, "promote", dry_run=dry_run) as work:
        day = _day(work, on, model if judging and judging.judgements else None)
        candidates = [one._replace(judgement=_score(one, judging)) for one in day.candidates]
        _place_elsewhere(day, judging)
        verdicts = [_with_move(one, day.by_id[one.candidate.fact.id]) for one in decide(candidates, day.terms)]
        proposals: list[Proposal] = []
        commit = None
        if not dry_run:
            verdicts, proposals = _with_proposals(day, verdicts)
            commit = _commit(work, day, verdicts, proposals, judging)
        noted = [one.candidate.fact.id for one in verdicts if one.promoted]
        done = PromoteResult(
            on,
            tuple(verdicts),
            tuple(one for one in noted if day.by_id[one].noted),
            commit,
            (*work.notices, *day.pending.notices),
            tuple(proposals),
        )
    return _with_judging(done, judging)


def _judging(vault: Vault, caller: Caller, on: str, dry_run: bool, model: Model | None) -> ModelJudgements | None:
    """Let the model judge the candidates. The lock is not held during its calls."""
    if model is None:
        return None
    from clawmem.learning.by_model.judge import ModelJudgements, judge_by_model  # only where a model is set

    with writing(vault, caller, "promote", dry_run=dry_run) as work:
        day = _day(work, on, model)
    open_ones = _to_judge(day)
    if day.terms.most <= day.terms.before or not open_ones:
        return None
    if dry_run:
        words = f"A dry run calls no model: {counted(len(open_ones), 'candidate')} would be shown to {model.name}."
        return ModelJudgements(notices=(words,))
    return judge_by_model(caller, model, open_ones, on, day.terms.worth, vault.read)


def _day(work: WriteScope, on: str, model: Model | None) -> _PromotionDay:
    settings = work.vault.settings
    values, pending = current_adaptation(work.read, settings), PendingPromotions(work)
    found = {one.fact.id: one for one in promotion_candidates(work, on)}
    terms = PromotionTerms(
        values.score,
        min(values.max_facts, model.limits.facts) if model else values.max_facts,
        sum(1 for one in facts_containing(work.index, f'"{MARK}"') if _promoted_alone(one.fact, on)),
        settings.number("promotion.margin"),
        settings.whole("promotion.max_proposals"),
        pending.count(on),
    )
    candidates = tuple(
        pending.scored(one, score_fact(counted_fact(work.index, one.fact), one.entity, on)) for one in found.values()
    )
    return _PromotionDay(on, candidates, found, pending, terms)


def _promoted_alone(fact: Fact, on: str) -> bool:
    """Return whether the fact was promoted for that day without review. Only these count towards the daily limit."""
    mark = promotion_of(fact)
    return mark is not None and day_of(mark["on"]) == on and "proposal" not in mark


def _score(one: ScoredFact, judging: ModelJudgements | None) -> PromotionScore:
    return judging.of(one.fact, one.entity, one.judgement) if judging else one.judgement


def _place_elsewhere(day: _PromotionDay, judging: ModelJudgements | None) -> None:
    """Let candidates go where the reader says that they belong; what a person placed stays."""
    for one in day.candidates if judging and judging.places else ():
        from clawmem.learning.by_model.judge import key_of  # a reader was asked

        hint = judging.places.get(key_of(one.fact, one.entity)) if judging else None
        entity = entity_name(hint) if hint else None
        candidate = day.by_id[one.fact.id]
        if hint and entity and entity != candidate.entity and is_placed_by_learning(one.fact):
            source = candidate.moves or candidate.entity
            why = f"it is about the {hint.kind} {hint.title}"
            day.by_id[one.fact.id] = candidate._replace(
                entity=entity, title=hint.title, moves=None if candidate.noted else source, why=why
            )


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


def _with_judging(done: PromoteResult, judging: ModelJudgements | None) -> PromoteResult:
    if judging is None:
        return done
    notices = (*done.notices, *judging.notices)
    return done._replace(notices=notices, judge=judging.judge, run=judging.run, problem=judging.problem)


def _commit(
    work: WriteScope,
    day: _PromotionDay,
    verdicts: Sequence[PromotionVerdict],
    proposals: Sequence[Proposal],
    judging: ModelJudgements | None,
) -> str | None:
    kept = [one.candidate for one in verdicts if one.promoted]
    telemetry = judging.telemetry if judging else None
    if not kept and not proposals and not telemetry:
        return None
    change = add_event(_change(work, day, kept, proposals), telemetry, work.read)
    return work.commit([change])[-1]


def _change(work: WriteScope, day: _PromotionDay, kept: Sequence[ScoredFact], proposals: Sequence[Proposal]) -> Change:
    moves = [_move(day.by_id[one.fact.id], mark_promoted(one.fact, day.on, one.judgement)) for one in kept]
    writes = move_writes(work, moves)
    facts = [move.fact for move in moves]
    touched = {place for move in moves for place in (move.target, move.source) if place}
    said = trailers("promote", facts=[one.id for one in facts], entities=sorted(touched))
    body = [
        *(_body_line(one, day.by_id[one.fact.id]) for one in kept),
        *(f"- {one.id} waits for review: {one.says} ({one.why})" for one in proposals),
    ]
    return Change(
        subject_line("promote", day.on, _words(len(facts), len(proposals))),
        {**writes, **proposal_writes(proposals)},
        (*said, *proposal_trailers(proposals)),
        body="\n".join(body),
    )


def _words(facts: int, proposals: int) -> str:
    words = [f"{counted(facts, 'fact') if facts else 'nothing'} worth thirty days"] if facts or not proposals else []
    return ", ".join([*words, *([f"{proposals} for a person to decide"] if proposals else [])])


def _move(one: PromotionCandidate, promoted: Fact) -> FactMove:
    source = None if one.noted else one.moves or one.entity
    return FactMove(without_place(promoted), source, one.entity, one.title)


def _body_line(one: ScoredFact, candidate: PromotionCandidate) -> str:
    reasons = "; ".join(one.judgement.reasons)
    line = f"- {para_class(one.entity)} {one.entity}: {one_line(one.fact.fact)} ({one.judgement.score:.2f}: {reasons})"
    return f"{line}; moved from {candidate.moves}: {candidate.why}" if candidate.moves else line
