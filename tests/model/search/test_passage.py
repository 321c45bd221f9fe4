"""The part of a long text that has most words of a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.search.passage import excerpt

LONG = f"{'A preface without end. ' * 30}The ferry left at noon from the old pier. {'And an afterword. ' * 30}"


def test_a_short_text_is_whole_and_on_one_line() -> None:
    assert excerpt("Lunch\n tomorrow?", ["lunch"], 40) == "Lunch tomorrow?"


def test_of_a_long_text_the_place_with_most_words_is_shown() -> None:
    shown = excerpt(LONG, ["ferry", "pier", "preface"], 120)
    assert "The ferry left at noon from the old pier." in shown
    assert shown[0] == shown[-1] == "…"


def test_without_a_word_in_it_a_text_is_shown_from_its_beginning() -> None:
    assert excerpt(LONG, ["zebra"], 60).startswith("A preface")
    assert excerpt(LONG, [], 60).endswith("…")


@given(st.text(), st.lists(st.text(min_size=1, max_size=5), max_size=4), st.integers(20, 60))
def test_no_excerpt_is_longer_than_wanted_and_each_is_part_of_the_text(text: str, words: list[str], most: int) -> None:
    shown = excerpt(text, words, most)
    assert len(shown) <= most + 4
    assert shown.removeprefix("… ").removesuffix(" …") in f" {' '.join(text.split())} " or "…" in text


def test_words_at_the_very_end_are_shown() -> None:
    shown = excerpt(f"{'A preface without end. ' * 30}The ferry left at noon.", ["ferry"], 120)
    assert shown.startswith("…") and shown.endswith("The ferry left at noon.") and 100 < len(shown) <= 124
