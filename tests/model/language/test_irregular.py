"""Irregular forms: one word's forms find each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.language.irregular import forms_of


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("go", ("go", "went", "gone")),
        ("went", ("went", "go", "gone")),
        ("goes", ("goes", "go", "went", "gone")),
        ("going", ("going", "go", "went", "gone")),
        ("taking", ("taking", "take", "took", "taken")),
        ("children", ("children", "child")),
        ("bought", ("bought", "buy")),
        ("wing", ("wing",)),
        ("paint", ("paint",)),
        ("s", ("s",)),
        ("", ("",)),
    ],
)
def test_the_forms_of_a_word(word: str, forms: tuple[str, ...]) -> None:
    assert forms_of(word) == forms


@given(st.text(max_size=12))
def test_a_word_comes_first_and_each_form_once(word: str) -> None:
    forms = forms_of(word)
    assert forms[0] == word
    assert len(set(forms)) == len(forms)
