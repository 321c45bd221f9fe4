"""Run a suite: each test in each arm, graded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem import __version__
from clawmem.errors import InvalidInput, NotFound, Refused, key_name
from clawmem.extensions.governance.suites.eval_run import EvalRun, EvalScore
from clawmem.extensions.governance.suites.files import PlainFiles
from clawmem.extensions.governance.suites.graders import Grader, grade, grade_test
from clawmem.extensions.governance.suites.store import eval_runs
from clawmem.extensions.governance.suites.suite import (
    COPY,
    FILES,
    MEMORY,
    METADATA_KEYS,
    Generated,
    Step,
    Suite,
    SuiteTest,
    filled,
    suite_from_mapping,
    suite_to_mapping,
)
from clawmem.extensions.governance.suites.vaults import RunInner, suite_vault
from clawmem.extensions.governance.suites.world import GENERATORS
from clawmem.index.tables.exact_tokens import exact_counter
from clawmem.model.facts.ids import new_id
from clawmem.model.forms import WrongValue
from clawmem.model.language.dates import stamp
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.bounds import RECORD_BYTES
from clawmem.model.records.caller import Caller
from clawmem.model.records.strict_json import read_json
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


# The answer to one test as promptfoo asks for it: through its `exec:` provider, with the context of the test as JSON.
#
# promptfoo merges the metadata of the suite into that of each test, so the fixtures come with every call.

_TEST_KEYS = ("description", "vars", "assert", "threshold")


def answer_for_promptfoo(
    prompt: str, context: str | None, runner: SuiteRunner, own: Callable[[], Vault], now: datetime
) -> str:
    """Return the answer to a test; without a context, what the vault answers at `now` to the prompt as a question.

    `own` opens the vault of the user, which only a suite with a copy of it needs. Raise Refused where an assertion in
    `metadata.assert` does not hold: promptfoo does not know these, so the provider says it. Raise InvalidInput if the
    context is none."""
    suite = _suite_of(context) if context is not None else _asked(prompt, stamp(now))
    test = suite.tests[0]
    output = answer_test(own, suite, test.variables, runner)
    for assertion in test.assertions:
        if assertion.is_own and assertion.weight > 0:
            result = grade(assertion, test.variables, output.strip(), runner.graders)
            if not result.holds:
                raise Refused(f"{assertion.type}: {result.reason}.")
    return output


def _asked(prompt: str, now: str) -> Suite:
    metadata = {"vault": COPY, "now": now}
    return _made({"description": prompt, "vars": {"question": prompt}, "assert": [{"type": "is-json"}]}, metadata)


def _suite_of(context: str) -> Suite:
    try:
        record = read_json(context, RECORD_BYTES)
    except ValueError as problem:
        raise InvalidInput(f"The context of the test is not JSON: {problem}.") from None
    test = record.get("test") if isinstance(record, dict) else None
    if not isinstance(test, dict):
        raise InvalidInput("The context has no test.", "promptfoo gives it to an exec: provider as the last argument.")
    metadata = test.get("metadata") or {}
    suite = {key: value for key, value in metadata.items() if key in METADATA_KEYS}
    labels = {key: value for key, value in metadata.items() if key not in METADATA_KEYS}
    made = {key: test[key] for key in _TEST_KEYS if test.get(key) is not None}
    return _made({"description": "a test", **made, "metadata": labels}, suite)


def _made(test: Mapping[str, Any], metadata: Mapping[str, Any]) -> Suite:
    try:
        return suite_from_mapping("promptfoo", {"description": "promptfoo", "metadata": metadata, "tests": [test]})
    except WrongValue as problem:
        where = key_name(problem.keys[2:] if problem.keys[:1] == ("tests",) else problem.keys)
        raise InvalidInput(f"The context of the test: the key '{where}' {problem.problem}.") from None
