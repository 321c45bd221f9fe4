"""The answer to one test as promptfoo asks for it: through its `exec:` provider, with the context of the test as JSON.

promptfoo merges the metadata of the suite into that of each test, so the fixtures come with every call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from clawmem.errors import InvalidInput, Refused, key_name
from clawmem.extensions.governance.suites.graders import grade
from clawmem.extensions.governance.suites.run import SuiteRunner, answer_test
from clawmem.extensions.governance.suites.suite import COPY, METADATA_KEYS, Suite, suite_from_mapping
from clawmem.model.forms import WrongValue
from clawmem.model.language.dates import stamp
from clawmem.model.records.bounds import RECORD_BYTES
from clawmem.model.records.strict_json import read_json
from clawmem.vault.vault import Vault

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
