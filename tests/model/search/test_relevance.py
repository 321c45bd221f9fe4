"""Hits worth showing unasked: those close to the best one."""

from __future__ import annotations

from clawmem.model.search.ranking import normalized
from clawmem.model.search.relevance import close_to_best, normalized_share


def test_hits_far_below_the_best_one_are_left_out() -> None:
    assert close_to_best([("a", 0.8), ("b", 0.4), ("c", 0.39), ("d", 0.5)], 0.5) == ["a", "b", "d"]
    assert close_to_best([], 0.5) == []
    assert close_to_best([("a", 0.0)], 0.5) == ["a"]


def test_a_share_is_the_same_before_and_after_normalization() -> None:
    scores = {"a": 8.0, "b": 7.5, "c": 3.0, "d": 1.0}
    for share, kept in ((0.9, ["a", "b"]), (0.3, ["a", "b", "c"]), (0.1, ["a", "b", "c", "d"])):
        assert [name for name, value in scores.items() if value >= share * 8] == kept
        assert close_to_best(list(normalized(scores).items()), normalized_share(share, scores.values())) == kept
    assert normalized_share(0.25, []) == normalized_share(0.25, [2.0, 2.0]) == 0.25
