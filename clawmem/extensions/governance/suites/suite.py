"""Eval suites: `governance/evals/<suite>.yaml`, a strict subset of the configuration of promptfoo.

These are `description` and `tests` with `description`, `vars`, `assert`, `threshold` and `metadata`; `prompts` and
`providers` are read and not used. The keys of clawmem stand under `metadata`, which promptfoo does not interpret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.errors import UnreadableKey
from clawmem.model.forms import (
    ONE_OR_MORE,
    Before,
    FilledText,
    Key,
    TimeText,
    WrongValue,
    no_other_keys,
    read_record,
    refuse_other_keys,
    shown,
)
from clawmem.model.records.parsing import Yaml, yaml_value

FOLDER = "governance/evals"
CAPABILITY, REGRESSION = "capability", "regression"
SUITE_KINDS = (CAPABILITY, REGRESSION)
EMPTY, COPY = "empty", "copy"
MEMORY, FILES, WITHOUT = "memory", "files", "without"
ARMS = (MEMORY, FILES, WITHOUT)
DEFAULT_NOW, DEFAULT_BUDGET = "2026-01-05T09:00:00Z", 800
MOST_TESTS = 400
"""The tests in each category of a generated suite: whoever may write a suite must not be able to stop a machine."""

# What an assertion's `value` must be.
TEXT, TEXTS, PATTERN, SCHEMA, ANY = "text", "texts", "pattern", "schema", "any"
ASSERTIONS: Mapping[str, str] = {
    "equals": ANY,
    "contains": TEXT,
    "icontains": TEXT,
    "contains-any": TEXTS,
    "contains-all": TEXTS,
    "icontains-any": TEXTS,
    "icontains-all": TEXTS,
    "starts-with": TEXT,
    "regex": PATTERN,
    "is-json": SCHEMA,
    "llm-rubric": TEXT,
}
"""The types that promptfoo has as well; each also exists with `not-` before it."""
OWN_ASSERTIONS: Mapping[str, str] = {"json-path": ANY, "recall-at-k": ANY, "command": TEXT}
"""The types that only clawmem has. They, and those of extensions, stand in `metadata.assert` of a test."""

_MOST = 1_000_000_000
_ID = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
METADATA_KEYS = ("kind", "now", "seed", "vault", "budget", "arms", "fixtures")
_ASSERT = ("type", "value", "threshold", "weight", "metric")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_TEMPLATE_SIGNS = ("{{", "{%", "{#")
_Scalar = str | int | float | bool


class Assertion(NamedTuple):
    """One assertion of a test. `is_own` says that it stands in `metadata.assert`; `weight` 0 makes it a remark."""

    type: FilledText
    value: Any = None
    threshold: Annotated[float, (0, 1), float] | None = None
    weight: Annotated[float, (0, None), float] = 1.0
    is_own: bool = False


class SuiteTest(NamedTuple):
    """A test: its variables, of which one is `question` or `command`, its assertions, and labels such as a category.

    With a `threshold`, the weighted mean of the scores decides; without one, every assertion must hold."""

    description: str
    variables: Mapping[str, _Scalar]
    assertions: tuple[Assertion, ...]
    threshold: float | None = None
    labels: Mapping[str, _Scalar] = {}


@no_other_keys
class Step(NamedTuple):
    """A step of the fixtures: a clawmem command line, its time, its input, and names for facts by their text."""

    run: FilledText
    now: TimeText | None = None
    stdin: str = ""
    facts: Mapping[str, str] = {}


@no_other_keys
class Generated(NamedTuple):
    """Fixtures that a generator makes."""

    generate: FilledText
    seed: Annotated[int, (0, _MOST)] = 1
    size: Annotated[int, (1, MOST_TESTS)] = 40


class Suite(NamedTuple):
    """An eval suite. `now` is the time of its vault (ISO 8601), `budget` the tokens of an answer to a question."""

    id: str
    description: str
    tests: tuple[SuiteTest, ...]
    kind: str = CAPABILITY
    now: str = DEFAULT_NOW
    seed: int = 1
    vault: str = EMPTY
    budget: int = DEFAULT_BUDGET
    arms: tuple[str, ...] = (MEMORY,)
    fixtures: tuple[Step, ...] | Generated = ()


def is_suite_id(text: str) -> bool:
    """Return whether a text is the id of a suite: lower-case letters, digits, `-` and `_`."""
    return _ID.fullmatch(text) is not None


def suite_path(suite: str) -> str:
    """Return the vault path of a suite."""
    return f"{FOLDER}/{suite}.yaml"


def parse_suite(data: bytes, path: str, yaml: Yaml) -> Suite:
    """Read a suite. Raise Unreadable, naming the key, if something is missing, unknown or of the wrong type."""
    record = yaml_value(data, path, yaml)
    try:
        return suite_from_mapping(path.rpartition("/")[2].removesuffix(".yaml"), record)
    except WrongValue as problem:
        raise UnreadableKey(path, problem.keys, problem.problem) from None


def suite_from_mapping(name: str, record: Any) -> Suite:
    """Return a suite from plain values. Raise WrongValue if a key is missing, unknown or of the wrong type."""
    file = read_record(_File, record)
    seen: set[str] = set()
    for at, test in enumerate(file.tests):
        if test.description in seen:
            raise WrongValue("is the same as that of an earlier test", "tests", at, "description")
        seen.add(test.description)
    return Suite(name, file.description, file.tests, **file.metadata._asdict())


def _step(value: Any) -> Any:
    if isinstance(value, str):
        return Step(value)
    step = read_record(Step, value)
    _check_template(step.run, step.facts, "run")
    return step


def _test(value: Any) -> SuiteTest:
    for name in ("question", "command"):
        if isinstance(value, Mapping) and name in value:
            raise WrongValue(f"is not one of promptfoo's: write it as vars.{name}, where promptfoo finds it", name)
    test = read_record(_TestInFile, value)
    _check_variables(test.vars)
    shared, own = test.assertions, test.metadata.own
    assertions = [_assertion(other, test.vars, False, "assert", at) for at, other in enumerate(shared)]
    assertions += [_assertion(other, test.vars, True, "metadata", "assert", at) for at, other in enumerate(own)]
    if not assertions:
        raise WrongValue("is missing: a test without an assertion cannot fail", "assert")
    labels = test.metadata.extra
    for name, label in labels.items():
        if not isinstance(label, _Scalar):
            raise WrongValue("is neither text nor a number", "metadata", str(name))
        if name in METADATA_KEYS:
            problem = "is a key of the suite's own metadata, which promptfoo merges into it"
            raise WrongValue(problem, "metadata", name)
    return SuiteTest(test.description, test.vars, tuple(assertions), test.threshold, labels)


def _check_variables(variables: Mapping[str, _Scalar]) -> None:
    if ("question" in variables) == ("command" in variables):
        raise WrongValue("must have one of question and command", "vars")
    asked = "question" if "question" in variables else "command"
    text = variables[asked]
    if not isinstance(text, str) or not text.strip():
        raise WrongValue(f"must be text, but is {shown(text)}", "vars", asked)
    _check_template(text, {name: value for name, value in variables.items() if name != asked}, "vars", asked)


def _some_tests(tests: tuple[SuiteTest, ...]) -> tuple[SuiteTest, ...]:
    if not tests:
        raise WrongValue("is missing or empty")
    return tests


@no_other_keys
class _Metadata(NamedTuple):
    kind: Annotated[str, SUITE_KINDS] = CAPABILITY
    now: TimeText = DEFAULT_NOW
    seed: Annotated[int, (0, _MOST)] = 1
    vault: Annotated[str, (EMPTY, COPY)] = EMPTY
    budget: Annotated[int, (1, _MOST)] = DEFAULT_BUDGET
    arms: Annotated[tuple[Annotated[str, ARMS], ...], ONE_OR_MORE, lambda arms: arms or (MEMORY,)] = (MEMORY,)
    fixtures: tuple[Annotated[Step, Before(_step)], ...] | Generated = ()


class _TestMetadata(NamedTuple):
    own: Annotated[tuple[Any, ...], Key("assert")] = ()
    extra: Mapping[str, Any] = {}


@no_other_keys
class _TestInFile(NamedTuple):
    description: FilledText
    vars: Mapping[str, _Scalar] = {}
    assertions: Annotated[tuple[Any, ...], Key("assert")] = ()
    threshold: Annotated[float, (0, 1), float] | None = None
    metadata: _TestMetadata = _TestMetadata()


@no_other_keys
class _File(NamedTuple):
    tests: Annotated[tuple[Annotated[SuiteTest, Before(_test)], ...], _some_tests]
    description: FilledText
    metadata: _Metadata = _Metadata()
    prompts: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    providers: Annotated[tuple[str, ...], ONE_OR_MORE] = ()


def _assertion(value: Any, variables: Mapping[str, Any], is_own: bool, *at: str | int) -> Assertion:
    try:
        assertion = read_record(Assertion, value, is_own=is_own)
        refuse_other_keys(value, _ASSERT)
        _check_assertion(assertion, "value" in value, variables)
    except WrongValue as problem:
        raise WrongValue(problem.problem, *at, *problem.keys) from None
    return assertion


def _check_assertion(assertion: Assertion, has_value: bool, variables: Mapping[str, Any]) -> None:
    kind = assertion.type.removeprefix("not-")
    wanted = (OWN_ASSERTIONS if assertion.is_own else ASSERTIONS).get(kind)
    if wanted is None and not assertion.is_own:
        raise WrongValue(_unknown_type(assertion.type), "type")
    if wanted is None and kind in ASSERTIONS:
        raise WrongValue(f"is '{assertion.type}', which belongs into the test's assert", "type")
    if kind != "is-json" and not has_value:
        raise WrongValue("is missing", "value")
    _check_value(assertion.value, wanted or ANY, variables)


def _unknown_type(kind: str) -> str:
    if kind.removeprefix("not-") in OWN_ASSERTIONS:
        return f"is '{kind}', which promptfoo does not have; write it in the test's metadata.assert"
    return (
        f"is '{kind}'; the types are {', '.join(ASSERTIONS)}, each also with not- before it."
        " Those of extensions stand in metadata.assert"
    )


def _check_value(value: Any, wanted: str, variables: Mapping[str, Any]) -> None:
    if wanted in (TEXT, PATTERN) and (not isinstance(value, str) or not value):
        raise WrongValue("is not text; write numbers in quotes", "value")
    if wanted == TEXTS and not (isinstance(value, list) and value and all(isinstance(text, str) for text in value)):
        raise WrongValue("is not a list of texts", "value")
    if wanted == SCHEMA and value is not None and not isinstance(value, Mapping):
        raise WrongValue("is not a JSON Schema", "value")
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str):
            _check_template(text, variables, "value")
    if wanted == PATTERN and not _PLACEHOLDER.search(value):
        try:
            re.compile(value)
        except re.error as problem:
            raise WrongValue(f"is not a regular expression ({problem})", "value") from None


def _check_template(text: str, variables: Mapping[str, Any], *at: str | int) -> None:
    for name in _PLACEHOLDER.findall(text):
        if name not in variables:
            raise WrongValue(f"names {{{{{name}}}}}, which is not defined", *at)
    if any(sign in _PLACEHOLDER.sub("", text) for sign in _TEMPLATE_SIGNS):
        raise WrongValue("has a template other than {{name}}", *at)


def filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return a value with each `{{name}}` replaced by the variable of that name, as promptfoo writes it."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _shown(variables[found[1]]), value)
    return [filled(other, variables) for other in value] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
