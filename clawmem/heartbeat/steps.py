"""The steps of the heartbeat, in the order in which they run. A new step is a new row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem import __version__
from clawmem.errors import ClawmemError, ModelFailed
from clawmem.heartbeat import reports
from clawmem.heartbeat.step import Due, Run, Step
from clawmem.index.vectors.embed import EmbeddingRun, embed_missing
from clawmem.learning.ingest import ingest_notes
from clawmem.learning.learn import LearnResult, days_to_read, learn
from clawmem.learning.promotion.adapt import Adapted, adapt
from clawmem.learning.promotion.promote import PromoteResult, promote
from clawmem.learning.promotion.tacit import propose_tacit
from clawmem.learning.relate import RelateResult, relate
from clawmem.learning.synthesize import SynthesizeResult, synthesize
from clawmem.llm.choice import Model
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.decay import archive_decayed
from clawmem.memory.facts.future_values import settle_announced
from clawmem.memory.pages.memory_page import refresh_memory
from clawmem.memory.pages.summaries import refresh_summaries
from clawmem.memory.pages.token_counts import count_tokens
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.week import days_after, night_of
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.edits.scan import remember_untracked
from clawmem.vault.state.upkeep import UpkeepResult, pack_repository

MOST_NIGHTS = 7
"""Nights that a machine which was off makes up for."""


class PromotedNights(NamedTuple):
    """One result of promotion for each night that was due, and what failed while the others went on."""

    nights: tuple[PromoteResult, ...]
    failed: tuple[tuple[str | None, ClawmemError], ...]
    commits: tuple[str, ...]
    notices: tuple[str, ...]


def nights_due(run: Run) -> Sequence[str]:
    """The days whose night has come and that no heartbeat promoted yet."""
    hour = run.vault.settings.whole("promotion.hour")
    return days_after(run.last.promoted, night_of(run.caller.now, hour), MOST_NIGHTS)


def _relate(run: Run) -> RelateResult:
    # The commit up to which this version read every fact.
    read_until = run.last.head if run.last.made == __version__ else None
    return relate(run.vault, run.caller, read_until, run.dry_run)


def _learn(run: Run) -> LearnResult:
    # Parsing every ledger would be most of the work.
    days = days_to_read(run.vault, run.last.head)
    if days == frozenset():
        return LearnResult(0, (), (), None)
    return learn(run.vault, run.caller, run.dry_run, run.model, days)


def _learn_failures(done: LearnResult) -> Iterable[tuple[str | None, ClawmemError]]:
    return [("model", done.extraction.problem)] if done.extraction.problem else []


def _adapt(run: Run) -> Adapted:
    return adapt(run.vault, run.caller, nights_due(run)[-1], run.dry_run)


def _promote(run: Run) -> PromotedNights:
    """Promote each night's day. A model that failed is not asked again; what it cost counts for the next night."""
    model = _model_left(run.model, run.results.get("learn"))
    done: list[PromoteResult] = []
    failed: list[tuple[str | None, ClawmemError]] = []
    for day in nights_due(run):
        try:
            night = promote(run.vault, run.caller, day, run.dry_run, model)
        except ClawmemError as problem:
            failed.append((None, problem))
            continue
        done.append(night)
        failed += [("model", night.problem)] if night.problem else []
        model = None if night.problem else _less(model, night.run, "cents", "milliseconds")
    commits = tuple(night.commit for night in done if night.commit)
    return PromotedNights(tuple(done), tuple(failed), commits, tuple(one for night in done for one in night.notices))


def _noted_days(run: Run) -> list[str]:
    """The days whose notes became facts by promotion, which their pages must say."""
    promoted = run.results.get("promote")
    return [one.on for one in promoted.nights if one.noted and one.commit] if promoted else []


def _synthesize_promoted(run: Run) -> SynthesizeResult:
    return synthesize(run.vault, run.caller, _noted_days(run))


