"""The reports of the heartbeat steps, as JSON and as lines.

Promotion at night: one run for each day that is due.

Reports of learning and promotion, as lines and as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.vectors.embed import EmbeddingRun
from clawmem.learning.adapt import AdaptResult
from clawmem.learning.by_model.telemetry import RULES
from clawmem.learning.learn import LearnResult
from clawmem.learning.pending import CandidatesResult
from clawmem.learning.promote import PromoteResult, joined_results, promote
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
from clawmem.learning.relate import RelateResult, format_triple
from clawmem.learning.synthesize import SynthesizeResult
from clawmem.llm.choice import Model
from clawmem.memory.entities.entities import EntityChange
from clawmem.memory.facts.access import DecayResult, FoldResult
from clawmem.memory.facts.premises import FutureValuesResult, PremisesResult
from clawmem.memory.pages.memory_page import RefreshedPages
from clawmem.memory.scope import WriteScope
from clawmem.memory.sync.sync import SyncResult
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.dates import days_after, night_of
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import in_doubt
from clawmem.model.progress import OnProgress
from clawmem.model.proposals.promotion import PromotionVerdict, para_class
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import cost_line
from clawmem.model.safety.secrets.find import redact
from clawmem.vault.state.heartbeat_state import HeartbeatState
from clawmem.vault.vault import Vault
from clawmem.work.sessions.notes import FoldedSessions

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


class StepContext(NamedTuple):
    """The input of a step.

    `last` is the state stored by the last heartbeat. `results` maps the names of earlier steps to their results; steps
    that were not due or failed are missing. `model` reads events, `judge` judges facts for promotion, and `narrator`
    writes the narratives of days. `report` gets how far a step is. `pages` is the write scope of steps that share one.
    """

    vault: Vault
    caller: Caller
    last: HeartbeatState
    model: Model | None
    dry_run: bool
    results: Mapping[str, Any]
    judge: Model | None = None
    narrator: Model | None = None
    report: OnProgress | None = None
    pages: WriteScope | None = None

    @property
    def read_by(self) -> str | None:
        """Return the names of the models that can read events, or None if none can."""
        return f"{self.model.name} {self.vault.settings.words('llm.more_presets')}" if self.model else None


class Due(NamedTuple):
    """When a step is due: a description for people and the test itself."""

    description: str
    is_due: Callable[[StepContext], object]


class Report(NamedTuple):
    """The report of a step: keys of the JSON answer, lines for people, and further lines for `--explain`."""

    data: Mapping[str, Any] = {}
    lines: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


class Reporter(NamedTuple):
    """How a step reports: the shape of its JSON keys, and a function of the result and of whether `--explain` was
    given."""

    shape: Mapping[str, Any]
    made: Callable[[Any, bool], Report]

    def report(self, result: Any, explain: bool) -> Report:
        """Return the report; the empty values of the shape where the step was not due or failed."""
        return Report(dict(self._empty())) if result is None else self.made(result, explain)

    def _empty(self) -> Iterator[tuple[str, Any]]:
        for key, value in self.shape.items():
            if not key.endswith("?"):
                yield key, [] if isinstance(value, list) else None if isinstance(value, tuple) else value()


SILENT = Reporter({}, lambda result, explain: Report())
"""The reporter of an internal step."""


def result_problems(result: Any) -> Iterable[tuple[str | None, ClawmemError]]:
    """Return the `problems` of a result, each paired with None, which stands for the name of the step."""
    return ((None, problem) for problem in getattr(result, "problems", ()))


def commits_of(result: Any) -> Sequence[str]:
    """Return the commits named by a step's result, from its `commits` or its `commit`."""
    several = getattr(result, "commits", None)
    if isinstance(several, tuple):
        return several
    other = getattr(result, "commit", None)
    return [other] if other else []


class Step(NamedTuple):
    """A row of the table of steps.

    `run` does the work; its result may have `commit` or `commits`, `notices` and `problems`. `failures` lists
    errors that did not stop the step. Steps with `shares` that follow each other write their pages in one commit.
    """

    name: str
    description: str
    due: Due
    run: Callable[[StepContext], Any]
    reporter: Reporter = SILENT
    failures: Callable[[Any], Iterable[tuple[str | None, ClawmemError]]] = result_problems
    shares: bool = False


def _user(change: EntityChange, explain: bool) -> Report:
    return Report({"user_entity": change.name}, (f"moved what is known of the user to {change.name}",))


def _relate(result: RelateResult, explain: bool) -> Report:
    facts = result.facts
    lines = (f"extracted triples of {counted(len(facts), 'fact')}",) if facts else ()
    details = tuple(f"{'related':<10} {placed.fact.fact}  [{format_triple(placed.fact)}]" for placed in facts)
    return Report({"related": [placed.fact.id for placed in facts]}, lines, details)


