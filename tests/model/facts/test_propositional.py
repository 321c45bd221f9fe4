"""The propositional form names premises in brackets; nothing else in double brackets is one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.propositional import named_premises, with_words


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
    assert [one.words for one in named_premises(statement)] == expected


def test_the_words_take_the_place_of_the_brackets() -> None:
    statement = "Since [[a]] and [[b]], see \\[[c]] and [[d]]."
    assert with_words(statement, lambda one: one.words.upper() if one.words == "a" else None) == (
        "Since A and [[b]], see [[c]] and [[d]]."
    )


@given(st.text(alphabet="since [],and\\xab. ", max_size=200))
def test_any_text_is_read(statement: str) -> None:
    for one in named_premises(statement):
        assert statement[one.start : one.end].strip("[]").strip() == one.words
    assert "\\[[" not in with_words(statement, lambda one: None)


@pytest.mark.parametrize("piece", ["since [[a]] and ", "since ", "[[", "since [[a]], ", "]]"])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    began = time.process_time()
    named_premises(piece * (4000 // len(piece)))
    assert time.process_time() - began < 0.3
