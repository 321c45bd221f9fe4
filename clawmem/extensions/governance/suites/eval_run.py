"""Runs of eval suites: lines of `governance/eval-runs.jsonl`, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.model.records.parsing import Yaml, read_log

RUNS_PATH = "governance/eval-runs.jsonl"
# A test passed, failed, or was not judged because no model is set; a test that is not judged did not pass.
PASSED, FAILED, UNJUDGED = "passed", "failed", "not judged"
OUTCOMES = (PASSED, FAILED, UNJUDGED)


class EvalScore(NamedTuple):
    """What became of one test in one arm: its outcome, its score from 0 to 1, and the reasons where it did not pass."""

    test: str
    arm: str
    outcome: Annotated[str, OUTCOMES]
    score: float
    reasons: tuple[str, ...] = ()
    labels: Mapping[str, Any] = {}


class EvalRun(NamedTuple):
    """One run of a suite: its id and time, the commit of the vault, the version of clawmem, the checksum of the suite,
    and the scores."""

    id: str
    timestamp: str
    suite: str
    commit: str | None
    version: str
    checksum: str
    scores: tuple[EvalScore, ...]

    def outcome_by_test(self) -> dict[tuple[str, str], str]:
        """Return the outcome of each test in each arm."""
        return {(score.test, score.arm): score.outcome for score in self.scores}


class OutcomeChange(NamedTuple):
    """A test whose outcome differs between two runs; None where a run does not have it."""

    test: str
    arm: str
    before: str | None
    after: str | None


def changes_between(before: EvalRun, after: EvalRun) -> tuple[OutcomeChange, ...]:
    """Return the tests whose outcome differs, in the order of the later run, then those that only the earlier has."""
    old, new = before.outcome_by_test(), after.outcome_by_test()
    names = dict.fromkeys((*new, *old))
    found = (OutcomeChange(test, arm, old.get((test, arm)), new.get((test, arm))) for test, arm in names)
    return tuple(change for change in found if change.before != change.after)


def regressions(before: EvalRun | None, after: EvalRun) -> tuple[OutcomeChange, ...]:
    """Return the tests that passed before and do not pass now. Without an earlier run there are none."""
    found = changes_between(before, after) if before else ()
    return tuple(change for change in found if change.before == PASSED and change.after not in (PASSED, None))


def parse_eval_runs(data: bytes, path: str, yaml: Yaml) -> tuple[EvalRun, ...]:
    """Read the runs. Raise Unreadable, with the line and the key, where one is incomplete."""
    return read_log(EvalRun, data, path, yaml)
