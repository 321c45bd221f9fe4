"""What may be shown of a text, and how it is counted."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.language.text import (
    all_of,
    check_statement,
    check_visible,
    common_start,
    counted,
    each_text,
    forms_of,
    visible,
    with_article,
)


def test_controls_and_overrides_are_shown_as_escapes() -> None:
    assert visible("a\x1b[31m\x00\x7f\x9b\r\u202e\u2066") == "a\\u001b[31m\\u0000\\u007f\\u009b\\u000d\\u202e\\u2066"
    assert visible("one\ttwo\nthree é 東京 👩‍🚀 עברית\u200f") == "one\ttwo\nthree é 東京 👩‍🚀 עברית\u200f"


@given(st.text())
def test_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    shown = visible(text)
    assert not [name for name in shown if unicodedata.category(name) == "Cc" and name not in "\n\t"]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert visible(shown) == shown


@given(st.text())
def test_a_json_document_stays_the_same_document(text: str) -> None:
    assert json.loads(visible(json.dumps({"text": text}, ensure_ascii=False))) == {"text": text}


def test_each_text_of_a_value_is_changed_and_nothing_else() -> None:
    value = {"one": ["two", 3, None, True], "four": {"five": "six"}}
    assert each_text(value, str.upper) == {"one": ["TWO", 3, None, True], "four": {"five": "SIX"}}


def test_numbers_have_their_nouns() -> None:
    assert [counted(number, "fact") for number in (0, 1, 2, 1500)] == ["0 facts", "1 fact", "2 facts", "1,500 facts"]
    assert [all_of(number) for number in (2, 3)] == ["both", "all"]


def test_only_a_fact_is_told_to_be_one_statement() -> None:
    with pytest.raises(InvalidInput) as fact:
        check_statement("x" * 4001)
    assert "one atomic statement" in fact.value.hint
    with pytest.raises(InvalidInput) as title:
        check_statement("x" * 4001, "title")
    assert title.value.hint == "Say the title in fewer words."


def test_a_byte_that_is_no_utf8_is_called_that() -> None:
    with pytest.raises(InvalidInput, match=r"^The fact is not UTF-8 text at position 1\.$"):
        check_visible("a\udcc3b", "fact")


def test_a_word_gets_its_article() -> None:
    assert (with_article("escalation"), with_article("fact")) == ("an escalation", "a fact")


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_the_common_start_is_the_longest(start: bytes, data: bytes, other: bytes) -> None:
    both = common_start(start + data, start + other)
    assert both >= len(start) and (start + data)[:both] == (start + other)[:both]
    assert both == min(len(start + data), len(start + other)) or (start + data)[both] != (start + other)[both]


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
