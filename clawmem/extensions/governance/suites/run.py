"""Run a suite: each test in each arm, graded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from clawmem import __version__
from clawmem.errors import InvalidInput, NotFound
from clawmem.extensions.governance.suites.eval_run import EvalRun, EvalScore
from clawmem.extensions.governance.suites.files import PlainFiles
from clawmem.extensions.governance.suites.graders import Grader, grade_test
from clawmem.extensions.governance.suites.store import eval_runs
from clawmem.extensions.governance.suites.suite import (
    FILES,
    MEMORY,
    Generated,
    Step,
    Suite,
    SuiteTest,
    filled,
    suite_to_mapping,
)
from clawmem.extensions.governance.suites.vaults import RunInner, suite_vault
from clawmem.extensions.governance.suites.world import GENERATORS
from clawmem.index.tables.exact_tokens import exact_counter
from clawmem.model.facts.ids import new_id
from clawmem.model.language.dates import stamp
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

Answers = Callable[[SuiteTest, int], str]


class SuiteRunner(NamedTuple):
    """What a run needs from the machine: how to run a command line, git's environment, the graders."""

    run: RunInner
    environment: Mapping[str, str]
    graders: Mapping[str, Grader]
    progress: OnProgress | None = None


def run_suite(vault: Vault, caller: Caller, suite: Suite, runner: SuiteRunner, arms: Sequence[str] = ()) -> EvalRun:
    """Run the tests of a suite in its arms, or in these, and return the scores. Nothing is written to the vault.

    The arm of plain files and the one without a memory answer questions only; they leave out tests with a command.
    Raise InvalidInput where a step of the fixtures fails."""
    steps = steps_of(suite)
    scores = [
        score for arm in arms or suite.arms for score in _run_arm(vault, suite, steps, runner, arm)
    ]  # fmt: skip
    return EvalRun(
        new_id("run_", caller.entropy, {eval_run.id for eval_run in eval_runs(vault)}),
        stamp(caller.now),
        suite.id,
        vault.head().commit,
        __version__,
        checksum_of(suite),
        tuple(scores),
    )


def answer_test(own: Callable[[], Vault], suite: Suite, variables: Mapping[str, object], runner: SuiteRunner) -> str:
    """Return what the memory answers to one test, in a vault made for it."""
    with suite_vault(suite, steps_of(suite), own, runner.environment, runner.run) as made:
        return made.answer(variables, 0)


def checksum_of(suite: Suite) -> str:
    """Return a checksum of what the suite says: a changed suite is not compared test by test without saying so."""
    return sha256(json.dumps(suite_to_mapping(suite), sort_keys=True).encode()).hexdigest()[:16]


def steps_of(suite: Suite) -> tuple[Step, ...]:
    """Return the steps of the fixtures. Raise NotFound if they name a generator that does not exist."""
    if not isinstance(suite.fixtures, Generated):
        return suite.fixtures
    make = GENERATORS.get(suite.fixtures.generate)
    if make is None:
        known = ", ".join(GENERATORS)
        raise NotFound(f"There is no generator '{suite.fixtures.generate}'.", f"The generators are: {known}.")
    return make(suite.fixtures.seed, suite.fixtures.size).steps


def _run_arm(vault: Vault, suite: Suite, steps: Sequence[Step], runner: SuiteRunner, arm: str) -> Iterator[EvalScore]:
    with _answers(vault, suite, steps, runner, arm) as answer:
        for number, test in enumerate(suite.tests):
            if arm != MEMORY and "question" not in test.variables:
                continue
            if runner.progress:
                runner.progress(Progress(arm, number, len(suite.tests), "tests"))
            try:
                output = answer(test, number).strip()
            except InvalidInput as problem:
                raise InvalidInput(f"tests[{number}] ({test.description}): {problem.message}", problem.hint) from None
            result = grade_test(test, output, runner.graders)
            yield EvalScore(test.description, arm, result.outcome, result.score, result.reasons, dict(test.labels))


@contextmanager
def _answers(vault: Vault, suite: Suite, steps: Sequence[Step], runner: SuiteRunner, arm: str) -> Iterator[Answers]:
    if arm == MEMORY:
        with suite_vault(suite, steps, lambda: vault, runner.environment, runner.run) as made:
            yield lambda test, number: made.answer(test.variables, number)
    elif arm == FILES:
        files = PlainFiles(steps, exact_counter())
        yield lambda test, number: files.answer(_question(test), suite.budget)
    else:
        yield lambda test, number: _question(test)


def _question(test: SuiteTest) -> str:
    return str(filled(test.variables["question"], test.variables))
