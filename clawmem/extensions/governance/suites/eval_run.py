"""Runs of eval suites: lines of `governance/eval-runs.jsonl`, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from clawmem.model.language.text import visible
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


def junit_xml(runs: Iterable[EvalRun]) -> str:
    """Return the runs as one document: a test suite for each suite and arm, a failure for each test that failed, and a
    skipped test for each that was not judged. Characters that XML cannot contain are written as escapes."""
    root = Element("testsuites", name="clawmem eval")
    for run in runs:
        for arm in dict.fromkeys(score.arm for score in run.scores):
            _suite(root, run, arm, [score for score in run.scores if score.arm == arm])
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(element.get(count, "0")) for element in root)))
    root.set("time", "0")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, run: EvalRun, arm: str, scores: list[EvalScore]) -> None:
    name = f"{run.suite} ({arm})"
    failed, skipped = (sum(score.outcome == outcome for score in scores) for outcome in (FAILED, UNJUDGED))
    suite = SubElement(
        root, "testsuite", name=name, tests=str(len(scores)), failures=str(failed), errors="0", skipped=str(skipped),
        time="0", timestamp=run.timestamp.removesuffix("Z"), hostname="localhost",
    )  # fmt: skip
    for score in scores:
        case = SubElement(suite, "testcase", classname=name, name=_plain(score.test), time="0")
        reasons = _plain("\n".join(score.reasons))
        if score.outcome == FAILED:
            failure = SubElement(case, "failure", message=reasons.partition("\n")[0], type="assertion")
            failure.text = reasons
        elif score.outcome == UNJUDGED:
            SubElement(case, "skipped", message=reasons.partition("\n")[0])


def _plain(text: str) -> str:
    shown = visible(text)
    return "".join(
        name if name in "\t\n" or name.isprintable() or name == " " else f"\\u{ord(name):04x}" for name in shown
    )


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
