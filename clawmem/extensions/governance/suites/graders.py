"""Graders: one function for each type of assertion. Extensions add more."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, NotFound, NoVault, Refused
from clawmem.extension import extensions, named
from clawmem.extensions.governance.suites.store import FAILED, PASSED, UNJUDGED
from clawmem.extensions.governance.suites.suite import Assertion, SuiteTest, filled
from clawmem.model.language.text import one_line, shorten
from clawmem.vault.vault import Vault

# Seconds for one regular expression: a suite is written by whoever may write to the vault.
_PATTERN_SECONDS = 1.0
_SHOWN = 160


class Grade(NamedTuple):
    """What a grader says of an output: whether the assertion holds (None: it was not judged), a score, the reason."""

    holds: bool | None
    score: float
    reason: str = ""


class GradedTest(NamedTuple):
    """The outcome of a test, its score from 0 to 1, and the reasons of the assertions that do not hold."""

    outcome: str
    score: float
    reasons: tuple[str, ...]


class GraderInput(NamedTuple):
    """What a grader is given: the output, and the assertion's `value` and `threshold` with the variables filled in."""

    output: str
    value: Any
    threshold: float | None
    variables: Mapping[str, Any]


Grader = Callable[[GraderInput], Grade]
"""A grader. That of an extension may also return a bool or a tuple of the fields of a Grade."""

Judge = Callable[[str, str], Grade]
"""Judges an output by a rubric: `(rubric, output)`."""


def not_judged(rubric: str, output: str) -> Grade:
    """The judge where no model is set."""
    return Grade(None, 0.0, "not judged: no model is set (llm.model)")


def grade_test(test: SuiteTest, output: str, graders: Mapping[str, Grader]) -> GradedTest:
    """Return the outcome of a test.

    Without a threshold every assertion of a weight above 0 must hold; with one, the weighted mean of the scores must
    reach it, as promptfoo does it. A test with an assertion that was not judged is not judged, unless it fails anyway.
    """
    grades = [(assertion, grade(assertion, test.variables, output, graders)) for assertion in test.assertions]
    weight = sum(assertion.weight for assertion, _ in grades)
    score = sum(assertion.weight * each.score for assertion, each in grades) / weight if weight else 1.0
    counted = [(assertion, each) for assertion, each in grades if assertion.weight > 0]
    reasons = tuple(f"{assertion.type}: {each.reason}" for assertion, each in counted if not each.holds)
    failed = any(each.holds is False for _, each in counted)
    unjudged = any(each.holds is None for _, each in counted)
    if test.threshold is not None and not unjudged:
        return GradedTest(PASSED if score >= test.threshold else FAILED, round(score, 4), reasons)
    outcome = FAILED if failed else UNJUDGED if unjudged else PASSED
    return GradedTest(outcome, round(score, 4), reasons)


def grade(assertion: Assertion, variables: Mapping[str, Any], output: str, graders: Mapping[str, Grader]) -> Grade:
    """Return the grade of one assertion. Raise Refused if its grader does not exist or fails."""
    name = assertion.type.removeprefix("not-")
    grader = graders.get(name)
    if grader is None:
        known = ", ".join(sorted(graders))
        raise Refused(f"There is no grader '{name}'.", f"The graders are {known}; an extension may be missing.")
    value = filled(assertion.value, variables)
    try:
        result = _as_grade(grader(GraderInput(output, value, assertion.threshold, variables)))
    except ClawmemError:
        raise
    except Exception as problem:
        raise Refused(f"The grader '{name}' failed: {type(problem).__name__}: {problem}.") from problem
    if not assertion.type.startswith("not-") or result.holds is None:
        return result
    return Grade(not result.holds, 1.0 - result.score, result.reason or f"the opposite of '{name}' does not hold")


def all_graders(judge: Judge = not_judged, command: Grader | None = None) -> dict[str, Grader]:
    """Return the graders by name, those of extensions included."""
    made = {**_GRADERS, "llm-rubric": lambda other: judge(other.value, other.output)}
    if command is not None:
        made["command"] = command
    of_extensions = {name: named(function) for each in extensions() for name, function in each.graders.items()}
    return {**of_extensions, **made}


def _as_grade(grade: Any) -> Grade:
    if isinstance(grade, Grade):
        return grade
    if isinstance(grade, bool):
        return Grade(grade, float(grade), "" if grade else "the grader says no")
    return Grade(*grade)


def _yes(holds: bool, reason: str) -> Grade:
    return Grade(holds, float(holds), reason)


def _equals(value: GraderInput) -> Grade:
    if isinstance(value.value, dict | list):
        try:
            return _yes(json.loads(value.output) == value.value, "the output is another JSON value")
        except ValueError:
            return _yes(False, "the output is not JSON")
    wanted = value.value if isinstance(value.value, str) else json.dumps(value.value)
    return _yes(value.output == wanted, f"the output is not {_short(wanted)}")


def _contains(value: GraderInput, fold: bool = False, needed: Callable[..., bool] = all) -> Grade:
    wanted = [value.value] if isinstance(value.value, str) else list(value.value)
    text = value.output.lower() if fold else value.output
    found = [(other.lower() if fold else other) in text for other in wanted]
    holds = needed(found)
    about = [other for other, is_in in zip(wanted, found, strict=True) if is_in == holds] or wanted
    return _yes(holds, f"the output {'contains' if holds else 'does not contain'} {', '.join(map(_short, about))}")


