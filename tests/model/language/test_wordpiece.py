"""Texts cut as the uncased BERT models expect it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clawmem
from clawmem.index.vectors.local_model import CONTINUED, cut, parts, words

KNOWN = frozenset(
    (Path(clawmem.__file__).parent / "index/vectors/vocabulary/wordpieces.txt").read_text(encoding="utf-8").splitlines()
)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("puppy", ("puppy",)),
        ("sourdough", ("sour", "##dou", "##gh")),
        ("unaffable", ("una", "##ffa", "##ble")),
        ("embeddings", ("em", "##bed", "##ding", "##s")),
        ("한", ()),
        ("", ()),
        ("a" * 101, ()),
    ],
)
def test_words_are_cut_into_the_longest_known_pieces(word: str, pieces: tuple[str, ...]) -> None:
    assert cut(word, KNOWN) == pieces


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Ünïcödé Café", ["unicode", "cafe"]),
        ("50% of $3.50", ["50", "%", "of", "$", "3", ".", "50"]),
        ("a_b", ["a", "_", "b"]),
        ("漢字 test", ["漢", "字", "test"]),
        ("zero\u200bwidth\x00", ["zerowidth"]),
        ("Jane's", ["jane", "'", "s"]),
        ("İstanbul", ["istanbul"]),
        ("\t\n ", []),
        ("👍🏽 ok", ["👍", "🏽", "ok"]),
    ],
)
def test_texts_are_taken_apart_without_case_and_accents(text: str, items: list[str]) -> None:
    assert parts(text) == items


def test_words_are_the_parts_that_are_no_marks() -> None:
    assert words("Jane's dog: 3 years_old!") == ["jane", "s", "dog", "3", "years", "old"]


@given(st.text(max_size=60))
def test_words_are_among_the_parts_in_their_order(text: str) -> None:
    items = iter(parts(text))
    assert all(word in items for word in words(text))
    assert not [part for part in parts(text) if part.isspace() or not part]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=100))
def test_pieces_put_together_are_the_word(word: str) -> None:
    pieces = cut(word, KNOWN)
    assert pieces and set(pieces) <= KNOWN
    assert "".join(piece.removeprefix(CONTINUED) if at else piece for at, piece in enumerate(pieces)) == word
    assert all(piece.startswith(CONTINUED) for piece in pieces[1:])


@given(st.text(max_size=30), st.sets(st.text(max_size=4)))
def test_any_vocabulary_gives_known_pieces_or_none(word: str, known: set[str]) -> None:
    assert set(cut(word, known)) <= known


@given(st.text(alphabet="abcdef", min_size=1, max_size=20))
def test_each_piece_is_the_longest_that_fits(word: str) -> None:
    rest = word
    for at, piece in enumerate(cut(word, KNOWN)):
        bare = piece.removeprefix(CONTINUED) if at else piece
        mark = CONTINUED if at else ""
        assert not [size for size in range(len(bare) + 1, len(rest) + 1) if mark + rest[:size] in KNOWN]
        rest = rest[len(bare) :]
