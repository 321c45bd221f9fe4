"""Promotion: the facts of a day that are worth thirty days are marked and lifted, in one commit, each with its reason.

What learning only noted, because nothing deserved an entity yet, is looked at again from its events. What a person
should decide is proposed in the same commit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import entity_exists, holding
from clawmem.learning.by_model.extraction import RULES
from clawmem.learning.by_model.telemetry import with_telemetry
from clawmem.learning.promotion.adapt import adaptation
from clawmem.learning.promotion.candidates import PromotionCandidate, contenders
from clawmem.learning.promotion.doubtful import PendingPromotions
from clawmem.llm.choice import Model
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.review.proposals import filing, filing_trailers
from clawmem.memory.writing import WriteScope, items_write, writing
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
)
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.learning.by_model.judge import ModelJudgements


class PromoteResult(NamedTuple):
    """The day, every candidate's verdict best first, the ids of facts that were only notes before, the commit; the
    proposals for a person; who judged, what the model's run cost, and why it did not judge everything."""

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
        """The verdicts that promote."""
        return tuple(one for one in self.verdicts if one.promoted)

    @property
    def waiting(self) -> tuple[PromotionVerdict, ...]:
        """The verdicts that leave it to a person."""
        return tuple(one for one in self.verdicts if one.waits)


class _PromotionDay(NamedTuple):
    """The candidates of a day, what each of them is by its id, what bears on them, and the terms."""

    on: str
    candidates: tuple[ScoredFact, ...]
    contenders: dict[str, PromotionCandidate]
    docket: PendingPromotions
    terms: PromotionTerms


def promote(vault: Vault, caller: Caller, on: str, dry_run: bool = False, model: Model | None = None) -> PromoteResult:
    """Promote the best facts that the day `on` taught or recorded, at most as many as are in force for one day.

    What was promoted for that day before counts, so that a second run promotes nothing more. A model, where there is
    one, judges what thirty days are worth; what it does not come to, the rules judge.
    """
    judging = _judging(vault, caller, on, dry_run, model)
    with writing(vault, caller, "promote", dry_run=dry_run) as work:
        day = _day(work, on, model if judging and judging.judgements else None)
        candidates = [one._replace(judgement=_judged(one, judging)) for one in day.candidates]
        verdicts = decide(candidates, day.terms)
        proposals: list[Proposal] = []
        commit = None
        if not dry_run:
            verdicts, proposals = _proposed(day, verdicts)
            commit = _commit(work, day, verdicts, proposals, judging)
        noted = [one.candidate.fact.id for one in verdicts if one.promoted]
        done = PromoteResult(
            on,
            tuple(verdicts),
            tuple(one for one in noted if day.contenders[one].noted),
            commit,
            (*work.notices, *day.docket.notices),
            tuple(proposals),
        )
    return _with_judging(done, judging)


def _judging(vault: Vault, caller: Caller, on: str, dry_run: bool, model: Model | None) -> ModelJudgements | None:
    """Let the model, where there is one, judge what can be promoted; no lock is held while it thinks."""
    if model is None:
        return None
    from clawmem.learning.by_model.judge import ModelJudgements, judge_by_model  # only where a model is set

    with writing(vault, caller, "promote", dry_run=dry_run) as work:
        day = _day(work, on, model)
    ranked = sorted(day.candidates, key=lambda one: -one.judgement.score)
    open_ones = [one for one in ranked if one.judgement.refusal is None and one.settled is None]
    if day.terms.most <= day.terms.before or not open_ones:
        return None
    if dry_run:
        words = f"A dry run calls no model: {counted(len(open_ones), 'candidate')} would be shown to {model.name}."
        return ModelJudgements(notices=(words,))
    return judge_by_model(caller, model, open_ones, on, day.terms.worth, vault.read)


def _day(work: WriteScope, on: str, model: Model | None) -> _PromotionDay:
    settings = work.vault.settings
    values, docket = adaptation(work.read, settings), PendingPromotions(work)
    found = {one.fact.id: one for one in contenders(work, on)}
    terms = PromotionTerms(
        values.score,
        min(values.max_facts, model.limits.facts) if model else values.max_facts,
        sum(1 for one in holding(work.index, f'"{MARK}"') if _promoted_alone(one.fact, on)),
        settings.number("promotion.margin"),
        settings.whole("promotion.max_proposals"),
        docket.asked(on),
    )
    candidates = tuple(docket.candidate(one, score_fact(one.fact, one.entity, on)) for one in found.values())
    return _PromotionDay(on, candidates, found, docket, terms)


def _promoted_alone(fact: Fact, on: str) -> bool:
    """Whether the fact was promoted for that day without a person: only that counts against the day's limit."""
    mark = promotion_of(fact)
    return mark is not None and day_of(mark["on"]) == on and "proposal" not in mark


def _judged(one: ScoredFact, judging: ModelJudgements | None) -> PromotionScore:
    return judging.of(one.fact, one.entity, one.judgement) if judging else one.judgement


def _proposed(
    day: _PromotionDay, verdicts: Sequence[PromotionVerdict]
) -> tuple[list[PromotionVerdict], list[Proposal]]:
    """The verdicts with the ids of the proposals that are to be filed, and those."""
    proposals, known = [], []
    for one in verdicts:
        if one.waits:
            proposals.append(day.docket.proposal(day.contenders[one.candidate.fact.id], one, day.on))
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
    change = with_telemetry(_change(work, day, kept, proposals), telemetry, work.read)
    return work.commit([change])[-1]


def _change(work: WriteScope, day: _PromotionDay, kept: Sequence[ScoredFact], proposals: Sequence[Proposal]) -> Change:
    lifted: dict[str, dict[str, Fact]] = defaultdict(dict)
    for one in kept:
        lifted[one.entity][one.fact.id] = mark_promoted(one.fact, day.on, one.judgement)
    writes: dict[str, bytes | None] = {}
    for note in (day.contenders[one.fact.id] for one in kept):
        if note.title and not entity_exists(work.index, note.entity):
            writes.update(new_entity_files(note.entity, work.caller, note.title))
    for entity, marked in lifted.items():
        shelf = {one.id: one for one in work.facts(entity)}
        writes.update(items_write(entity, list({**shelf, **marked}.values())))
    facts = [fact for marked in lifted.values() for fact in marked.values()]
    said = trailers("promote", facts=[one.id for one in facts], entities=sorted(lifted))
    body = [*map(_body_line, kept), *(f"- {one.id} waits for review: {one.says} ({one.why})" for one in proposals)]
    return Change(
        subject_line("promote", day.on, _words(len(facts), len(proposals))),
        {**writes, **filing(proposals)},
        (*said, *filing_trailers(proposals)),
        body="\n".join(body),
    )


def _words(facts: int, proposals: int) -> str:
    told = [f"{counted(facts, 'fact') if facts else 'nothing'} worth thirty days"] if facts or not proposals else []
    return ", ".join([*told, *([f"{proposals} for a person to decide"] if proposals else [])])


def _body_line(one: ScoredFact) -> str:
    reasons = "; ".join(one.judgement.reasons)
    return f"- {para_class(one.entity)} {one.entity}: {one_line(one.fact.fact)} ({one.judgement.score:.2f}: {reasons})"