def _regex(value: GraderInput) -> Grade:
    import regex  # has a time limit, which `re` lacks

    try:
        found = regex.search(value.value, value.output, timeout=_PATTERN_SECONDS)
    except TimeoutError:
        return _yes(False, f"the pattern {_short(value.value)} took longer than {_PATTERN_SECONDS:g} second")
    except regex.error as problem:
        return _yes(False, f"{_short(value.value)} is not a pattern ({problem})")
    return _yes(bool(found), f"the output {'matches' if found else 'does not match'} {_short(value.value)}")


def _is_json(argument: GraderInput) -> Grade:
    try:
        value = json.loads(argument.output)
    except ValueError as problem:
        return _yes(False, f"the output is not JSON ({problem})")
    if argument.value is None:
        return _yes(True, "the output is JSON")
    import jsonschema  # slow to import

    wrong = next(iter(jsonschema.Draft202012Validator(argument.value).iter_errors(value)), None)
    return _yes(wrong is None, f"{wrong.json_path}: {_short(wrong.message)}" if wrong else "the output fits the schema")


def _json_path(value: GraderInput) -> Grade:
    """`value` is a path, which must find something, or {path, equals | contains}: one of the values found must fit."""
    import jsonpath  # a dependency of this grader only

    wish = value.value if isinstance(value.value, dict) else {"path": value.value}
    if not isinstance(wish.get("path"), str) or set(wish) - {"path", "equals", "contains"}:
        return _yes(False, "the value must be a path, or have the keys path and equals or contains")
    if any(text in wish["path"] for text in ("match(", "search(", "=~")):
        return _yes(False, "a path cannot contain a pattern, which has no time limit; use the type regex")
    try:
        found = jsonpath.findall(wish["path"], json.loads(value.output))
    except ValueError as problem:
        return _yes(False, f"the output is not JSON ({problem})")
    except jsonpath.JSONPathError as problem:
        return _yes(False, f"{wish['path']} is not a JSON path ({_short(str(problem))})")
    if "equals" in wish:
        found = [other_value for other_value in found if other_value == wish["equals"]]
    elif "contains" in wish:
        found = [
            each for each in found if str(wish["contains"]) in (each if isinstance(each, list | str) else str(each))
        ]
    return _yes(bool(found), f"{wish['path']} finds {len(found)} values that fit")


def _recall_at_k(value: GraderInput) -> Grade:
    """`value` is {k, expected}: the share of the expected texts in the first k results; all of them by default."""
    wish = value.value if isinstance(value.value, dict) else {}
    k, expected = wish.get("k"), wish.get("expected")
    expected = [expected] if isinstance(expected, str) else expected
    if not isinstance(k, int) or k < 1 or not isinstance(expected, list) or not expected:
        return _yes(False, "the value must have the keys k (from 1 on) and expected (texts)")
    first = _results(value.output)[:k]
    found = [other for other in expected if any(str(other).lower() in text.lower() for text in first)]
    score = len(found) / len(expected)
    needed = 1.0 if value.threshold is None else value.threshold
    return Grade(score >= needed, score, f"{len(found)} of {len(expected)} are in the first {k} results")


def _results(output: str) -> Sequence[str]:
    """The results in an answer of `recall`: its records with --json, else its lines."""
    try:
        data = json.loads(output)["data"]
    except (ValueError, KeyError, TypeError):
        return [line for line in output.splitlines() if line.strip()]
    hits = [other for kind in ("facts", "events", "notes", "summaries") for other in data.get(kind) or ()]
    return [json.dumps(hit, ensure_ascii=False) for hit in sorted(hits, key=lambda hit: hit.get("rank") or len(hits))]


def command_grader(own: Callable[[], Vault], folder: Path) -> Grader:
    """Return the grader `command`: an allowed command, run in a folder with the output on stdin, ends with exit code 0.

    Where nobody allowed it on this machine, nothing is judged, which is not passed."""

    def grader(value: GraderInput) -> Grade:
        from clawmem.memory.allowed_commands import run_command  # only where a suite has a command

        try:
            run = run_command(own(), value.value, folder, given=value.output.encode())
        except (Refused, NotFound, NoVault) as problem:
            return Grade(None, 0.0, f"not judged: {problem.message}")
        text = one_line(run.errors or run.output)
        return _yes(run.code == 0, f"{run.ended or f'exit code {run.code}'} {_short(text) if text else ''}".rstrip())

    return grader


def _short(text: str) -> str:
    return f"'{shorten(text, _SHOWN)}'"


_GRADERS: Mapping[str, Grader] = {
    "equals": _equals,
    "contains": _contains,
    "icontains": lambda other_input: _contains(other_input, fold=True),
    "contains-all": _contains,
    "contains-any": lambda other_input: _contains(other_input, needed=any),
    "icontains-all": lambda other_input: _contains(other_input, fold=True),
    "icontains-any": lambda other_input: _contains(other_input, fold=True, needed=any),
    "starts-with": lambda other_input: _yes(
        other_input.output.startswith(other_input.value), f"the output does not start with {_short(other_input.value)}"
    ),
    "regex": _regex,
    "is-json": _is_json,
    "json-path": _json_path,
    "recall-at-k": _recall_at_k,
    "command": lambda value: Grade(None, 0.0, "not judged: commands cannot be run here"),
}
