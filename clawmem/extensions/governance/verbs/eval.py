"""`clawmem eval run|list|compare|add`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, REFUSED, InvalidInput, StorageFailed
from clawmem.extensions.governance.suites.store import (
    FAILED,
    OUTCOMES,
    PASSED,
    EvalRun,
    EvalScore,
    OutcomeChange,
    WishedTest,
    add_test,
    changes_between,
    eval_runs,
    find_run,
    find_suite,
    junit_xml,
    keep_run,
    last_run,
    list_suites,
    regressions,
    score_rows,
)
from clawmem.extensions.governance.suites.suite import (
    ARMS,
    MOST_TESTS,
    REGRESSION,
    SUITE_KINDS,
    Generated,
    Suite,
)
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import data_of
from clawmem.model.language.text import check_choice, counted

if TYPE_CHECKING:
    from clawmem.extensions.governance.suites.graders import Judge
    from clawmem.extensions.governance.suites.run import InnerCommand, SuiteRunner

_SHOWN = 20
# What the commands of a suite see of the environment.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


def run(
    call: Call,
    suite: Annotated[str | None, _SUITE],
    junit: Annotated[
        str | None, Parameter("Write JUnit XML to this file, or - for stdout.", ("--junit",), completes="file")
    ],
    arm: Annotated[
        list[str] | None, Parameter("Run only this arm: {choices}; may be repeated.", ("--arm",), choices=ARMS)
    ],
    size: Annotated[int | None, _SIZE],
) -> Answer:
    """Run the tests of a suite, or of all suites, each in a temporary vault with a pinned clock and seed, and append
    the scores to governance/eval-runs.jsonl. The exit code is 1 if a test fails that passed in the run before, or if
    any test of a regression suite fails. A test without a model that it needs is not judged, and did not pass."""
    from clawmem.extensions.governance.suites.run import judging, run_suite

    for word in arm or ():
        check_choice(word, "arm", ARMS)
    vault, caller = call.runtime.vault(), call.runtime.caller()
    suites, notices = _suites(call, suite, size)
    found, worse = list[EvalRun](), list[tuple[str, OutcomeChange]]()
    model = call.runtime.model("evaluate")
    with TemporaryDirectory(prefix="clawmem-eval-home-") as home, judging(vault, caller, model) as judge:
        runner = _runner(call, home, judge)
        for other_suite in suites:
            before = last_run(vault, other_suite.id)
            with call.progress() as progress:
                result = run_suite(vault, caller, other_suite, runner._replace(progress=progress), tuple(arm or ()))
            found.append(result)
            worse += [(other_suite.id, change) for change in regressions(before, result)]
            keep_run(vault, caller, result)
    bad = _failing(suites, found)
    data = {"runs": [_run_data(run) for run in found], "regressions": [_change(*pair) for pair in worse]}
    code = REFUSED if worse or bad else DONE
    talk = [f"{run.suite}: kept as {run.id}" for run in found]
    talk += [f"{name}: passed before and fails now: {change.test} ({change.arm})" for name, change in worse]
    for name, scores in bad:
        talk.append(f"{name}: a regression suite fails: {counted(len(scores), 'test')}")
        talk += [f"{name}: {score.test} ({score.arm}): {'; '.join(score.reasons)}" for score in scores[:_SHOWN]]
    lines: Any = _lines(found)
    if junit is not None:
        text = junit_xml(found)
        if junit == "-":
            lines = text.splitlines()
        else:
            _write(junit, text)
            talk.append(f"JUnit XML written to {junit}")
    return Answer(data, lines, notices, code, talk)


def list_(call: Call) -> Answer:
    """List the suites, with the score of the last run of each."""
    vault = call.runtime.vault()
    suites, notices = list_suites(vault)
    last = {eval_run.suite: eval_run for eval_run in eval_runs(vault)}
    data, rows = [], []
    for suite in suites:
        run = last.get(suite.id)
        passed = None if run is None else sum(score.outcome == PASSED for score in run.scores)
        total = None if run is None else len(run.scores)
        data.append(
            {
                "id": suite.id,
                "description": suite.description,
                "kind": suite.kind,
                "tests": len(suite.tests),
                "run": run.id if run else None,
                "timestamp": run.timestamp if run else None,
                "passed": passed,
                "of": total,
            }
        )
        score = f"{passed} of {total} ({run.id})" if run else "not run yet"
        rows.append((suite.id, suite.kind, str(len(suite.tests)), score, suite.description))
    return Answer({"suites": data}, Table(("suite", "kind", "tests", "last run", "about"), rows), notices)


def compare(
    call: Call,
    a: Annotated[str, Parameter("The earlier run: its id, or a suite for its last run.")],
    b: Annotated[str, Parameter("The later run.")],
) -> Answer:
    """Show which tests have another outcome in run B than in run A. A run is named by its id, or by its suite for the
    last run. The exit code is 1 if a test passed in A and does not in B."""
    vault = call.runtime.vault()
    before, after = find_run(vault, a), find_run(vault, b)
    changes = changes_between(before, after)
    notices = []
    if before.checksum != after.checksum:
        notices.append("The two runs are of different versions of the suite, or of different suites.")
    rows = [(change.test, change.arm, change.before or "-", change.after or "-") for change in changes]
    worse = any(change.before == PASSED and change.after not in (PASSED, None) for change in changes)
    data = {"before": before.id, "after": after.id, "changes": [_change(after.suite, change) for change in changes]}
    talk = () if changes else ("No test has another outcome.",)
    table = Table(("test", "arm", before.id, after.id), rows)
    return Answer(data, table, notices, REFUSED if worse else DONE, talk)


def add(
    call: Call,
    source: Annotated[str, Parameter("The id of a failure or of a rejected proposal.", ("--from",))],
    suite: Annotated[str, Parameter("The suite to which the test is added.", ("--suite",), default="regressions")],
    question: Annotated[str | None, Parameter("The question of the test.", ("--question",))],
    contains: Annotated[
        list[str] | None, Parameter("A text that the answer contains; may be repeated.", ("--contains",))
    ],
    bars: Annotated[
        list[str] | None,
        Parameter("A text that the answer does not contain; may be repeated.", ("--not-contains",)),
    ],
) -> Answer:
    """Add a test to a regression suite that runs on a copy of the vault. A rejected proposal gives a test that its
    statement is not served. A failure gives its note as the question; say what a right answer contains."""
    wish = WishedTest(question, tuple(contains or ()), tuple(bars or ()))
    test = add_test(call.runtime.vault(), call.runtime.caller(), suite, source, wish)
    data = {"suite": suite, "path": test.path, "test": test.description, "commit": test.commit}
    lines = [f"added to {test.path}: {test.description}"]
    return Answer(data, lines if test.commit else [f"{test.path} has this test already: {test.description}"])


def _suites(call: Call, name: str | None, size: int | None) -> tuple[Sequence[Suite], Sequence[str]]:
    if name is not None:
        return [_sized(call, name, size)], ()
    if size is not None:
        raise InvalidInput("--size needs a suite.", "Example: clawmem eval run memory --size 5")
    return list_suites(call.runtime.vault())


def _sized(call: Call, name: str, size: int | None) -> Suite:
    from clawmem.extensions.governance.suites.world import SEED, generated_suite

    suite = find_suite(call.runtime.vault(), name)
    if size is None:
        return suite
    if not isinstance(suite.fixtures, Generated) or suite.fixtures.generate != name:
        raise InvalidInput(f"The suite {name} has its own tests; --size is for generated ones.", "Leave it out.")
    return generated_suite(name, SEED, size)


def _runner(call: Call, home: str, judge: Judge) -> SuiteRunner:
    from clawmem.extensions.governance.suites.graders import all_graders, command_grader
    from clawmem.extensions.governance.suites.run import SuiteRunner
    from clawmem.runtime import Runtime

    own = call.runtime.environment
    plain = {name: own[name] for name in _PASSED_ON if name in own}
    environment = {**plain, "HOME": home, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def run_command(given: InnerCommand) -> tuple[int, str]:
        pinned = {**environment, "CLAWMEM_NOW": given.now, "CLAWMEM_SEED": given.seed}
        runtime = Runtime(pinned, given.root, str(given.root), own=True)
        return tuple(call.run_inner(given.words, runtime, given.given.encode()))  # type: ignore[return-value]

    command = command_grader(call.runtime.vault, call.runtime.working_folder)
    return SuiteRunner(run_command, environment, all_graders(judge, command))


def _failing(suites: Sequence[Suite], runs: Sequence[EvalRun]) -> list[tuple[str, Sequence[EvalScore]]]:
    """Return the regression suites with a failed test, each with its failed tests."""
    pairs = [(suite, run) for suite, run in zip(suites, runs, strict=True) if suite.kind == REGRESSION]
    failed = [(suite.id, [score for score in run.scores if score.outcome == FAILED]) for suite, run in pairs]
    return [(name, scores) for name, scores in failed if scores]


def _lines(runs: Sequence[EvalRun]) -> Table:
    rows = [
        (run.suite, row.category, row.arm, *map(str, (row.passed, row.tests, row.unjudged, row.lacks, row.barred)))
        for run in runs
        for row in score_rows(run)
    ]
    return Table(("suite", "category", "arm", "passed", "of", "not judged", "lacks", "must not contain"), rows)


def _run_data(run: EvalRun) -> dict[str, Any]:
    return data_of(run, summary=[row._asdict() for row in score_rows(run)])


def _change(suite: str, change: OutcomeChange) -> dict[str, Any]:
    return {"suite": suite, **change._asdict()}


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_bytes(text.encode())
    except OSError as problem:
        raise StorageFailed(f"{path} cannot be written: {problem.strerror}.", "Name another file.") from None


_SUITE = Parameter("The name of the suite, such as memory.", completes="suite")
_SIZE = Parameter("Tests in each category of a generated suite.", ("--size",), least=1, most=MOST_TESTS)
_OUTCOME = set(OUTCOMES)
_CHANGE = {"suite": str, "test": str, "arm": str, "before": (_OUTCOME, None), "after": (_OUTCOME, None)}
_STORE = "clawmem.extensions.governance.suites.store"
_RUN = {"...": f"{_STORE}:EvalRun", "summary": [f"{_STORE}:ScoreRow"]}
_LISTED = {
    "id": str, "description": str, "kind": set(SUITE_KINDS), "tests": int, "run": (str, None),
    "timestamp": (str, None), "passed": (int, None), "of": (int, None),
}  # fmt: skip

VERB = {
    "run": Command(
        run,
        {"runs": [_RUN], "regressions": [_CHANGE]},
        ("clawmem eval run memory --size 2", "clawmem eval run memory --size 1 --arm memory --junit -"),
        ("runs",),
    ),
    "list": Command(list_, {"suites": [_LISTED]}, ("clawmem eval list",), ("suites",)),
    "compare": Command(
        compare,
        {"before": str, "after": str, "changes": [_CHANGE]},
        ("clawmem eval compare run_1a2b3c4d memory",),
        ("changes",),
    ),
    "add": Command(
        add,
        {"suite": str, "path": str, "test": str, "commit": (str, None)},
        ("clawmem eval add --from prop_3c4d --question 'Where does Jane live?'",),
    ),
}
