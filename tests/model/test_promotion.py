"""What is worth thirty days: scored for reasons that are said, capped, and never what was replaced."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact, Link
from clawmem.model.promotion import DURABLE, WORTH, Candidate, decide, judge, para_class, promoted, promotion_of

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
        links=tuple(Link("supports", f"fact_{number:08x}") for number in range(links)),
    ),
    st.sampled_from([*DURABLE, "fact", "event"]),
    SHARES,
    SHARES,
    st.sampled_from(["user", "agent", "tool", None]),
    st.integers(0, 30),
    st.integers(0, 5),
)


def test_an_allergy_is_worth_it_and_small_talk_is_not() -> None:
    assert judge(ALLERGY, NORA, DAY).score >= WORTH
    assert judge(SMALL_TALK, NORA, DAY).score < WORTH


def test_the_reasons_add_up_to_the_score() -> None:
    found = judge(ALLERGY, NORA, DAY)
    points = [float(reason.rsplit("+", 1)[1].rstrip(")")) for reason in found.reasons]
    assert abs(sum(points) - found.score) < 0.02
    assert found.reasons[0] == "health lasts (+0.25)"


@given(FACTS)
def test_a_score_is_a_share(fact: Fact) -> None:
    assert 0 <= judge(fact, NORA, DAY).score <= 1


@given(FACTS, SHARES, SHARES)
def test_what_matters_more_scores_no_less(fact: Fact, one: float, other: float) -> None:
    low, high = sorted((one, other))
    for name in ("importance", "confidence"):
        less, more = (judge(fact._replace(**{name: value}), NORA, DAY) for value in (low, high))  # type: ignore[arg-type]
        assert less.score <= more.score


def test_what_does_not_hold_is_refused_with_the_reason() -> None:
    cases = {
        "it is superseded by fact_2": ALLERGY._replace(status=SUPERSEDED, superseded_by="fact_2"),
        "it is retracted": ALLERGY._replace(status=RETRACTED),
        "it is archived": ALLERGY._replace(status=ARCHIVED),
        "it was over on 2026-11-20": ALLERGY._replace(valid_to=DAY),
        "it comes from outside, and only a person can vouch for it": ALLERGY._replace(trust="external"),
    }
    for reason, fact in cases.items():
        assert judge(fact, NORA, DAY).refusal == reason
    assert judge(ALLERGY, "archives/nora", DAY).refusal == "archives/nora is archived"
    assert judge(ALLERGY._replace(valid_to="2026-11-21"), NORA, DAY).refusal is None


def test_at_most_so_many_and_the_best_of_them() -> None:
    facts = [ALLERGY._replace(id=f"fact_{number:08x}", importance=0.5 + number / 100) for number in range(12)]
    verdicts = decide([Candidate(fact, NORA, judge(fact, NORA, DAY)) for fact in facts], WORTH, 8)
    kept = [one.candidate.fact.id for one in verdicts if one.promoted]
    assert kept == [f"fact_{number:08x}" for number in range(11, 3, -1)]
    assert {one.reason for one in verdicts if not one.promoted} == {"it is worth it, but 8 a day is the limit"}


def test_a_promoted_fact_says_so_and_is_never_less_important_than_before() -> None:
    lifted = promoted(ALLERGY._replace(importance=0.4), DAY, judge(ALLERGY, NORA, DAY))
    mark = promotion_of(lifted)
    assert mark is not None
    assert (mark["on"], mark["importance"], lifted.importance) == (DAY, 0.4, 0.8)
    assert promoted(ALLERGY, DAY, judge(ALLERGY, NORA, DAY)).importance == 0.9
    weak = judge(ALLERGY, NORA, DAY)._replace(score=0.61)
    assert promoted(ALLERGY._replace(importance=0.4), DAY, weak).importance == 0.6
    assert promotion_of(ALLERGY) is None
    assert promotion_of(ALLERGY._replace(metadata={"promoted": True})) is None


def test_the_para_class_of_an_entity() -> None:
    names = ("projects/x", "areas/people/x", "areas/companies/x", "areas/x", "resources/x", "archives/x")
    assert [para_class(name) for name in names] == ["project", "area", "area", "area", "resource", "archive"]
    assert para_class("@finance/projects/x") == "project"
