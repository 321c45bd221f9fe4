"""The propositional form names premises in brackets; nothing else in double brackets is one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.propositional import conclusion_of, named_premises


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Since [[the parser is slow]], we cache.", ["the parser is slow"]),
        ("We cache because [[the parser is slow]].", ["the parser is slow"]),
        ("Given that [[fact_1a2b]] and [[memory is cheap]], we cache.", ["fact_1a2b", "memory is cheap"]),
        ("Since [[a]], [[b]], and [[c]], d.", ["a", "b", "c"]),
        ("since [[a]], [[Jane]] moves.", ["a"]),
        ("[[Jane]] likes tea.", []),
        ("Since 2024 [[Jane]] likes tea.", []),
        ("Since \\[[a]], b.", []),
        ("Since [[]], b.", []),
        ("Since [[ ]], b.", []),
        ("Since [[a\nb]], c.", []),
        ("Since [[a, b.", []),
        (f"Since [[{'x' * 301}]], b.", []),
    ],
)
def test_brackets_behind_a_reason_are_premises(statement: str, expected: list[str]) -> None:
    assert [named_premise.words for named_premise in named_premises(statement)] == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Since [[a]] and [[b]], see \\[[c]] and [[d]].", "Since [[A]] and [[b]], see [[c]] and [[d]]."),
        ("Since [[a]], we cache.", "We cache."),
        ("We cache because [[a]].", "We cache."),
        ("We cache, since [[a]] and [[a]], and we wait.", "We cache and we wait."),
        ("Since [[a]], we cache because [[a]].", "We cache."),
        ("Because [[a]].", "Because [[A]]."),
    ],
)
def test_the_conclusion_has_no_words_of_a_known_premise(statement: str, expected: str) -> None:
    assert conclusion_of(statement, lambda premise: "A" if premise.words == "a" else None) == expected


@given(st.text(alphabet="since [],and\\xab. ", max_size=200))
def test_any_text_is_read(statement: str) -> None:
    for named_premise in named_premises(statement):
        assert statement[named_premise.start : named_premise.end].strip("[]").strip() == named_premise.words
    assert "\\[[" not in conclusion_of(statement, lambda other: None)


@pytest.mark.soak
@pytest.mark.parametrize("piece", ["since [[a]] and ", "since ", "[[", "since [[a]], ", "]]"])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    began = time.process_time()
    named_premises(piece * (4000 // len(piece)))
    assert time.process_time() - began < 0.3
