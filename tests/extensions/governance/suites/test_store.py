"""Runs of suites: lines that survive being written and read, and what counts as a change for the worse."""

from __future__ import annotations

import pytest

from clawmem.errors import Unreadable
from clawmem.extensions.governance.suites.store import (
    FAILED,
    PASSED,
    UNJUDGED,
    EvalRun,
    EvalScore,
    changes_between,
    parse_eval_runs,
    regressions,
)
from clawmem.model.forms import render_lines
from clawmem.vault.strict_yaml import parse_yaml


def run(*outcomes: str, name: str = "run_1") -> EvalRun:
    scores = tuple(
        EvalScore(f"test {n}", "memory", outcome, 0.5, ("why",), {"a": 1}) for n, outcome in enumerate(outcomes)
    )
    return EvalRun(name, "2026-03-01T09:00:00Z", "boats", "ab12", "0.1.0", "00ff", scores)


def test_runs_survive_being_written_and_read() -> None:
    runs = (run(PASSED, FAILED), run(UNJUDGED, name="run_2"))
    assert parse_eval_runs(render_lines(runs), "runs", parse_yaml) == runs


def test_only_what_passed_before_and_does_not_now_is_a_regression() -> None:
    before, after = run(PASSED, PASSED, FAILED, PASSED), run(PASSED, FAILED, PASSED, UNJUDGED)
    assert [regression.test for regression in regressions(before, after)] == ["test 1", "test 3"]
    assert [change.test for change in changes_between(before, after)] == ["test 1", "test 2", "test 3"]
    assert regressions(None, after) == ()


def test_a_test_that_is_gone_or_new_is_a_change_and_no_regression() -> None:
    before, after = run(PASSED, PASSED), run(PASSED)
    assert regressions(before, after) == ()
    assert [(change.before, change.after) for change in changes_between(before, after)] == [(PASSED, None)]
    assert regressions(after, run(PASSED, FAILED)) == ()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("[]", "must be an object"),
        ('{"id": "run_1", "scores": []}', "timestamp"),
        (
            '{"id": "r", "timestamp": "t", "suite": "s", "version": "v", "checksum": "c", "scores": [{}]}',
            r"scores\[0\].test",
        ),
    ],
)
def test_a_line_that_is_no_run_is_named(line: str, text: str) -> None:
    with pytest.raises(Unreadable, match=text) as caught:
        parse_eval_runs(render_lines([run(PASSED)]) + line.encode() + b"\n", "runs", parse_yaml)
    assert caught.value.line == 2