def _upkeep(run: Run) -> UpkeepResult:
    with transaction(run.vault, run.caller.now, "upkeep"):
        remember_untracked(run.vault)
    # Without the lock: writers need not wait until a large repository is packed.
    return pack_repository(run.vault, run.vault.settings.whole("upkeep.loose_objects"))


def _embed_failures(done: EmbeddingRun) -> Iterable[tuple[str | None, ClawmemError]]:
    return [(None, done.problem)] if done.problem else []


def _model_left(model: Model | None, learned: LearnResult | None) -> Model | None:
    """The model with the money that learning left; None where learning could not use it at all."""
    if model is None or learned is None:
        return None
    read = learned.extraction
    failed = isinstance(read.problem, ModelFailed) or (read.model is not None and read.by_rules)
    return None if failed else _less(model, read.run, "cents")


def _less(model: Model | None, spent: Mapping[str, Any] | None, *kinds: str) -> Model | None:
    """The model with its limits, less what a run has spent of them."""
    if model is None or spent is None:
        return model
    left = {kind: max(0, getattr(model.limits, kind) - spent.get(kind, 0)) for kind in kinds}
    return model._replace(limits=model.limits._replace(**left))


_ALWAYS = Due("at every heartbeat", lambda run: True)
_WRITING = Due("at every heartbeat that writes", lambda run: not run.dry_run)
_NIGHTLY = Due("once for each day, after promotion.hour", nights_due)
_PROMOTED_NOTES = Due("where promotion made facts of notes", lambda run: not run.dry_run and _noted_days(run))

STEPS = (
    Step("notes", "Take new lines of daily notes into the ledger.", _WRITING,
         lambda run: ingest_notes(run.vault, run.caller), reports.notes),
    # Facts that people gave have their triple before the news is read that may replace them.
    Step("relate", "Read the triple of facts that were given without one.", _ALWAYS, _relate, reports.relate),
    Step("learn", "Learn facts from new events.", _ALWAYS, _learn, reports.learn, _learn_failures),
    Step("settle", "Put announced facts in force whose day has come.", _ALWAYS,
         lambda run: settle_announced(run.vault, run.caller, run.dry_run), reports.settle),
    Step("fold", "Fold the access journal into the facts.", _ALWAYS,
         lambda run: fold_accesses(run.vault, run.caller, run.dry_run), reports.fold),
    Step("decay", "Archive facts that nobody used for long.", _ALWAYS,
         lambda run: archive_decayed(run.vault, run.caller, run.dry_run), reports.decay),
    Step("synthesize", "Write the generated part of daily notes.", _ALWAYS,
         lambda run: synthesize(run.vault, run.caller, None, run.last.head, run.dry_run), reports.synthesize),
    Step("adapt", "Adapt promotion to what became of promoted facts.", _NIGHTLY, _adapt, reports.adapt),
    Step("promote", "Promote the facts of a day that are worth thirty days.", _NIGHTLY, _promote, reports.promote,
         lambda done: done.failed),
    Step("promoted-notes", "Write the daily notes of days whose notes became facts.", _PROMOTED_NOTES,
         _synthesize_promoted),
    Step("tacit", "Propose patterns for TACIT.md.", _ALWAYS,
         lambda run: propose_tacit(run.vault, run.caller, run.dry_run), reports.tacit),
    Step("summaries", "Refresh the summaries of changed entities.", _ALWAYS,
         lambda run: refresh_summaries(run.vault, run.caller, run.dry_run), reports.summaries),
    Step("memory", "Refresh MEMORY.md.", _ALWAYS,
         lambda run: refresh_memory(run.vault, run.caller, run.dry_run), reports.memory),
    Step("upkeep", "Keep the repository small.", _WRITING, _upkeep, reports.upkeep),
    Step("embed", "Embed what search by meaning cannot find yet.", _WRITING,
         lambda run: embed_missing(run.vault, day=stamp(run.caller.now)[:10]), reports.embed, _embed_failures),
    Step("tokens", "Count tokens and judge events for contexts.", _WRITING, lambda run: count_tokens(run.vault)),
)  # fmt: skip
