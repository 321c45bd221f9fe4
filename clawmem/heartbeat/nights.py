"""Promotion at night: one run for each day that is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, ModelFailed
from clawmem.heartbeat.step import StepContext
from clawmem.learning.learn import LearnResult
from clawmem.learning.promotion.promote import PromoteResult, promote
from clawmem.llm.choice import Model
from clawmem.model.lifecycle.week import days_after, night_of

MAX_NIGHTS = 7
"""The most nights that one heartbeat catches up on after the machine was off."""


class PromotedNights(NamedTuple):
    """The promotion result for each night that was due, and the nights that failed."""

    nights: tuple[PromoteResult, ...]
    failed: tuple[tuple[str | None, ClawmemError], ...]
    commits: tuple[str, ...]
    notices: tuple[str, ...]


def nights_due(run: StepContext) -> Sequence[str]:
    """Return the days that are ready for promotion and not yet promoted, as ISO dates, oldest first."""
    hour = run.vault.settings.whole("promotion.hour")
    return days_after(run.last.promoted, night_of(run.caller.now, hour), MAX_NIGHTS)


def promote_nights(run: StepContext) -> PromotedNights:
    """Promote each day that is due. After a model failure the remaining days are judged by rules; a night's model cost
    is deducted from the limits of the next."""
    model = _judge_left(run.judge, run.results.get("learn"))
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
        model = None if night.problem else _deduct(model, night.run, "cents", "milliseconds")
    commits = tuple(night.commit for night in done if night.commit)
    return PromotedNights(tuple(done), tuple(failed), commits, tuple(one for night in done for one in night.notices))


def _judge_left(model: Model | None, learned: LearnResult | None) -> Model | None:
    """Return the model with the budget left after learning, or None if learning could not use the same one."""
    if model is None or learned is None:
        return None
    read = learned.extraction
    failed = isinstance(read.problem, ModelFailed) or (read.model is not None and read.by_rules)
    return None if failed and read.model == model.name else _deduct(model, read.run, "cents")


def _deduct(model: Model | None, spent: Mapping[str, Any] | None, *kinds: str) -> Model | None:
    """Return the model with its limits reduced by what a run spent."""
    if model is None or spent is None:
        return model
    left = {kind: max(0, getattr(model.limits, kind) - spent.get(kind, 0)) for kind in kinds}
    return model._replace(limits=model.limits._replace(**left))