def _learn(result: LearnResult, explain: bool) -> Report:
    """Return what was learned. With `explain`, list every candidate with its outcome."""
    data: dict[str, Any] = {"learned": learn_data(result)}
    if explain:
        data["candidates"] = [candidate_data(candidate) for candidate in result.candidates]
    # A dry run has no commit.
    run = result.extraction.run
    lines = list(learn_lines(result, dry_run=result.commit is None)) if result.events or run else []
    lines += [cost_line(run)] if run else []
    return Report(data, tuple(lines), tuple(map(candidate_line, result.candidates)))


def _settle(result: FutureValuesResult, explain: bool) -> Report:
    lines = [f"took effect, as announced: {fact.fact}" for fact in result.effective]
    lines += [
        f"remains valid, because its announced replacement was cancelled: {kept.fact}" for kept in result.reopened
    ]
    return Report({"began": [fact.id for fact in result.effective]}, tuple(lines))


def _fold(result: FoldResult, explain: bool) -> Report:
    lines = [f"counted accesses of {counted(result.facts, 'fact')}"] if result.facts else []
    if result.restored:
        was = "was" if len(result.restored) == 1 else "were"
        lines.append(f"restored {counted(len(result.restored), 'archived fact')} that {was} used again")
    return Report({"accesses": result.facts, "restored": list(result.restored)}, tuple(lines))


def _sessions(sessions: FoldedSessions, explain: bool) -> Report:
    lines = [f"committed {counted(sessions.notes, 'note')} of sessions"] if sessions.notes else []
    lines += [f"no sign of life, so abandoned: session {text}" for text in sessions.abandoned]
    return Report({"session_notes": sessions.notes, "abandoned": list(sessions.abandoned)}, tuple(lines))


def _decay(result: DecayResult, explain: bool) -> Report:
    facts = result.facts
    was = "was" if len(facts) == 1 else "were"
    lines = (f"archived {counted(len(facts), 'fact')} that {was} not used for a long time",) if facts else ()
    return Report({"archived": [placed.fact.id for placed in facts]}, lines)


def _premises(result: PremisesResult, explain: bool) -> Report:
    """Return the deprecated facts that were archived, and the facts whose record of changed premises changed."""
    marked, archived = result.facts, result.archived
    lines = [f"archived {counted(len(archived), 'deprecated fact')}"] * bool(archived)
    lines += [
        f"{'in doubt' if in_doubt(placed.fact) else 'not in doubt any more'}: {placed.fact.id}"
        for placed in marked[:20]
    ]
    data = {"in_doubt": [placed.fact.id for placed in marked if in_doubt(placed.fact)]}
    data |= {"not_in_doubt": [placed.fact.id for placed in marked if not in_doubt(placed.fact)]}
    return Report({**data, "deprecated": [placed.fact.id for placed in archived]}, tuple(lines))


def _synthesize(result: SynthesizeResult, explain: bool) -> Report:
    pages = result.pages
    return Report({"daily": list(pages)}, (f"wrote {counted(len(pages), 'daily note')}",) if pages else ())


def _adapt(result: AdaptResult, explain: bool) -> Report:
    """How strict promotion is now, where that changed."""
    data = {"adapted": result.after._asdict() if result.commit else None}
    changed = result.after != result.before
    return Report(data, (f"promotion takes a score of {result.after.score:g} now",) if changed else ())


def _promote(result: PromotedNights, explain: bool) -> Report:
    """Return what was promoted for each day. With `explain`, list every candidate."""
    lines: list[str] = []
    for night in result.nights:
        lines += [f"promoted {counted(len(night.kept), 'fact')} of {night.on}"] if night.kept else []
        lines += map(promotion_line, night.verdicts if explain else [*night.kept, *night.waiting])
        lines += starmap(replacement_line, night.replaced)
    shown = [night for night in result.nights if explain or night.kept or night.waiting or night.replaced]
    return Report({"promoted": [promotion_data(night, explain) for night in shown]}, tuple(lines))


def _candidates(result: CandidatesResult, explain: bool) -> Report:
    proposals = result.proposals
    from_ = f"{counted(len(proposals), 'message')} that nobody read"
    wait = "a candidate waits" if len(proposals) == 1 else "candidates wait"
    lines = (f"from {from_} {wait} for you: `clawmem review decide`",) if proposals else ()
    shown = tuple(f"{'candidate':<10} {each.says}" for each in proposals)
    return Report({"proposed_unread": [each.id for each in proposals]}, lines, shown)


