"""Which text of a message has the form of pasted data, and which may be another's."""

from __future__ import annotations

import pytest

from clawmem.learning.attribution.pastes import pasted_spans, unclear_signs


def test_what_is_indented_below_a_key_is_data_and_what_stands_beside_the_key_is_not() -> None:
    text = "plan: |\n  one\n  two\nI live in Oslo."
    assert [text[slice(*span)] for span in pasted_spans(text)] == ["  one", "  two"]


@pytest.mark.parametrize(
    ("label", "clear"), [("Update for Tom", True), ("Tom's update", True), ("Tom of Bergen", False)]
)
def test_a_label_with_a_word_of_a_heading_names_no_speaker(label: str, clear: bool) -> None:
    assert (unclear_signs(f"{label}: I moved to Oslo. I like it there.") == []) is clear
