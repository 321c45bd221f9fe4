"""What words mean in a vault: the regression that the heartbeat does, against one worked out in full."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

numpy = pytest.importorskip("numpy", reason="the extra is not installed: pip install -e '.[semantic]'")

from clawmem.index.vectors import word_vectors  # noqa: E402 - numpy first
from clawmem.index.vectors.word_vectors import RIDGE, fit_word_vectors, pieces_in  # noqa: E402

SIZE = 5
TEXTS = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=8), min_size=1, max_size=12)


def numbers(seed: int, rows: int) -> Any:
    return numpy.random.default_rng(seed).standard_normal((rows, SIZE)).astype(numpy.float32)


def table(texts: list[list[str]], weights: Any, names: list[str]) -> Any:
    """The texts as a matrix, each of length one; those without a piece are left out."""
    rows = [[weights[name] * text.count(name) for name in names] for text in texts if text]
    made = numpy.array(rows, dtype=float).reshape(len(rows), len(names))
    return made / numpy.linalg.norm(made, axis=1, keepdims=True)


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(0, 2**32 - 1))
def test_it_is_the_ridge_regression_towards_the_priors(texts: list[list[str]], seed: int) -> None:
    targets, start = numbers(seed, len(texts)), dict(zip("abcdefghij", numbers(seed + 1, 10), strict=True))
    found = fit_word_vectors(texts, targets, start)
    names = sorted({piece for text in texts for piece in text})
    assert sorted(found.vectors) == names
    if not names:
        assert found.share == 1.0
        return
    a, prior = table(texts, found.weights, names), numpy.array([start[name] for name in names])
    wanted = targets[[at for at, text in enumerate(texts) if text]]
    message = a @ prior
    share = float((message * wanted).sum() / max((message * message).sum(), 1e-9))
    assert found.share == pytest.approx(share, rel=1e-3, abs=1e-4)
    rest = numpy.linalg.solve(a.T @ a + RIDGE * numpy.eye(len(names)), a.T @ (wanted - share * message))
    exact = share * prior + rest
    made = numpy.array([found.vectors[name] for name in names])
    # At most ten unknowns, eight rounds: what is left is small beside what is looked for.
    assert numpy.abs(made - exact).max() <= 0.02 * (1 + numpy.abs(exact).max())


@settings(deadline=None, max_examples=30)
@given(TEXTS)
def test_rarer_pieces_weigh_more_and_unseen_ones_most(texts: list[list[str]]) -> None:
    found = fit_word_vectors(texts, numbers(1, len(texts)), {})
    record = {piece: sum(piece in text for text in texts) for piece in found.weights}
    assert all(found.weights[piece] == log(1 + len(texts) / (1 + count)) for piece, count in record.items())
    assert found.unseen == log(1 + len(texts)) >= max(found.weights.values(), default=0.0)


def test_many_texts_are_summed_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [[f"p{at % 7}", f"p{at % 11}", f"q{at}"] for at in range(50)]
    targets = numbers(3, 50)
    whole = fit_word_vectors(texts, targets, {})
    monkeypatch.setattr(word_vectors, "_ROWS_AT_ONCE", 7)
    parted = fit_word_vectors(texts, targets, {})
    assert list(parted.vectors) == list(whole.vectors)
    for piece in whole.vectors:
        assert parted.vectors[piece] == pytest.approx(whole.vectors[piece], abs=1e-5)


def test_texts_come_near_their_vectors_and_a_word_takes_the_meaning_of_its_texts() -> None:
    targets = [[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5
    found = fit_word_vectors(
        [["dog", f"x{at}"] for at in range(5)] + [["car", f"y{at}"] for at in range(5)], targets, {}
    )
    dog, car = found.vectors["dog"], found.vectors["car"]
    assert dog[0] > 10 * abs(dog[1]) and car[1] > 10 * abs(car[0])


def test_pieces_of_words_that_cannot_be_cut_are_left_out() -> None:
    assert pieces_in("Doghouse zzz, dog!", {"dog", "##house"}) == ["dog", "##house", "dog"]
