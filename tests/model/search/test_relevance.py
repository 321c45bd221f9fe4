"""Hits worth showing unasked: those close to the best one, and by meaning none is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.search.relevance import ScoredHit, close_to_best

_PARTS = st.floats(0, 1, allow_nan=False)
_WORDS = st.lists(st.fixed_dictionaries({"keyword": _PARTS, "time": _PARTS}), max_size=12)


def _hits(parts: list[dict[str, float]]) -> list[tuple[int, ScoredHit]]:
    return [(n, ScoredHit(sum(one.values()), one)) for n, one in enumerate(parts)]


def test_hits_far_below_the_best_one_are_left_out() -> None:
    hits = _hits([{"keyword": 0.8}, {"keyword": 0.4}, {"keyword": 0.39}])
    assert close_to_best(hits, 0.5) == [0, 1]
    assert close_to_best([], 0.5) == []
    assert close_to_best(_hits([{"keyword": 0.0}]), 0.5) == [0]


def test_the_best_hit_by_words_stays_first_or_second_whatever_vectors_say() -> None:
    by_words = {"keyword": 0.3}
    near = [{"keyword": 0.1, "vector": 0.9 - 0.01 * n} for n in range(30)]
    assert 0 in close_to_best(_hits([by_words, *near]), 0.5)[:2]


@given(parts=_WORDS, vectors=st.lists(_PARTS, min_size=12, max_size=12), least=st.floats(0.05, 1))
def test_vectors_only_add_hits(parts: list[dict[str, float]], vectors: list[float], least: float) -> None:
    without = close_to_best(_hits(parts), least)
    with_them = [{**one, "vector": worth} for one, worth in zip(parts, vectors, strict=False)]
    assert set(without) <= set(close_to_best(_hits(with_them), least))
