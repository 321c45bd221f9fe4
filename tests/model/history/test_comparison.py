"""What became of facts between two states."""

from __future__ import annotations

from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.history.comparison import FactsById, count_moves, differences, points_at, read_single_fact


def fact(key: str, words: str = "", **fields: object) -> Fact:
    base = Fact(f"fact_{key}", words or f"about {key}", "fact", "2026-11-20T10:00:00Z", "user")
    return base._replace(**fields)  # type: ignore[arg-type]


def state(*facts: Fact, entity: str = "projects/x") -> FactsById:
    return {fact.id: (fact, entity) for fact in facts}


def kinds(before: FactsById, after: FactsById) -> list[tuple[str, str]]:
    return [(difference.kind, difference.fact.id) for difference in differences(before, after)]


def test_each_kind_of_change_is_told() -> None:
    old = [fact("a"), fact("b"), fact("c"), fact("d"), fact("e"), fact("f")]
    new = [
        fact("a", status=RETRACTED),
        fact("b", status=ARCHIVED),
        fact("c", tags=("t",)),
        fact("d", access_count=9, last_accessed="2026-11-21T00:00:00Z"),
        fact("e"),
        fact("g"),
    ]
    assert kinds(state(*old), state(*new)) == [
        ("retracted", "fact_a"),
        ("archived", "fact_b"),
        ("changed", "fact_c"),
        ("learned", "fact_g"),
        ("removed", "fact_f"),
    ]


def test_a_correction_is_told_once_with_what_stood_before() -> None:
    old = fact("a", "Jane lives in Paris")
    gone = old._replace(status=SUPERSEDED, superseded_by="fact_b")
    new = fact("b", "Jane lives in Lisbon", links=(FactLink("supersedes", "fact_a"),))
    (difference,) = differences(state(old), state(gone, new))
    assert (difference.kind, difference.fact, difference.before) == ("corrected", new, old)


def test_a_correction_by_a_fact_that_stood_already_is_told_once() -> None:
    old, other = fact("a"), fact("b")
    gone = old._replace(status=SUPERSEDED, superseded_by="fact_b")
    linked = other._replace(links=(FactLink("supersedes", "fact_a"),))
    assert kinds(state(old, other), state(gone, linked)) == [("corrected", "fact_b")]


def test_a_chain_that_grew_by_two_is_told_link_by_link() -> None:
    a, b, c = fact("a"), fact("b"), fact("c")
    after = state(
        a._replace(status=SUPERSEDED, superseded_by="fact_b"), b._replace(status=SUPERSEDED, superseded_by="fact_c"), c
    )
    found = differences(state(a), after)
    assert [
        (difference.kind, difference.fact.id, difference.before and difference.before.id) for difference in found
    ] == [
        ("corrected", "fact_b", "fact_a"),
        ("corrected", "fact_c", "fact_b"),
    ]
    assert kinds(state(), after) == [("learned", "fact_a"), ("corrected", "fact_b"), ("corrected", "fact_c")]


def test_a_move_is_counted_and_is_no_change_of_the_fact() -> None:
    before, after = state(fact("a"), fact("b")), state(fact("a"), fact("b"), entity="archives/x")
    assert differences(before, after) == ()
    assert count_moves(before, after) == {("projects/x", "archives/x"): 2}


def test_one_record_is_found_by_its_own_id_only() -> None:
    pointing = fact("a", links=(FactLink("supports", "fact_b"),))
    data = render_items([pointing, fact("b")])
    assert read_single_fact(data, "fact_b") == fact("b")
    assert read_single_fact(render_items([pointing]), "fact_b") is None
    assert read_single_fact(b'<<<<<<< "fact_b"', "fact_b") is None


def test_a_fact_points_at_its_successor_its_links_and_what_a_decision_used() -> None:
    other_fact = fact(
        "a",
        superseded_by="fact_b",
        links=(FactLink("derived_from", "fact_c"),),
        details={"used": ["fact_d", "not an id"], "deep": {"fact": "fact_e"}},
    )
    assert points_at(other_fact) == {"fact_b", "fact_c", "fact_d", "fact_e"}
