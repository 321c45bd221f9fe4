"""Graders: one function for each type of assertion. Plugins add more under the entry point group `clawmem.graders`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, NotFound, NoVault, Refused
from clawmem.extension import extensions, named
from clawmem.extensions.governance.suites.eval_run import FAILED, PASSED, UNJUDGED
from clawmem.extensions.governance.suites.suite import ASSERTIONS, OWN_ASSERTIONS, Assertion, SuiteTest, filled
from clawmem.model.language.text import one_line
from clawmem.vault.vault import Vault

GROUP = "clawmem.graders"
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
"""A grader. A plugin's grader may also return a bool or a tuple of the fields of a Grade."""

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
    grades = [(one, grade(one, test.variables, output, graders)) for one in test.assertions]
    weight = sum(one.weight for one, _ in grades)
    score = sum(one.weight * each.score for one, each in grades) / weight if weight else 1.0
    counted = [(one, each) for one, each in grades if one.weight > 0]
    reasons = tuple(f"{one.type}: {each.reason}" for one, each in counted if not each.holds)
    failed = any(each.holds is False for _, each in counted)
    unjudged = any(each.holds is None for _, each in counted)
    if test.threshold is not None and not unjudged:
        return GradedTest(PASSED if score >= test.threshold else FAILED, round(score, 4), reasons)
    outcome = FAILED if failed else UNJUDGED if unjudged else PASSED
    return GradedTest(outcome, round(score, 4), reasons)


def grade(one: Assertion, variables: Mapping[str, Any], output: str, graders: Mapping[str, Grader]) -> Grade:
    """Return the grade of one assertion. Raise Refused if its grader does not exist or fails."""
    name = one.type.removeprefix("not-")
    grader = graders.get(name)
    if grader is None:
        known = ", ".join(sorted(graders))
        raise Refused(f"There is no grader '{name}'.", f"The graders are {known}; a plugin may be missing.")
    value = filled(one.value, variables)
    try:
        done = _as_grade(grader(GraderInput(output, value, one.threshold, variables)))
    except ClawmemError:
        raise
    except Exception as problem:
        raise Refused(f"The grader '{name}' failed: {type(problem).__name__}: {problem}.") from problem
    if not one.type.startswith("not-") or done.holds is None:
        return done
    return Grade(not done.holds, 1.0 - done.score, done.reason or f"the opposite of '{name}' does not hold")


def all_graders(judge: Judge = not_judged, command: Grader | None = None) -> dict[str, Grader]:
    """Return the graders by name, those of plugins included. Raise Refused if a plugin takes a name that exists."""
    made = {**_GRADERS, "llm-rubric": lambda given: judge(given.value, given.output)}
    if command is not None:
        made["command"] = command
    return {**made, **_plugins(), **_of_extensions()}


@cache
def _plugins() -> dict[str, Grader]:
    found: dict[str, Grader] = {}
    for one in entry_points(group=GROUP):
        if one.name in ASSERTIONS or one.name in OWN_ASSERTIONS or one.name in found:
            raise Refused(
                f"The plugin {one.value} calls its grader '{one.name}', which exists already.", "Uninstall the plugin."
            )
        found[one.name] = one.load()
    return found


def _of_extensions() -> dict[str, Grader]:
    """Return the graders of the extensions that are here."""
    return {name: named(function) for one in extensions() for name, function in one.graders.items()}


def _as_grade(done: Any) -> Grade:
    if isinstance(done, Grade):
        return done
    if isinstance(done, bool):
        return Grade(done, float(done), "" if done else "the grader says no")
    return Grade(*done)


def _yes(holds: bool, reason: str) -> Grade:
    return Grade(holds, float(holds), reason)


def _equals(given: GraderInput) -> Grade:
    if isinstance(given.value, dict | list):
        try:
            return _yes(json.loads(given.output) == given.value, "the output is another JSON value")
        except ValueError:
            return _yes(False, "the output is not JSON")
    wanted = given.value if isinstance(given.value, str) else json.dumps(given.value)
    return _yes(given.output == wanted, f"the output is not {_short(wanted)}")


def _contains(given: GraderInput, fold: bool = False, needed: Callable[..., bool] = all) -> Grade:
    wanted = [given.value] if isinstance(given.value, str) else list(given.value)
    text = given.output.lower() if fold else given.output
    found = [(one.lower() if fold else one) in text for one in wanted]
    holds = needed(found)
    about = [one for one, is_in in zip(wanted, found, strict=True) if is_in == holds] or wanted
    return _yes(holds, f"the output {'contains' if holds else 'does not contain'} {', '.join(map(_short, about))}")


def _regex(given: GraderInput) -> Grade:
    import regex  # has a time limit, which `re` lacks

    try:
        found = regex.search(given.value, given.output, timeout=_PATTERN_SECONDS)
    except TimeoutError:
        return _yes(False, f"the pattern {_short(given.value)} took longer than {_PATTERN_SECONDS:g} second")
    except regex.error as problem:
        return _yes(False, f"{_short(given.value)} is not a pattern ({problem})")
    return _yes(bool(found), f"the output {'matches' if found else 'does not match'} {_short(given.value)}")


