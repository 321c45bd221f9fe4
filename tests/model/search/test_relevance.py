"""Hits worth showing unasked: those close to the best one."""

from __future__ import annotations

from clawmem.model.search.relevance import close_to_best


def test_hits_far_below_the_best_one_are_left_out() -> None:
    assert close_to_best([("a", 0.8), ("b", 0.4), ("c", 0.39), ("d", 0.5)], 0.5) == ["a", "b", "d"]
    assert close_to_best([], 0.5) == []
    assert close_to_best([("a", 0.0)], 0.5) == ["a"]
