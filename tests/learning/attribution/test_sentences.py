"""Sentences, each with its exact place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.learning.attribution.sentences import sentences

CASES = [
    ("I moved. I like it!", ["I moved.", "I like it!"]),
    ("Dr. Weber paid $3.50. Fine", ["Dr. Weber paid $3.50.", "Fine"]),
    ("one\ntwo", ["one", "two"]),
    ("- first item\n2. second item", ["first item", "second item"]),
    ("before\n```python\nx = 1\nI live here\n```\nafter", ["before", "after"]),
    ("> quoted\n# heading\n| a | b |\nplain", ["plain"]),
    ("So nice 😀 I moved", ["So nice 😀", "I moved"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [piece.text for piece in sentences(text)] == expected


@given(st.text(max_size=300))
def test_every_piece_is_an_exact_part_of_its_text(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= end
        end = sentence.end