def _is_json(given: GraderInput) -> Grade:
    try:
        value = json.loads(given.output)
    except ValueError as problem:
        return _yes(False, f"the output is not JSON ({problem})")
    if given.value is None:
        return _yes(True, "the output is JSON")
    import jsonschema  # slow to import

    wrong = next(iter(jsonschema.Draft202012Validator(given.value).iter_errors(value)), None)
    return _yes(wrong is None, f"{wrong.json_path}: {_short(wrong.message)}" if wrong else "the output fits the schema")


def _json_path(given: GraderInput) -> Grade:
    """`value` is a path, which must find something, or {path, equals | contains}: one of the values found must fit."""
    import jsonpath  # a dependency of this grader only

    wish = given.value if isinstance(given.value, dict) else {"path": given.value}
    if not isinstance(wish.get("path"), str) or set(wish) - {"path", "equals", "contains"}:
        return _yes(False, "the value must be a path, or have the keys path and equals or contains")
    if any(one in wish["path"] for one in ("match(", "search(", "=~")):
        return _yes(False, "a path cannot contain a pattern, which has no time limit; use the type regex")
    try:
        found = jsonpath.findall(wish["path"], json.loads(given.output))
    except ValueError as problem:
        return _yes(False, f"the output is not JSON ({problem})")
    except jsonpath.JSONPathError as problem:
        return _yes(False, f"{wish['path']} is not a JSON path ({_short(str(problem))})")
    if "equals" in wish:
        found = [one for one in found if one == wish["equals"]]
    elif "contains" in wish:
        found = [one for one in found if str(wish["contains"]) in (one if isinstance(one, list | str) else str(one))]
    return _yes(bool(found), f"{wish['path']} finds {len(found)} values that fit")


def _recall_at_k(given: GraderInput) -> Grade:
    """`value` is {k, expected}: the share of the expected texts in the first k results; all of them by default."""
    wish = given.value if isinstance(given.value, dict) else {}
    k, expected = wish.get("k"), wish.get("expected")
    expected = [expected] if isinstance(expected, str) else expected
    if not isinstance(k, int) or k < 1 or not isinstance(expected, list) or not expected:
        return _yes(False, "the value must have the keys k (from 1 on) and expected (texts)")
    first = _results(given.output)[:k]
    found = [one for one in expected if any(str(one).lower() in text.lower() for text in first)]
    score = len(found) / len(expected)
    needed = 1.0 if given.threshold is None else given.threshold
    return Grade(score >= needed, score, f"{len(found)} of {len(expected)} are in the first {k} results")


def _results(output: str) -> Sequence[str]:
    """The results in an answer of `recall`: its records with --json, else its lines."""
    try:
        data = json.loads(output)["data"]
    except (ValueError, KeyError, TypeError):
        return [line for line in output.splitlines() if line.strip()]
    hits = [one for kind in ("facts", "events", "notes", "summaries") for one in data.get(kind) or ()]
    return [json.dumps(one, ensure_ascii=False) for one in sorted(hits, key=lambda one: one.get("rank") or len(hits))]


def command_grader(own: Callable[[], Vault], folder: Path) -> Grader:
    """Return the grader `command`: an allowed command, run in a folder with the output on stdin, ends with exit code 0.

    Where nobody allowed it on this machine, nothing is judged, which is not passed."""

    def grader(given: GraderInput) -> Grade:
        from clawmem.memory.allowed_commands import run_command  # only where a suite has a command

        try:
            done = run_command(own(), given.value, folder, given=given.output.encode())
        except (Refused, NotFound, NoVault) as problem:
            return Grade(None, 0.0, f"not judged: {problem.message}")
        said = one_line(done.errors or done.output)
        return _yes(done.code == 0, f"{done.ended or f'exit code {done.code}'} {_short(said) if said else ''}".rstrip())

    return grader


def _no_command(given: GraderInput) -> Grade:
    return Grade(None, 0.0, "not judged: commands cannot be run here")


def _short(text: str) -> str:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "…"
    return f"'{shown}'"


_GRADERS: Mapping[str, Grader] = {
    "equals": _equals,
    "contains": _contains,
    "icontains": lambda given: _contains(given, fold=True),
    "contains-all": _contains,
    "contains-any": lambda given: _contains(given, needed=any),
    "icontains-all": lambda given: _contains(given, fold=True),
    "icontains-any": lambda given: _contains(given, fold=True, needed=any),
    "starts-with": lambda given: _yes(
        given.output.startswith(given.value), f"the output does not start with {_short(given.value)}"
    ),
    "regex": _regex,
    "is-json": _is_json,
    "json-path": _json_path,
    "recall-at-k": _recall_at_k,
    "command": _no_command,
}
