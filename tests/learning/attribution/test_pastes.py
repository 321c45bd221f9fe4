"""Which text of a message has the form of pasted data, and which may be another's."""

from __future__ import annotations

import pytest

from clawmem.learning.attribution.pastes import pasted_spans, unclear_signs


def test_what_is_indented_below_a_key_is_data_and_what_stands_beside_the_key_is_not() -> None:
    text = "plan: |\n  one\n  two\nI live in Oslo."
    assert [text[slice(*span)] for span in pasted_spans(text)] == ["  one", "  two"]


def test_an_element_is_data_and_the_text_around_it_is_not() -> None:
    text = "I live in Oslo.\n<log>\nI live in Rome.\n</log>\nI row."
    assert [text[slice(*span)] for span in pasted_spans(text)] == ["<log>\nI live in Rome.\n</log>"]


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("Please make this shorter.\n\nI live in Rome and I row.", ["I live in Rome and I row."]),
        ("A poem\nI live in Rome.\nI row.", ["I live in Rome.\nI row."]),
        ("Hello there!\n\nI live in Oslo.", []),
        ("A title\nA short line\n", []),
    ],
)
def test_what_stands_beside_a_short_line_may_be_of_another(text: str, unclear: list[str]) -> None:
    assert [text[slice(*span)] for span, _ in unclear_signs(text)] == unclear


@pytest.mark.parametrize(
    ("label", "clear"), [("Update for Tom", True), ("Tom's update", True), ("Tom of Bergen", False)]
)
def test_a_label_with_a_word_of_a_heading_names_no_speaker(label: str, clear: bool) -> None:
    assert (unclear_signs(f"{label}: I moved to Oslo. I like it there.") == []) is clear
