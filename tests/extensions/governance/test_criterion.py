"""Criteria of acceptance lists: how they are read, and which verdict their results give."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.extensions.governance.criterion import (
    ESCALATE,
    FAIL,
    JUDGED,
    MET,
    PASS,
    REFUTED,
    RESULTS,
    RULES,
    UNDECIDED,
    CriterionResult,
    criteria_of,
    parse_rule,
    shortened,
    verdict_of,
)


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("command: make test", [("command", "make test")]),
        ("Command:  `make test`", [("command", "make test")]),
        ("`command: make test`", [("command", "make test")]),
        ("The tests pass: `command: make test`", [("command", "make test")]),
        ("The tests pass: `Command: make test`", [("command", "make test")]),
        ("rule: contains README.md 'two words'", [("rule", "contains README.md 'two words'")]),
        ("Both: `rule: exists a` and ``command: ./b``.", [("rule", "exists a"), ("command", "./b")]),
        ("The command: it must work.", [("judged", "The command: it must work.")]),
        ("Use `make`.", [("judged", "Use `make`.")]),
        ("command:", [("judged", "command:")]),
    ],
)
def test_an_item_gives_single_criteria(text: str, checks: list[tuple[str, str]]) -> None:
    assert [(criterion.kind, criterion.check) for criterion in criteria_of([text])] == checks
    assert all(criterion.text == text.replace("  ", " ") for criterion in criteria_of([text]))


@given(st.lists(st.text(min_size=1), max_size=5))
def test_no_item_is_lost(texts: list[str]) -> None:
    assert len(criteria_of(texts)) >= len(texts)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_its_arguments(name: str) -> None:
    words = RULES[name]
    assert parse_rule(" ".join([name, *words])).arguments == words
    with pytest.raises(InvalidInput, match="takes"):
        parse_rule(" ".join([name, *words, "more"]))
    with pytest.raises(InvalidInput, match="takes"):
        parse_rule(name)


@pytest.mark.parametrize("text", ["is-nice README.md", "exists 'open", "EXISTS x"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_rule(text)


def _result(result: str, confidence: float = 1.0) -> CriterionResult:
    return CriterionResult("text", JUDGED, result, "", confidence, "x")


@pytest.mark.parametrize("results", list(product(RESULTS, repeat=3)))
def test_the_verdict(results: tuple[str, ...]) -> None:
    wanted = FAIL if REFUTED in results else ESCALATE if UNDECIDED in results else PASS
    assert verdict_of([_result(result) for result in results])[0] == wanted


def test_what_is_not_sure_decides_nothing() -> None:
    assert verdict_of([_result(MET), _result(MET, 0.69)])[0] == ESCALATE
    assert verdict_of([_result(MET), _result(MET, 0.7)])[0] == PASS
    assert verdict_of([_result(MET), _result(REFUTED, 0.69)])[0] == ESCALATE
    assert verdict_of([]) == (ESCALATE, "The task has no acceptance list.")


def test_only_evidence_beyond_the_limit_is_cut() -> None:
    assert shortened("Passed\nin 3 s.") == "Passed in 3 s."
    assert shortened("x" * 500) == "x" * 500
    assert shortened("x" * 501) == "x" * 499 + "…"