def _pages(key: str, words: Callable[[tuple[str, ...]], str]) -> Callable[[RefreshedPages, bool], Report]:
    def made(result: RefreshedPages, explain: bool) -> Report:
        return Report({key: list(result.changed)}, (words(result.changed),) if result.changed else ())

    return made


def _memory(result: RefreshedPages, explain: bool) -> Report:
    return Report({"memory": bool(result.changed)}, ("refreshed MEMORY.md",) if result.changed else ())


def _sync(result: SyncResult, explain: bool) -> Report:
    received, sent = result.received, result.sent if result.pushed else 0
    lines = [f"received {counted(received, 'change')} from other machines"] if received else []
    lines += [f"sent {counted(sent, 'change')} to {result.remote}"] if sent else []
    lines += [f"conflict: {conflict.says}" for conflict in result.conflicts]
    return Report({"received": received, "sent": sent}, tuple(lines))


def _embed(run: EmbeddingRun, explain: bool) -> Report:
    left = f", {run.left:,} left for the next heartbeat" if run.left else ""
    lines = (f"embedded {counted(run.embedded, 'text')}{left}",) if run.embedded or run.left else ()
    return Report({"embedded": {"texts": run.embedded, "left": run.left, "model": run.model}}, lines)


NOTES = Reporter({"notes": int}, lambda result, explain: Report({"notes": result.added}))
USER = Reporter({"user_entity": (str, None)}, _user)
RELATE = Reporter({"related": [str]}, _relate)
LEARN = Reporter({"learned": (LEARNED, None), "candidates?": [CANDIDATE]}, _learn)
SETTLE = Reporter({"began": [str]}, _settle)
FOLD = Reporter({"accesses": int, "restored": [str]}, _fold)
QUEUE = Reporter({"asked": ["run"]}, lambda run, explain: Report(
    {"asked": [dict(record) for record in run.records]}, tuple(map(cost_line, run.records))))  # fmt: skip
SESSIONS = Reporter({"session_notes": int, "abandoned": [str]}, _sessions)
DECAY = Reporter({"archived": [str]}, _decay)
PREMISES = Reporter({"in_doubt": [str], "not_in_doubt": [str], "deprecated": [str]}, _premises)
SYNTHESIZE = Reporter({"daily": [str]}, _synthesize)
ADAPT = Reporter({"adapted": ({str: object}, None)}, _adapt)
PROMOTE = Reporter({"promoted": [PROMOTION]}, _promote)
CANDIDATES = Reporter({"proposed_unread": [str]}, _candidates)
SUMMARIES = Reporter(
    {"refreshed": [str]}, _pages("refreshed", lambda names: f"refreshed {counted(len(names), 'summary', 'summaries')}")
)
MEMORY = Reporter({"memory": bool}, _memory)
GUARDRAILS = Reporter({"guardrails": [str]}, _pages("guardrails", lambda pages: f"refreshed {', '.join(pages)}"))
UPKEEP = Reporter({"repacked": bool}, lambda result, explain: Report(
    {"repacked": result.repacked}, ("packed the repository",) if result.repacked else ()))  # fmt: skip
SYNC = Reporter({"received": int, "sent": int}, _sync)
EMBED = Reporter({"embedded": ({"texts": int, "left": int, "model": str}, None)}, _embed)


MAX_NIGHTS = 7
"""The most nights that one heartbeat catches up on after the machine was off."""


class PromotedNights(NamedTuple):
    """The promotion result for each night that was due, with what a reader judged, and the nights that failed."""

    nights: tuple[PromoteResult, ...]
    failed: tuple[tuple[str | None, ClawmemError], ...]
    commits: tuple[str, ...]
    notices: tuple[str, ...]


def nights_due(run: StepContext) -> Sequence[str]:
    """Return the days that are ready for promotion and not yet promoted, as ISO dates, oldest first."""
    return days_after(run.last.promoted, night_of(run.caller.now), MAX_NIGHTS)


def promote_nights(run: StepContext, judged: Sequence[PromoteResult]) -> PromotedNights:
    """Promote each day that is due by the rules, after what a reader has `judged`."""
    items: list[PromoteResult] = []
    failed: list[tuple[str | None, ClawmemError]] = []
    days = nights_due(run)
    for day in sorted({*days, *(result.on for result in judged)}):
        results = [result for result in judged if result.on == day]
        try:
            results += [promote(run.vault, run.caller, day, run.dry_run)] if day in days else []
        except ClawmemError as problem:
            failed.append((None, problem))
        items += [joined_results(results)] if results else []
    commits = tuple(night.commit for night in items if night.commit)
    return PromotedNights(
        tuple(items), tuple(failed), commits, tuple(notice for night in items for notice in night.notices)
    )
