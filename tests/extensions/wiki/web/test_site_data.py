"""The words of the site's search, and the files that they are in."""

from __future__ import annotations

import re

import pytest

from clawmem.extensions.wiki.web.site_data import file_of, words_of


def test_words_are_divided_at_spaces_and_punctuation_and_folded() -> None:
    text = "J\u00e9r\u00f4me's boat: 9\u00a0m, \u201cSea-Horse\u201d\r\n(\u4e2d\u6587)"
    assert words_of(text) == {"jerome", "s", "boat", "9", "m", "sea", "horse", "\u4e2d\u6587"}


@pytest.mark.parametrize(
    ("word", "file"),
    [
        ("bergen", "be"),
        ("b", "b_"),
        ("9m", "9m"),
        ("a+", "a_"),
        ("\u4e2d\u6587", "u138_"),
        ("$5", "u0_"),
        ("\u00fe", "u3_"),
    ],
)
def test_a_word_is_in_the_file_of_its_first_two_characters(word: str, file: str) -> None:
    assert file_of(word) == file and re.fullmatch(r"[0-9a-z_]+", file)
