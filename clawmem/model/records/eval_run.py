"""Runs of eval suites: lines of `governance/eval-runs.jsonl`, in the order in which they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import Unreadable
from clawmem.model.records.parsing import Yaml, json_lines

RUNS_PATH = "governance/eval-runs.jsonl"
# A test passed, failed, or was not judged because no model is set; a test that is not judged did not pass.
PASSED, FAILED, UNJUDGED = "passed", "failed", "not judged"
OUTCOMES = (PASSED, FAILED, UNJUDGED)


class EvalScore(NamedTuple):
    """What became of one test in one arm: its outcome, its score from 0 to 1, and the reasons where it did not pass."""

    test: str
    arm: str
    outcome: str
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
        return {(one.test, one.arm): one.outcome for one in self.scores}


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
    return tuple(one for one in found if one.before != one.after)


def regressions(before: EvalRun | None, after: EvalRun) -> tuple[OutcomeChange, ...]:
    """Return the tests that passed before and do not pass now. Without an earlier run there are none."""
    found = changes_between(before, after) if before else ()
    return tuple(one for one in found if one.before == PASSED and one.after not in (PASSED, None))


def parse_eval_runs(data: bytes, path: str, yaml: Yaml) -> tuple[EvalRun, ...]:
    """Read the runs. Raise Unreadable, with the line, where one is incomplete."""
    return tuple(_run(record, path, at) for at, record in enumerate(json_lines(data, path, yaml), 1))


def render_eval_runs(runs: Sequence[EvalRun]) -> bytes:
    """Return the runs as JSON lines."""
    return b"".join(eval_run_line(one) for one in runs)


def eval_run_line(run: EvalRun) -> bytes:
    """Return one run as a line."""
    record = {**run._asdict(), "scores": [_score_to_record(one) for one in run.scores]}
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def _score_to_record(one: EvalScore) -> dict[str, Any]:
    return {key: list(value) if key == "reasons" else value for key, value in one._asdict().items() if value != ()}


def _run(record: Any, path: str, line: int) -> EvalRun:
    texts = ("id", "timestamp", "suite", "version", "checksum")
    if not isinstance(record, dict) or not isinstance(record.get("scores"), list):
        raise Unreadable(path, line, "the key 'scores' is missing or not a list")
    for key in texts:
        if not isinstance(record.get(key), str):
            raise Unreadable(path, line, f"the key '{key}' is missing or not text")
    commit = record.get("commit")
    scores = tuple(_score(one, path, line, at) for at, one in enumerate(record["scores"]))
    return EvalRun(
        record["id"], record["timestamp"], record["suite"], commit if isinstance(commit, str) else None,
        record["version"], record["checksum"], scores,
    )  # fmt: skip


def _score(record: Any, path: str, line: int, at: int) -> EvalScore:
    place = f"scores[{at}]"
    if not isinstance(record, dict) or record.get("outcome") not in OUTCOMES:
        raise Unreadable(path, line, f"the key '{place}.outcome' is none of {', '.join(OUTCOMES)}")
    score, labels, reasons = record.get("score"), record.get("labels", {}), record.get("reasons", [])
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise Unreadable(path, line, f"the key '{place}.score' is missing or not a number")
    if not isinstance(labels, dict) or not isinstance(reasons, list):
        raise Unreadable(path, line, f"the key '{place}' has labels or reasons of the wrong type")
    return EvalScore(
        str(record.get("test")), str(record.get("arm")), record["outcome"], float(score),
        tuple(map(str, reasons)), labels,
    )  # fmt: skip
