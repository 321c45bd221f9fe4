"""Eval suites: `governance/evals/<suite>.yaml`, a strict subset of the configuration of promptfoo.

promptfoo reads `description`, `prompts`, `providers` and `tests` with `description`, `vars`, `assert`, `threshold` and
`metadata`. The keys of clawmem stand under `metadata`, which promptfoo passes on and does not interpret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import UnreadableKey
from clawmem.model.language.dates import moment_of
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
PROMPTS, PROVIDERS = ("{{question}}{{command}}",), ("exec: clawmem eval answer",)

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
"""The types that only clawmem has. They, and those of plugins, stand in `metadata.assert` of a test."""

_MOST = 1_000_000_000
_ID = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_KEYS = ("description", "metadata", "prompts", "providers", "tests")
METADATA_KEYS = ("kind", "now", "seed", "vault", "budget", "arms", "fixtures")
_TEST = ("description", "vars", "assert", "threshold", "metadata")
_ASSERT = ("type", "value", "threshold", "weight", "metric")
_STEP = ("run", "now", "stdin", "facts")
_GENERATED = ("generate", "seed", "size")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_TEMPLATE_SIGNS = ("{{", "{%", "{#")
_Keys = tuple[str | int, ...]
_Scalar = str | int | float | bool


class Assertion(NamedTuple):
    """One assertion of a test. `is_own` says that it stands in `metadata.assert`; `weight` 0 makes it a remark."""

    type: str
    value: Any = None
    threshold: float | None = None
    weight: float = 1.0
    is_own: bool = False


class SuiteTest(NamedTuple):
    """A test: its variables, of which one is `question` or `command`, its assertions, and labels such as a category.

    With a `threshold`, the weighted mean of the scores decides; without one, every assertion must hold."""

    description: str
    variables: Mapping[str, _Scalar]
    assertions: tuple[Assertion, ...]
    threshold: float | None = None
    labels: Mapping[str, _Scalar] = {}


class Step(NamedTuple):
    """A step of the fixtures: a clawmem command line, its time, its input, and names for facts by their text."""

    run: str
    now: str | None = None
    stdin: str = ""
    facts: Mapping[str, str] = {}


class Generated(NamedTuple):
    """Fixtures that a generator makes."""

    generate: str
    seed: int
    size: int


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
    prompts: tuple[str, ...] = PROMPTS
    providers: tuple[str, ...] = PROVIDERS


class WrongKey(Exception):
    """A key of a suite has a wrong value; `problem` completes the sentence "the key ... "."""

    def __init__(self, keys: _Keys, problem: str) -> None:
        super().__init__(problem)
        self.keys = keys
        self.problem = problem


def is_suite_id(text: str) -> bool:
    """Return whether a text is the id of a suite: lower-case letters, digits, `-` and `_`."""
    return _ID.fullmatch(text) is not None


def suite_path(suite: str) -> str:
    """Return the vault path of a suite."""
    return f"{FOLDER}/{suite}.yaml"


def parse_suite(data: bytes, path: str, yaml: Yaml) -> Suite:
    """Read a suite. Raise Unreadable, naming the key, if something is missing, unknown or of the wrong type."""
    held = yaml_value(data, path, yaml)
    try:
        return suite_from_mapping(path.rpartition("/")[2].removesuffix(".yaml"), held)
    except WrongKey as problem:
        raise UnreadableKey(path, problem.keys, problem.problem) from None


def suite_from_mapping(name: str, held: Any) -> Suite:
    """Return a suite from plain values. Raise WrongKey if a key is missing, unknown or of the wrong type."""
    _known(held, (), _KEYS, {})
    metadata = _mapping(held, "metadata", ())
    _known(metadata, ("metadata",), METADATA_KEYS, {})
    tests = _list(held, "tests", (), required=True)
    made = tuple(_test(one, ("tests", at)) for at, one in enumerate(tests))
    seen: set[str] = set()
    for at, one in enumerate(made):
        if one.description in seen:
            raise WrongKey(("tests", at, "description"), "is the same as that of an earlier test")
        seen.add(one.description)
    return Suite(
        name,
        _text(held, "description", ()),
        made,
        **_metadata(metadata),
        prompts=_prompts(held),
        providers=_texts(held, "providers", ()) or PROVIDERS,
    )


def _metadata(held: Mapping[str, Any]) -> dict[str, Any]:
    at: _Keys = ("metadata",)
    return {
        "kind": _choice(held, "kind", at, SUITE_KINDS, CAPABILITY),
        "now": _time(held, "now", at) or DEFAULT_NOW,
        "seed": _whole(held, "seed", at, 1),
        "vault": _choice(held, "vault", at, (EMPTY, COPY), EMPTY),
        "budget": _whole(held, "budget", at, DEFAULT_BUDGET, least=1),
        "arms": _arms(held, at),
        "fixtures": _fixtures(held, at),
    }


def _prompts(held: Mapping[str, Any]) -> tuple[str, ...]:
    prompts = _texts(held, "prompts", ())
    if len(prompts) > 1:
        raise WrongKey(("prompts",), "has several prompts; a suite has one")
    return prompts or PROMPTS


def _arms(held: Mapping[str, Any], at: _Keys) -> tuple[str, ...]:
    arms = _texts(held, "arms", at)
    for place, arm in enumerate(arms):
        if arm not in ARMS:
            raise WrongKey((*at, "arms", place), f"is '{arm}'; the arms are {', '.join(ARMS)}")
    return arms or (MEMORY,)


def _fixtures(held: Mapping[str, Any], at: _Keys) -> tuple[Step, ...] | Generated:
    here = (*at, "fixtures")
    if isinstance(held.get("fixtures"), Mapping):
        given = held["fixtures"]
        _known(given, here, _GENERATED, {})
        return Generated(
            _text(given, "generate", here),
            _whole(given, "seed", here, 1),
            _whole(given, "size", here, 40, 1, MOST_TESTS),
        )
    return tuple(_step(one, (*here, place)) for place, one in enumerate(_list(held, "fixtures", at)))


def _step(held: Any, at: _Keys) -> Step:
    if isinstance(held, str):
        return Step(held)
    _known(held, at, _STEP, {})
    facts = _mapping(held, "facts", at)
    for name, text in facts.items():
        if not isinstance(text, str) or not isinstance(name, str):
            raise WrongKey((*at, "facts", name), "is not the text of a fact")
    run, stdin = _text(held, "run", at), held.get("stdin", "")
    if not isinstance(stdin, str):
        raise WrongKey((*at, "stdin"), "is not text")
    _check_template(run, facts, (*at, "run"))
    return Step(run, _time(held, "now", at), stdin, dict(facts))


def _test(held: Any, at: _Keys) -> SuiteTest:
    moved = {name: f"write it as vars.{name}, where promptfoo finds it" for name in ("question", "command")}
    _known(held, at, _TEST, moved)
    variables = _variables(held, at)
    metadata = _mapping(held, "metadata", at)
    own = _list(metadata, "assert", (*at, "metadata"))
    given = [_assertion(one, (*at, "assert", n), variables, False) for n, one in enumerate(_list(held, "assert", at))]
    given += [_assertion(one, (*at, "metadata", "assert", n), variables, True) for n, one in enumerate(own)]
    if not given:
        raise WrongKey((*at, "assert"), "is missing: a test without an assertion cannot fail")
    labels = {name: value for name, value in metadata.items() if name != "assert"}
    for name, value in labels.items():
        if name in METADATA_KEYS:
            raise WrongKey(
                (*at, "metadata", name), "is a key of the suite's own metadata, which promptfoo merges into it"
            )
        _check_scalar(value, (*at, "metadata", name))
    return SuiteTest(
        _text(held, "description", at), variables, tuple(given), _fraction(held, "threshold", at), labels
    )  # fmt: skip


def _variables(held: Mapping[str, Any], at: _Keys) -> dict[str, _Scalar]:
    here = (*at, "vars")
    found = dict(_mapping(held, "vars", at))
    for name, value in found.items():
        _check_scalar(value, (*here, name))
    if ("question" in found) == ("command" in found):
        raise WrongKey(here, "must have one of question and command")
    asked = "question" if "question" in found else "command"
    if not isinstance(found[asked], str) or not found[asked].strip():
        raise WrongKey((*here, asked), "is not text")
    _check_template(found[asked], {name: value for name, value in found.items() if name != asked}, (*here, asked))
    return found


def _assertion(held: Any, at: _Keys, variables: Mapping[str, Any], is_own: bool) -> Assertion:
    _known(held, at, _ASSERT, {})
    kind = _text(held, "type", at)
    table = OWN_ASSERTIONS if is_own else ASSERTIONS
    wanted = table.get(kind.removeprefix("not-"))
    if wanted is None and not is_own:
        raise WrongKey((*at, "type"), _unknown_type(kind))
    if wanted is None and kind.removeprefix("not-") in ASSERTIONS:
        raise WrongKey((*at, "type"), f"is '{kind}', which belongs into the test's assert")
    if kind != "is-json" and kind != "not-is-json" and "value" not in held:
        raise WrongKey((*at, "value"), "is missing")
    _check_value(held.get("value"), wanted or ANY, (*at, "value"), variables)
    weight = held.get("weight", 1)
    if not _is_number(weight) or weight < 0:
        raise WrongKey((*at, "weight"), "is not a number from 0 on")
    return Assertion(kind, held.get("value"), _fraction(held, "threshold", at), float(weight), is_own)


def _unknown_type(kind: str) -> str:
    if kind.removeprefix("not-") in OWN_ASSERTIONS:
        return f"is '{kind}', which promptfoo does not have; write it in the test's metadata.assert"
    return (
        f"is '{kind}'; the types are {', '.join(ASSERTIONS)}, each also with not- before it."
        " Those of plugins stand in metadata.assert"
    )


def _check_value(value: Any, wanted: str, at: _Keys, variables: Mapping[str, Any]) -> None:
    if wanted in (TEXT, PATTERN) and (not isinstance(value, str) or not value):
        raise WrongKey(at, "is not text; write numbers in quotes")
    if wanted == TEXTS and not (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
        raise WrongKey(at, "is not a list of texts")
    if wanted == SCHEMA and value is not None and not isinstance(value, Mapping):
        raise WrongKey(at, "is not a JSON Schema")
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str):
            _check_template(text, variables, at)
    if wanted == PATTERN and not _PLACEHOLDER.search(value):
        try:
            re.compile(value)
        except re.error as problem:
            raise WrongKey(at, f"is not a regular expression ({problem})") from None


def _check_template(text: str, variables: Mapping[str, Any], at: _Keys) -> None:
    for name in _PLACEHOLDER.findall(text):
        if name not in variables:
            raise WrongKey(at, f"names {{{{{name}}}}}, which is not defined")
    if any(sign in _PLACEHOLDER.sub("", text) for sign in _TEMPLATE_SIGNS):
        raise WrongKey(at, "has a template other than {{name}}")


def filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return a value with each `{{name}}` replaced by the variable of that name, as promptfoo writes it."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _shown(variables[found[1]]), value)
    return [filled(one, variables) for one in value] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _known(held: Any, at: _Keys, keys: Sequence[str], moved: Mapping[str, str]) -> None:
    if not isinstance(held, Mapping):
        raise WrongKey(at, "contains no keys and values")
    for key in held:
        if key in moved:
            raise WrongKey((*at, key), f"is not one of promptfoo's: {moved[key]}")
        if key not in keys:
            raise WrongKey((*at, key), f"is unknown; the keys are {', '.join(keys)}")


def _mapping(held: Mapping[str, Any], key: str, at: _Keys) -> Mapping[str, Any]:
    value = held.get(key, {})
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise WrongKey((*at, key), "contains no keys and values")
    return value


def _list(held: Mapping[str, Any], key: str, at: _Keys, required: bool = False) -> list[Any]:
    value = held.get(key, [])
    if not isinstance(value, list):
        raise WrongKey((*at, key), "is not a list")
    if required and not value:
        raise WrongKey((*at, key), "is missing or empty")
    return value


def _text(held: Mapping[str, Any], key: str, at: _Keys) -> str:
    value = held.get(key)
    if not isinstance(value, str) or not value.strip():
        raise WrongKey((*at, key), "is missing or not text")
    return value.strip()


def _texts(held: Mapping[str, Any], key: str, at: _Keys) -> tuple[str, ...]:
    found = held.get(key, [])
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
        raise WrongKey((*at, key), "is not a list of texts")
    return tuple(found)


def _choice(held: Mapping[str, Any], key: str, at: _Keys, choices: Sequence[str], default: str) -> str:
    value = held.get(key, default)
    if value not in choices:
        raise WrongKey((*at, key), f"is '{value}'; choose {' or '.join(choices)}")
    return str(value)


def _whole(held: Mapping[str, Any], key: str, at: _Keys, default: int, least: int = 0, most: int = _MOST) -> int:
    value = held.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise WrongKey((*at, key), f"is not a whole number from {least} to {most:,}")
    return value


def _time(held: Mapping[str, Any], key: str, at: _Keys) -> str | None:
    value = held.get(key)
    if value is None:
        return None
    try:
        moment_of(value if isinstance(value, str) else "")
    except ValueError:
        raise WrongKey((*at, key), "is not a time in quotes, such as '2026-01-05T09:00:00Z'") from None
    return str(value)


def _fraction(held: Mapping[str, Any], key: str, at: _Keys) -> float | None:
    value = held.get(key)
    if value is None:
        return None
    if not _is_number(value) or not 0 <= value <= 1:
        raise WrongKey((*at, key), "is not a number from 0 to 1")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_scalar(value: Any, at: _Keys) -> None:
    if not isinstance(value, str | int | float | bool):
        raise WrongKey(at, "is neither text nor a number")


def suite_to_mapping(suite: Suite) -> dict[str, Any]:
    """Return a suite as plain values in the order of its keys, complete for promptfoo."""
    metadata: dict[str, Any] = {"kind": suite.kind, "now": suite.now, "seed": suite.seed, "vault": suite.vault}
    metadata |= {"budget": suite.budget, "arms": list(suite.arms), "fixtures": _fixtures_to_plain(suite.fixtures)}
    return {
        "description": suite.description,
        "metadata": metadata,
        "prompts": list(suite.prompts),
        "providers": list(suite.providers),
        "tests": [_test_to_mapping(one) for one in suite.tests],
    }


def _fixtures_to_plain(fixtures: tuple[Step, ...] | Generated) -> Any:
    if isinstance(fixtures, Generated):
        return fixtures._asdict()
    return [{key: value for key, value in one._asdict().items() if value} for one in fixtures]


def _test_to_mapping(test: SuiteTest) -> dict[str, Any]:
    shared = [_assertion_to_mapping(one) for one in test.assertions if not one.is_own]
    own = [_assertion_to_mapping(one) for one in test.assertions if one.is_own]
    metadata = {**test.labels, **({"assert": own} if own else {})}
    record: dict[str, Any] = {"description": test.description, "vars": dict(test.variables)}
    record |= {"assert": shared} if shared else {}
    record |= {"threshold": test.threshold} if test.threshold is not None else {}
    return {**record, **({"metadata": metadata} if metadata else {})}


def _assertion_to_mapping(one: Assertion) -> dict[str, Any]:
    record: dict[str, Any] = {"type": one.type}
    record |= {"value": one.value} if one.value is not None else {}
    record |= {"threshold": one.threshold} if one.threshold is not None else {}
    return {**record, **({"weight": one.weight} if one.weight != 1 else {})}
