"""Promotion at night: one run for each day that is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.heartbeat.step import StepContext
from clawmem.learning.promotion.promote import PromoteResult, joined_results, promote
from clawmem.model.lifecycle.week import days_after, night_of

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
    hour = run.vault.settings.whole("promotion.hour")
    return days_after(run.last.promoted, night_of(run.caller.now, hour), MAX_NIGHTS)


def promote_nights(run: StepContext, judged: Sequence[PromoteResult]) -> PromotedNights:
    """Promote each day that is due by the rules, after what a reader has `judged`."""
    done: list[PromoteResult] = []
    failed: list[tuple[str | None, ClawmemError]] = []
    days = nights_due(run)
    for day in sorted({*days, *(one.on for one in judged)}):
        results = [one for one in judged if one.on == day]
        try:
            results += [promote(run.vault, run.caller, day, run.dry_run)] if day in days else []
        except ClawmemError as problem:
            failed.append((None, problem))
        done += [joined_results(results)] if results else []
    commits = tuple(night.commit for night in done if night.commit)
    return PromotedNights(tuple(done), tuple(failed), commits, tuple(one for night in done for one in night.notices))
