"""Adaptation stays within its bounds, grows stricter with what goes wrong, and follows only what is decided."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.proposals.adaptation import (
    CONFIDENCE_BOUNDS,
    CONFIDENCE_SWING,
    SCORE_BOUNDS,
    SCORE_SWING,
    Adaptation,
    PromotionOutcomes,
    adapt_limits,
    count_outcomes,
    describe_adaptation,
)

BASE = Adaptation(8, 0.6, 0.5)
COUNTS = st.integers(0, 200)
SEEN = st.builds(PromotionOutcomes, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
BASES = st.builds(Adaptation, st.integers(0, 100), st.floats(0, 1), st.floats(0, 1))
BAD = ("superseded", "retracted", "rejected")


@given(BASES, SEEN)
def test_every_value_stays_within_its_bounds(base: Adaptation, seen: PromotionOutcomes) -> None:
    found = adapt_limits(base, seen)
    assert min(base.max_facts, max(1, base.max_facts // 4)) <= found.max_facts <= base.max_facts
    assert abs(found.score - base.score) <= SCORE_SWING + 0.001
    assert min(SCORE_BOUNDS[0], base.score) - 0.001 <= found.score <= max(SCORE_BOUNDS[1], base.score) + 0.001
    assert base.gate_confidence - 0.001 <= found.gate_confidence <= base.gate_confidence + CONFIDENCE_SWING + 0.001
    assert found.gate_confidence <= max(CONFIDENCE_BOUNDS[1], base.gate_confidence) + 0.001


@given(BASES, SEEN, st.sampled_from(BAD))
def test_one_more_that_went_wrong_never_makes_it_more_generous(
    base: Adaptation, seen: PromotionOutcomes, what: str
) -> None:
    less, more = adapt_limits(base, seen), adapt_limits(base, seen._replace(**{what: getattr(seen, what) + 1}))
    assert more.score >= less.score
    assert more.max_facts <= less.max_facts
    if what != "superseded":
        assert more.gate_confidence >= less.gate_confidence


@given(BASES, SEEN)
def test_one_more_that_was_used_never_makes_it_stricter(base: Adaptation, seen: PromotionOutcomes) -> None:
    less, more = adapt_limits(base, seen), adapt_limits(base, seen._replace(recalled=seen.recalled + 1))
    assert more.score <= less.score
    assert more.max_facts >= less.max_facts
    assert more.gate_confidence <= less.gate_confidence


def test_nothing_seen_changes_nothing_and_one_case_alone_neither() -> None:
    assert adapt_limits(BASE, PromotionOutcomes()) == BASE
    assert adapt_limits(BASE, PromotionOutcomes(retracted=1)) == BASE
    assert adapt_limits(BASE, PromotionOutcomes(recalled=1)) == BASE


def test_much_that_went_wrong_makes_it_strict() -> None:
    found = adapt_limits(BASE, PromotionOutcomes(retracted=30))
    assert (found.max_facts, found.score, found.gate_confidence) == (2, 0.705, 0.71)
    words = describe_adaptation(BASE, found, PromotionOutcomes(retracted=30))
    assert words == (
        "max facts 8 to 2, score 0.6 to 0.705, gate confidence 0.5 to 0.71: of what was promoted, 30 retracted"
    )


def a_fact(number: int, on: str = "2026-10-01", **changes: object) -> Fact:
    plain = Fact(f"fact_{number:08x}", "It is so.", "fact", f"{on}T10:00:00Z", "chat")
    return plain._replace(metadata={"promoted": {"on": on, "score": 0.7}})._replace(**changes)  # type: ignore[arg-type]


def test_outcomes_are_what_became_of_promoted_facts() -> None:
    facts = [
        a_fact(1, last_accessed="2026-10-05T10:00:00Z"),
        a_fact(2, status=RETRACTED),
        a_fact(3, status=SUPERSEDED, superseded_by="fact_00000009"),
        a_fact(4, status=SUPERSEDED, superseded_by="fact_0000000a"),
        a_fact(5, status=SUPERSEDED, superseded_by="fact_0000000b"),
        a_fact(6),
        a_fact(7, on="2026-11-10"),
        a_fact(8, on="2025-01-01", status=RETRACTED),
        a_fact(9, metadata=None, links=(FactLink("supersedes", "fact_00000003", None, "2026-10-20T10:00:00Z"),)),
        a_fact(10, metadata=None, links=(FactLink("supersedes", "fact_00000004", None, "2026-11-15T10:00:00Z"),)),
        a_fact(11, metadata=None, links=(FactLink("merges", "fact_00000005", None, "2026-10-02T10:00:00Z"),)),
    ]
    # Replaced after thirty days or joined into a richer fact, 4 and 5 were worth it; 7 is undecided, 8 too old.
    assert count_outcomes(facts, "2026-11-20", 2) == PromotionOutcomes(
        recalled=1, superseded=1, retracted=1, rejected=2, idle=1
    )
