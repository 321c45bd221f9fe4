"""What is worth thirty days: scored for reasons that are said, capped, and never what was replaced."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.proposals.promotion import (
    CONFIDENCE_BOUNDS,
    CONFIDENCE_SWING,
    DURABLE,
    SCORE_BOUNDS,
    SCORE_SWING,
    WORTH,
    Adaptation,
    PromotionOutcomes,
    PromotionScore,
    PromotionTerms,
    ScoredFact,
    adapt_limits,
    count_outcomes,
    decide,
    describe_adaptation,
    mark_promoted,
    para_class,
    promotion_doubt,
    promotion_of,
    score_fact,
)
from tests.conftest import examples

DAY = "2026-11-20"
ALLERGY = Fact(
    "fact_00000001",
    "Nora is allergic to penicillin.",
    "health",
    f"{DAY}T10:00:00Z",
    "chat",
    subject="Nora",
    predicate="allergic_to",
    object="penicillin",
    confidence=0.9,
    importance=0.9,
    trust="user",
)
SMALL_TALK = Fact("fact_00000002", "It was nice.", "fact", f"{DAY}T10:00:00Z", "chat", importance=0.3, trust="agent")
NORA = "areas/people/nora"
SHARES = st.floats(0, 1)
FACTS = st.builds(
    lambda category, importance, confidence, trust, uses, links: ALLERGY._replace(
        category=category,
        importance=importance,
        confidence=confidence,
        trust=trust,
        access_count=uses,
        links=tuple(FactLink("supports", f"fact_{number:08x}") for number in range(links)),
    ),
    st.sampled_from([*DURABLE, "fact", "event"]),
    SHARES,
    SHARES,
    st.sampled_from(["user", "agent", "tool", None]),
    st.integers(0, 30),
    st.integers(0, 5),
)


def test_an_allergy_is_worth_it_and_small_talk_is_not() -> None:
    assert score_fact(ALLERGY, NORA, DAY).score >= WORTH
    assert score_fact(SMALL_TALK, NORA, DAY).score < WORTH


def test_the_reasons_add_up_to_the_score() -> None:
    found = score_fact(ALLERGY, NORA, DAY)
    points = [float(reason.rsplit("+", 1)[1].rstrip(")")) for reason in found.reasons]
    assert abs(sum(points) - found.score) < 0.02
    assert found.reasons[0] == "health lasts (+0.25)"


@given(FACTS)
def test_a_score_is_a_share(fact: Fact) -> None:
    assert 0 <= score_fact(fact, NORA, DAY).score <= 1


@given(FACTS, SHARES, SHARES)
def test_what_matters_more_scores_no_less(fact: Fact, other_value: float, other: float) -> None:
    low, high = sorted((other_value, other))
    for name in ("importance", "confidence"):
        less, more = (score_fact(fact._replace(**{name: value}), NORA, DAY) for value in (low, high))  # type: ignore[arg-type]
        assert less.score <= more.score


def test_what_does_not_hold_is_refused_with_the_reason() -> None:
    cases = {
        "it is superseded by fact_2": ALLERGY._replace(status=SUPERSEDED, superseded_by="fact_2"),
        "it is retracted": ALLERGY._replace(status=RETRACTED),
        "it is archived": ALLERGY._replace(status=ARCHIVED),
        "it ended on 2026-11-19": ALLERGY._replace(valid_to="2026-11-19"),
    }
    for reason, fact in cases.items():
        assert score_fact(fact, NORA, DAY).refusal == reason
    assert score_fact(ALLERGY, "archives/nora", DAY).refusal == "archives/nora is archived"
    assert score_fact(ALLERGY._replace(valid_to="2026-11-21"), NORA, DAY).refusal is None


def test_at_most_so_many_and_the_best_of_them() -> None:
    facts = [ALLERGY._replace(id=f"fact_{number:08x}", importance=0.5 + number / 100) for number in range(12)]
    verdicts = decide([ScoredFact(fact, NORA, score_fact(fact, NORA, DAY)) for fact in facts], PromotionTerms(WORTH, 8))
    kept = [verdict.candidate.fact.id for verdict in verdicts if verdict.promoted]
    assert kept == [f"fact_{number:08x}" for number in range(11, 3, -1)]
    assert {verdict.reason for verdict in verdicts if not verdict.promoted} == {
        "its score is high enough, but the limit is 8 a day"
    }


def candidate(number: int, score: float, **more: Any) -> ScoredFact:
    return ScoredFact(ALLERGY._replace(id=f"fact_{number:08x}"), NORA, PromotionScore(score, ("health lasts",)), **more)


def test_only_a_person_vouches_for_what_comes_from_a_tool_or_from_outside_or_is_contradicted() -> None:
    assert promotion_doubt(ALLERGY, ()) is None
    assert promotion_doubt(ALLERGY._replace(trust="agent"), ()) is None
    tool = promotion_doubt(ALLERGY._replace(trust="tool"), ())
    assert tool == "it comes from a tool, so only a person can confirm it"
    outside = promotion_doubt(ALLERGY._replace(trust="external"), ["fact_2"])
    assert outside == "it comes from outside, so only a person can confirm it"
    assert promotion_doubt(ALLERGY, ["fact_3", "fact_2", "fact_3"]) == "it is in conflict with fact_2, fact_3"


def test_what_is_just_under_the_score_or_doubtful_waits_for_a_person() -> None:
    terms = PromotionTerms(0.6, 8, margin=0.05, most_asked=3)
    scores = (0.6, 0.599, 0.55, 0.549)
    rows = [*(candidate(number, score) for number, score in enumerate(scores, 1)), candidate(5, 0.9, doubt="x")]
    record = {
        verdict.candidate.fact.id[-1]: (verdict.promoted, verdict.waits, verdict.reason)
        for verdict in decide(rows, terms)
    }
    assert record == {
        "1": (True, False, "its score is 0.60, and 0.60 is needed: health lasts"),
        "2": (False, True, "its score is 0.599, just below the 0.600 needed"),
        "3": (False, True, "its score is 0.55, just below the 0.60 needed"),
        "4": (False, False, "its score is 0.55, and 0.60 is needed"),
        "5": (False, True, "x"),
    }


def test_a_person_is_asked_only_so_often_about_the_best_and_never_twice() -> None:
    terms = PromotionTerms(0.6, 8, margin=0.5, most_asked=3, asked_before=1)
    rows = [candidate(number, number / 10) for number in range(1, 6)]
    settled = candidate(6, 0.9, proposal="prop_1", settled="it was turned down in review, as prop_1")
    verdicts = decide([*rows, settled], terms)
    assert [verdict.candidate.fact.id[-1] for verdict in verdicts if verdict.waits] == ["5", "4"]
    assert (verdicts[0].reason, verdicts[0].proposal) == ("it was turned down in review, as prop_1", "prop_1")
    assert (
        verdicts[3].reason == "its score is 0.30, just below the 0.60 needed; a person is asked at most 3 times a day"
    )
    assert not any(verdict.waits for verdict in decide(rows, terms._replace(most=0))), (
        "promotion is off: nobody is asked"
    )


ROWS = st.lists(
    st.tuples(SHARES, st.sampled_from([None, "doubt"]), st.sampled_from([None, "settled"]), st.booleans()), max_size=20
)


@examples(25, 100)
@given(ROWS, SHARES, st.integers(0, 8), st.integers(0, 8), SHARES, st.integers(0, 5), st.integers(0, 5))
def test_whatever_comes_the_limits_hold_and_each_has_one_verdict(
    rows: list[tuple[float, str | None, str | None, bool]], worth: float, most: int, before: int, margin: float,
    asked: int, asked_before: int,
) -> None:  # fmt: skip
    candidates = [
        ScoredFact(ALLERGY._replace(id=f"fact_{number:08x}"), NORA, PromotionScore(score, (), "no" if no else None),
                   doubt, settled=settled)
        for number, (score, doubt, settled, no) in enumerate(rows)
    ]  # fmt: skip
    verdicts = decide(candidates, PromotionTerms(worth, most, before, margin, asked, asked_before))
    assert sorted(verdict.candidate.fact.id for verdict in verdicts) == sorted(
        candidate.fact.id for candidate in candidates
    )
    assert sum(verdict.promoted for verdict in verdicts) <= max(0, most - before)
    assert sum(verdict.waits for verdict in verdicts) <= max(0, asked - asked_before)
    for verdict in verdicts:
        fact = verdict.candidate
        assert verdict.reason
        assert not (verdict.promoted and verdict.waits)
        if verdict.promoted or verdict.waits:
            assert (fact.settled, fact.judgement.refusal) == (None, None)
        assert not verdict.promoted or (fact.doubt is None and fact.judgement.score >= worth)
        assert not verdict.waits or fact.judgement.score >= worth - margin - 0.001
        assert not verdict.waits or fact.doubt or fact.judgement.score < worth


def test_a_promotion_that_a_person_approved_names_the_proposal() -> None:
    mark = promotion_of(mark_promoted(ALLERGY, DAY, score_fact(ALLERGY, NORA, DAY), "prop_1"))
    assert mark is not None
    assert mark["proposal"] == "prop_1"
    alone = promotion_of(mark_promoted(ALLERGY, DAY, score_fact(ALLERGY, NORA, DAY)))
    assert alone is not None
    assert "proposal" not in alone


def test_a_promoted_fact_says_so_and_is_never_less_important_than_before() -> None:
    lifted = mark_promoted(ALLERGY._replace(importance=0.4), DAY, score_fact(ALLERGY, NORA, DAY))
    mark = promotion_of(lifted)
    assert mark is not None
    assert (mark["on"], mark["importance"], lifted.importance) == (DAY, 0.4, 0.8)
    assert mark_promoted(ALLERGY, DAY, score_fact(ALLERGY, NORA, DAY)).importance == 0.9
    weak = score_fact(ALLERGY, NORA, DAY)._replace(score=0.61)
    assert mark_promoted(ALLERGY._replace(importance=0.4), DAY, weak).importance == 0.6
    assert promotion_of(ALLERGY) is None
    assert promotion_of(ALLERGY._replace(metadata={"promoted": True})) is None


def test_the_para_class_of_an_entity() -> None:
    names = ("projects/x", "areas/people/x", "areas/companies/x", "areas/x", "resources/x", "archives/x")
    assert [para_class(name) for name in names] == ["project", "area", "area", "area", "resource", "archive"]
    assert para_class("@finance/projects/x") == "project"


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
