"""Scores of a run by category and arm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.extensions.governance.suites.eval_run import FAILED, PASSED, UNJUDGED, EvalRun, EvalScore


class ScoreRow(NamedTuple):
    """The tests of a category in an arm: how many, how many passed or were not judged, in how many the answer lacks
    something, and in how many it contains something that it must not contain."""

    category: str
    arm: str
    tests: int
    passed: int
    unjudged: int
    lacks: int
    barred: int


def score_rows(run: EvalRun) -> tuple[ScoreRow, ...]:
    """Return a row for each category and arm, in the order of the run, and one for each arm over all categories."""
    names = dict.fromkeys((_category(score), score.arm) for score in run.scores)
    rows = [
        _row(name, arm, (score for score in run.scores if (_category(score), score.arm) == (name, arm)))
        for name, arm in names
    ]
    rows.sort(key=lambda row: list(dict.fromkeys(name for name, _ in names)).index(row.category))
    if len({name for name, _ in names}) > 1:
        arms = dict.fromkeys(arm for _, arm in names)
        rows += [_row("all", arm, (score for score in run.scores if score.arm == arm)) for arm in arms]
    return tuple(rows)


def _row(name: str, arm: str, scores: Iterable[EvalScore]) -> ScoreRow:
    found = list(scores)
    failed = [score for score in found if score.outcome == FAILED]
    return ScoreRow(
        name,
        arm,
        len(found),
        sum(score.outcome == PASSED for score in found),
        sum(score.outcome == UNJUDGED for score in found),
        sum(any(not reason.startswith("not-") for reason in score.reasons) for score in failed),
        sum(any(reason.startswith("not-") for reason in score.reasons) for score in failed),
    )


def _category(score: EvalScore) -> str:
    return str(score.labels.get("category", "tests"))
