"""Graders: each type of assertion, weights and thresholds as promptfoo has them, and graders of extensions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import Refused
from clawmem.extension import ACCEPTED_FILE, Accepted
from clawmem.extensions.governance.suites.graders import Grade, all_graders, grade, grade_test
from clawmem.extensions.governance.suites.store import FAILED, PASSED, UNJUDGED
from clawmem.extensions.governance.suites.suite import ASSERTIONS, OWN_ASSERTIONS, Assertion, SuiteTest

FACTS = {"data": {"facts": [{"fact": "The boat is red.", "rank": 2}], "events": [{"text": "A red hull.", "rank": 1}]}}
OUTPUT = json.dumps(FACTS)

# Type, value, an output that holds, one that does not.
CASES: tuple[tuple[str, Any, str, str], ...] = (
    ("equals", "red", "red", "red."),
    ("equals", {"a": 1}, '{"a":1}', '{"a": 2}'),
    ("contains", "Red", "a Red boat", "a red boat"),
    ("icontains", "RED", "a red boat", "a blue boat"),
    ("contains-all", ["red", "boat"], "a red boat", "a red hull"),
    ("contains-any", ["red", "blue"], "a blue hull", "a Blue hull"),
    ("icontains-all", ["RED", "Boat"], "a red boat", "a red hull"),
    ("icontains-any", ["RED", "blue"], "a Blue hull", "a green hull"),
    ("starts-with", "a ", "a boat", "the boat"),
    ("regex", r"bo+at\b", "a booat", "a boats"),
    ("is-json", None, "[]", "[}"),
    ("is-json", {"required": ["data"]}, OUTPUT, "{}"),
    ("json-path", "$.data.facts[*].fact", OUTPUT, '{"data": {}}'),
    ("json-path", {"path": "$..fact", "equals": "The boat is red."}, OUTPUT, '{"fact": "No."}'),
    ("json-path", {"path": "$..fact", "contains": "red"}, OUTPUT, "red"),
    ("recall-at-k", {"k": 1, "expected": ["red HULL"]}, OUTPUT, '{"data": {"facts": [{"fact": "x"}]}}'),
    ("recall-at-k", {"k": 2, "expected": ["one", "two"]}, "one\ntwo\nthree", "zero\none\ntwo"),
)


def one(kind: str, value: Any, output: str, **more: Any) -> Grade:
    return grade(Assertion(kind, value, **more), {"who": "boat"}, output, all_graders())


@pytest.mark.parametrize(("kind", "value", "good", "bad"), CASES)
def test_each_grader_and_its_opposite(kind: str, value: Any, good: str, bad: str) -> None:
    assert one(kind, value, good).holds is True
    assert one(kind, value, bad).holds is False
    assert one(f"not-{kind}", value, good).holds is False
    assert one(f"not-{kind}", value, bad).holds is True
    assert one(kind, value, bad).reason


def test_every_type_of_a_suite_has_a_grader() -> None:
    assert {*ASSERTIONS, *OWN_ASSERTIONS} <= set(all_graders())


def test_variables_are_filled_in() -> None:
    assert one("contains", "a {{who}}", "a boat").holds


def test_recall_at_k_counts_what_it_finds() -> None:
    found = one("recall-at-k", {"k": 2, "expected": ["one", "two", "nine"]}, "one\ntwo", threshold=0.5)
    assert found.holds and found.score == pytest.approx(2 / 3)


@pytest.mark.parametrize("value", [{"k": 0, "expected": ["x"]}, {"k": 1}, 3])
def test_a_value_of_the_wrong_form_does_not_hold(value: Any) -> None:
    assert one("recall-at-k", value, "x").holds is False
    assert one("json-path", {"path": "$[", "x": value}, "[]").holds is False
    assert one("json-path", "$[", "[]").holds is False
    assert "time limit" in one("json-path", "$[?match(@, '(a|aa)+$')]", '["a"]').reason


def test_a_pattern_that_takes_too_long_does_not_hold() -> None:
    found = one("regex", r"(a|aa)+$", "a" * 60 + "b")
    assert found.holds is False
    assert "longer than 1 second" in found.reason


def of(*assertions: Assertion, threshold: float | None = None) -> SuiteTest:
    return SuiteTest("t", {"question": "q"}, assertions, threshold)


def test_all_assertions_must_hold_without_a_threshold() -> None:
    good, bad = Assertion("contains", "a"), Assertion("contains", "z", weight=3)
    test = grade_test(of(good, bad), "a", all_graders())
    assert (test.outcome, test.score) == (FAILED, 0.25)
    assert test.reasons == ("contains: the output does not contain 'z'",)
    assert grade_test(of(good, bad, threshold=0.25), "a", all_graders()).outcome == PASSED
    assert grade_test(of(good, bad._replace(weight=0)), "a", all_graders()).outcome == PASSED


def test_without_a_model_a_rubric_is_not_judged_which_is_not_passed() -> None:
    rubric, bad = Assertion("llm-rubric", "is polite"), Assertion("contains", "z")
    assert grade_test(of(rubric), "a", all_graders()).outcome == UNJUDGED
    assert grade_test(of(rubric._replace(type="not-llm-rubric")), "a", all_graders()).outcome == UNJUDGED
    assert grade_test(of(rubric, threshold=0.0), "a", all_graders()).outcome == UNJUDGED
    assert grade_test(of(rubric, bad), "a", all_graders()).outcome == FAILED
    judged = all_graders(lambda rubric, output: Grade(True, 0.9, ""))
    assert grade_test(of(rubric), "a", judged).score == 0.9


def test_an_unknown_grader_is_named() -> None:
    with pytest.raises(Refused, match="There is no grader 'smells'"):
        one("smells", 1, "x")


EXTENSION = """
from clawmem.extension import Extension

EXTENSION = Extension("short_answers", graders={"at-most-words": "short_answers:at_most_words"})

def at_most_words(given):
    words = len(given.output.split())
    return words <= given.value, min(1.0, given.value / max(words, 1)), f"the output has {words} words"
"""


def test_an_accepted_extension_adds_a_grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "short_answers.py").write_text(EXTENSION)
    (tmp_path / ACCEPTED_FILE).write_text('{"short_answers": "short_answers:EXTENSION"}')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Accepted, "folder", lambda: tmp_path)
    assert one("at-most-words", 2, "one two") == Grade(True, 1.0, "the output has 2 words")
    assert one("at-most-words", 2, "one two three").holds is False
    assert one("not-at-most-words", 2, "one").holds is False
