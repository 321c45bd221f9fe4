"""The order of facts, and the fusion of channel scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.lifecycle.tiers import TIERS
from clawmem.model.search.ranking import (
    CLOSE,
    EVENT_WEIGHTS,
    NAME_ONLY,
    OTHERS_SHARE,
    AskedOf,
    AskedWord,
    FusedHits,
    RankedFact,
    RankingFeatures,
    as_parts,
    at_least,
    close_to_best,
    event_weights,
    fuse,
    least_meant,
    meaning_share,
    normalized,
    of_days,
    ordered,
    prior,
    rank,
    scaled,
    share_of,
    with_meaning,
    word_weight,
)

IDS = st.sampled_from([f"fact_{number:08x}" for number in range(12)])
STANDINGS = st.builds(
    RankingFeatures,
    IDS,
    st.sampled_from(TIERS),
    st.integers(0, 3),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from(["2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z"]),
    st.sampled_from([None, "user", "agent", "tool", "external"]),
    st.booleans(),
    st.booleans(),
)
MANY = st.lists(STANDINGS, unique_by=lambda each: each.id, max_size=12)
SCORES = st.dictionaries(IDS, st.floats(-50, 50), max_size=12)


def test_each_key_of_the_order_decides_only_where_the_ones_before_are_equal() -> None:
    expected = [
        RankingFeatures("a", "hot", 0, 0.0, "2020", own=True),
        RankingFeatures("b", "hot", 9, 0.1, "2020"),
        RankingFeatures("c", "hot", 2, 0.9, "2020"),
        RankingFeatures("d", "hot", 2, 0.5, "2026"),
        RankingFeatures("e", "hot", 2, 0.5, "2025"),
        RankingFeatures("f", "hot", 2, 0.5, "2025"),
        RankingFeatures("g", "warm", 99, 1.0, "2026", own=True),
        RankingFeatures("h", "cold", 99, 1.0, "2026", own=True),
    ]
    assert ordered(reversed(expected)) == expected


@given(MANY, st.randoms())
def test_the_order_does_not_depend_on_the_order_given(features: list[RankingFeatures], chance: object) -> None:
    shuffled = list(features)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ordered(shuffled) == ordered(features)


def test_scores_are_parts_of_the_best_one() -> None:
    assert normalized({"a": 2.0, "b": 8.0, "c": 5.0}) == {"a": 0.25, "b": 1.0, "c": 0.625}
    assert normalized({"a": -1.0, "b": 4.0}) == {"a": 0.0, "b": 1.0}
    assert normalized({"a": -8.0, "b": -2.0}) == {"a": 1.0, "b": 1.0}
    assert normalized({}) == {}


@given(SCORES, st.floats(-100, 100))
def test_no_score_depends_on_a_worse_hit(scores: dict[str, float], worse: float) -> None:
    best = max(scores.values(), default=0.0)
    if best > 0:
        more = normalized({**scores, "worst": min(worse, *scores.values())})
        assert {name: more[name] for name in scores} == normalized(scores)


@given(SCORES)
def test_normalising_keeps_the_order(scores: dict[str, float]) -> None:
    spread = normalized(scores)
    assert all(0 <= value <= 1.0 for value in spread.values())
    for score in scores:
        for other in scores:
            assert scores[score] < scores[other] or spread[score] >= spread[other]


def test_an_exact_triple_outweighs_words_and_both_outweigh_one() -> None:
    plain = {name: RankingFeatures(name, "warm") for name in "abc"}
    found = rank({"predicate": {"a": 1.0, "b": 1.0}, "keyword": {"a": 9.0, "c": 9.5, "b": 1.0}}, plain)
    assert [each.id for each in found] == ["a", "b", "c"]
    assert found[0].channels == pytest.approx({"predicate": 1 / 1.8, "keyword": 0.8 * 9.0 / 9.5 / 1.8}, abs=0.001)
    assert found[0].score == pytest.approx(sum(found[0].channels.values()) + found[0].prior)
    assert set(found[2].channels) == {"keyword"}


def test_meaning_counts_more_the_less_of_the_question_its_best_turn_has() -> None:
    assert event_weights(1.0) == EVENT_WEIGHTS
    assert event_weights(0.5) == {**EVENT_WEIGHTS, "vector": EVENT_WEIGHTS["vector"] * 2}
    assert event_weights(0.0) == EVENT_WEIGHTS
    channels = {"keyword": {1: 6.0, 2: 3.0, 3: 1.0}, "vector": {2: 0.5, 3: 0.3, 1: 0.2}}
    fused = [fuse(channels, event_weights(part)) for part in (1.0, 0.7, 0.4, 0.1)]
    assert [hits.order[0] for hits in fused] == [1, 1, 2, 2]
    for hits in fused:
        assert [sum(hits.channels(n).values()) for n in hits.order] == [hits.scores[n] for n in hits.order]
        assert list(hits.channels(1)) == ["keyword", "vector"]


def test_the_meaning_of_a_fact_counts_more_the_less_of_the_question_any_fact_has() -> None:
    scores = [with_meaning(0.4, {"keyword": 0.4}, CLOSE, covered)[0] for covered in (1.0, 0.6, 0.3, 0.0)]
    assert scores == sorted(scores) and scores[0] == pytest.approx((0.4 + 0.5) / 1.5)
    assert scores[-1] == pytest.approx((0.4 + 3.0) / 4.0)
    score, parts = with_meaning(0.4, {"keyword": 0.4}, CLOSE, 0.3)
    assert sum(parts.values()) == pytest.approx(score) and set(parts) == {"keyword", "vector"}


def test_what_is_of_a_named_day_is_nearer_to_a_full_match() -> None:
    hits = fuse({"keyword": {1: 4.0, 2: 3.8}, "time": {2: 1.0, 9: 1.0}}, {"keyword": 1.0, "time": 0.0}, 0.5)
    of_that_day = of_days(hits, {2: 1.0, 7: 1.0}, 0.3)
    assert [hits.order[0], of_that_day.order[0]] == [1, 2]
    assert of_that_day.scores[2] == pytest.approx(hits.scores[2] + 0.3 * (1 - hits.scores[2]))
    assert sum(of_that_day.channels(2).values()) == pytest.approx(of_that_day.scores[2])
    assert 7 not in of_that_day.scores and of_days(hits, {}, 0.3) is hits


def test_the_best_hit_of_every_channel_scores_one_before_its_prior() -> None:
    plain = {"a": RankingFeatures("a", "cold")}
    assert rank({"keyword": {"a": 4.0}, "predicate": {}, "time": {"a": 1.0}}, plain)[0].score == pytest.approx(1.0)


def test_priors_settle_ties_and_own_facts_come_first() -> None:
    features = {
        "a": RankingFeatures("a", "cold", trust="external"),
        "b": RankingFeatures("b", "hot", trust="user"),
        "c": RankingFeatures("c", "cold", own=True),
    }
    assert [each.id for each in rank({"keyword": dict.fromkeys("abc", 2.0)}, features)] == ["b", "c", "a"]
    twins = {"a": RankingFeatures("a", "hot"), "b": RankingFeatures("b", "hot", own=True)}
    assert [each.id for each in rank({"keyword": {"a": 2.0, "b": 2.0}}, twins)] == ["b", "a"]


def test_a_prior_never_lifts_a_fact_over_a_clearly_better_match() -> None:
    features = {"best": RankingFeatures("best", "cold", importance=0.0, trust="external"),
                 "weak": RankingFeatures("weak", "hot", 99, 1.0, "2026", "user", own=True)}  # fmt: skip
    assert rank({"keyword": {"best": 10.0, "weak": 1.0}}, features)[0].id == "best"


@given(STANDINGS)
def test_a_prior_is_small(standing: RankingFeatures) -> None:
    assert -0.041 <= prior(standing) <= 0.121


@given(SCORES, SCORES, MANY)
def test_every_found_fact_with_a_standing_is_ranked_once(
    keyword: dict[str, float], time: dict[str, float], features: list[RankingFeatures]
) -> None:
    by_id = {each.id: each for each in features}
    found = rank({"keyword": keyword, "time": time}, by_id)
    assert {each.id for each in found} == (set(keyword) | set(time)) & set(by_id)
    assert len({each.id for each in found}) == len(found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_an_unknown_channel_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        rank({"smell": {"a": 1.0}}, {"a": RankingFeatures("a", "hot")})


def test_what_is_over_comes_behind_what_matches_about_as_well_and_before_what_matches_worse() -> None:
    features = {
        "over": RankingFeatures("over", "cold", 9, 1.0, over=True),
        "holds": RankingFeatures("holds", "cold"),
        "other": RankingFeatures("other", "hot"),
    }
    scores = {"keyword": {"over": 5.0, "holds": 4.0, "other": 1.0}}
    assert [fact.id for fact in rank(scores, features)] == ["holds", "over", "other"]
    before = {**features, "over": features["over"]._replace(over=False)}
    assert [fact.id for fact in rank(scores, before)] == ["over", "holds", "other"]
    assert [other_features.id for other_features in ordered(features.values())] == ["other", "holds", "over"]


def test_what_is_over_stands_behind_what_holds_and_says_exactly_what_was_asked_whatever_its_words() -> None:
    over, holds, other = (
        RankingFeatures("over", "cold", over=True),
        RankingFeatures("holds", "cold"),
        RankingFeatures("other", "hot"),
    )
    features = {other_features.id: other_features for other_features in (over, holds, other)}
    words = {"keyword": {"over": 9.0, "holds": 1.0, "other": 2.0}, "vector": {"over": 0.9}}
    assert [fact.id for fact in rank({"predicate": {"over": 4.0, "holds": 4.0}, **words}, features)][:2] == [
        "holds",
        "over",
    ]
    # The name of somebody else who is asked for less exactly puts nothing behind.
    assert rank({"predicate": {"over": 8.0, "holds": 4.0}, **words}, features)[0].id == "over"
    assert rank({"predicate": {"over": 4.0}, **words}, features)[0].id == "over"
    assert rank(words, features)[0].id == "over"


def test_a_fact_about_the_named_person_is_ahead_unless_it_has_only_the_name() -> None:
    features = {text: RankingFeatures(text, "warm") for text in ("named", "other")}
    asked = AskedOf({"named"}, {"other"})

    def ranked(share: float) -> list[str]:
        words = {"named": share * 10, "other": 10.0}
        parts = {"keyword": {"named": share, "other": 1.0}}
        found = rank({"keyword": words}, features, shares=parts, asked=asked)
        assert (next(fact.score for fact in found if fact.id == "named") < NAME_ONLY) == (share < 0.05)
        return [fact.id for fact in found]

    assert ranked(0.3) == ["named", "other"]
    assert ranked(0.01) == ["other", "named"]


def test_hits_far_below_the_best_one_are_left_out() -> None:
    assert close_to_best([("a", 0.8), ("b", 0.4), ("c", 0.39), ("d", 0.5)], 0.5) == ["a", "b", "d"]
    assert close_to_best([], 0.5) == []
    assert close_to_best([("a", 0.0)], 0.5) == ["a"]


@pytest.mark.parametrize(
    ("texts", "having", "everyday", "weight"),
    [
        (0, 0, False, math.log(1 + 100.5 / 0.5)),
        (40, 4, False, math.log(1 + 136.5 / 4.5)),
        (40, 4, True, math.log(1 + 126.5 / 14.5)),
        (40, 200, False, math.log(1 + 0.5 / 200.5)),
    ],
)
def test_how_telling_a_word_is(texts: int, having: int, everyday: bool, weight: float) -> None:
    assert word_weight(texts, having, everyday) == pytest.approx(weight)


def test_which_part_of_a_full_match_a_hit_is() -> None:
    assert [meaning_share(closeness) for closeness in (0.1, 0.2, 0.35, 0.5, 0.9)] == pytest.approx([0, 0, 0.5, 1, 1])
    known = {"a": 0.5, "b": 0.8, "c": 0.2, "d": 1.0}
    # The best part is that of one of the three best hits, and the fourth has another.
    assert as_parts({"a": 4.0, "b": 2.0, "c": 1.0, "d": 0.5}, known) == pytest.approx(
        {"a": 0.15 + 0.56, "b": 0.24 + 0.28, "c": 0.06 + 0.14, "d": 0.3 + 0.07}
    )
    assert as_parts({"a": 0.0, "x": 0.0}, known) == pytest.approx({"a": 0.15 + 0.35, "x": 0.35})
    assert as_parts({}, known) == {}
    words = tuple(AskedWord(word, (word,), weight) for word, weight in (("port", 3.0), ("of", 1.0)))
    assert (share_of(words, words[:1]), share_of(words, ()), share_of((), words)) == (0.75, 0.0, 0.0)


@pytest.mark.parametrize(
    ("fact", "more"),
    [
        (RankingFeatures("a", "hot"), 0.03),
        (RankingFeatures("a", "warm"), 0.015),
        (RankingFeatures("a", "cold"), 0.0),
        (RankingFeatures("a", "cold", importance=1.0), 0.02),
        (RankingFeatures("a", "cold", importance=0.0), -0.02),
        (RankingFeatures("a", "cold", trust="user"), 0.02),
        (RankingFeatures("a", "cold", trust="agent"), 0.01),
        (RankingFeatures("a", "cold", trust="tool"), 0.0),
        (RankingFeatures("a", "cold", trust="external"), -0.02),
        (RankingFeatures("a", "cold", own=True), 0.05),
        (RankingFeatures("a", "hot", importance=1.0, trust="user", own=True), 0.12),
    ],
)
def test_what_a_prior_adds(fact: RankingFeatures, more: float) -> None:
    assert prior(fact) == pytest.approx(more)
    (found,) = rank({"keyword": {"a": 3.0}}, {"a": fact})
    assert [found.prior, found.score] == pytest.approx([more, 1 + more])


def test_what_a_question_does_not_name_keeps_a_part_of_its_score() -> None:
    features = {name: RankingFeatures(name, "cold") for name in ("named", "unnamed", "other")}
    channels = {"keyword": {"unnamed": 10.0, "named": 5.0, "other": 10.0}}
    plain = {fact.id: fact.score for fact in rank(channels, features)}
    assert plain == pytest.approx({"unnamed": 1.0, "named": 0.5, "other": 1.0})
    found = rank(channels, features, asked=AskedOf({"named"}, {"other"}))
    assert {fact.id: fact.score for fact in found} == pytest.approx(
        {"unnamed": 0.8, "named": 0.5, "other": 0.5 * OTHERS_SHARE}
    )
    assert [sum(fact.channels.values()) + fact.prior for fact in found] == pytest.approx([fact.score for fact in found])
    # Nothing is put behind a fact with hardly more than the name.
    weak = rank({"keyword": {"named": 0.5, "other": 10.0}}, features, asked=AskedOf({"named"}, {"other"}))
    assert {fact.id: fact.score for fact in weak} == pytest.approx({"other": 0.8, "named": 0.05})
    edge = rank({"keyword": {"named": NAME_ONLY, "other": 1.0}}, features, asked=AskedOf({"named"}, {"other"}))
    assert edge[0].id == "named"


def test_what_is_over_keeps_a_part_of_what_it_scores() -> None:
    features = {"over": RankingFeatures("over", "cold", over=True), "holds": RankingFeatures("holds", "cold")}
    found = rank({"keyword": {"over": 4.0, "holds": 4.0}}, features)
    assert {fact.id: fact.score for fact in found} == pytest.approx({"holds": 1.0, "over": 0.6})
    shares = {"keyword": {"over": 1.0, "holds": 1.0}}
    found = rank({"keyword": {"over": 4.0, "holds": 4.0}}, features, shares=shares)
    assert {fact.id: fact.score for fact in found} == pytest.approx({"holds": 1.0, "over": 0.3 * 0.6 + 0.7 * 0.6})
    assert rank({"keyword": {"over": -4.0, "holds": -2.0}}, features)[0].id == "holds"
    # Both say exactly what was asked: the one that is over is at most as good, and then behind.
    exact = {"predicate": {"over": 4.0, "holds": 4.0}, "keyword": {"over": 9.0, "holds": 1.0}}
    first, second = rank(exact, features)
    assert (first.id, second.id) == ("holds", "over") and second.score <= first.score
    assert sum(second.channels.values()) + second.prior == pytest.approx(second.score)


def test_a_scaled_fact_is_scaled_in_all_its_parts() -> None:
    fact = RankedFact("a", 0.8, {"keyword": 0.5, "time": 0.2}, 0.1)
    assert scaled(fact, 0.5) == RankedFact("a", 0.4, {"keyword": 0.25, "time": 0.1}, 0.05)


def test_fused_scores_are_weighted_parts_of_the_channels_that_found_something() -> None:
    fused = fuse({"keyword": {1: 4.0, 2: 2.0}, "time": {2: 1.0}, "vector": {}}, EVENT_WEIGHTS)
    assert fused.scores == pytest.approx({1: 1 / 1.1, 2: 0.6 / 1.1})
    assert fused.order == [1, 2]
    assert fused.channels(2) == pytest.approx({"keyword": 0.5 / 1.1, "time": 0.1 / 1.1})
    assert fuse({}, EVENT_WEIGHTS).order == []


def test_what_is_over_is_at_most_as_good_as_the_best_that_holds() -> None:
    features = {name: RankingFeatures(name, "cold", over=name == "over") for name in ("over", "best", "worse")}
    channels = {
        "predicate": {"over": 4.0, "best": 4.0, "worse": 4.0},
        "keyword": {"over": 40.0, "best": 5.0, "worse": 1.0},
        "vector": {"over": 9.0},
    }
    free = rank(channels, {**features, "over": RankingFeatures("over", "cold")})
    assert free[0].id == "over" and free[0].score == pytest.approx(1.0)
    ranked = rank(channels, features)
    assert [fact.id for fact in ranked] == ["best", "over", "worse"]
    assert ranked[1].score == pytest.approx(ranked[0].score) and ranked[2].score < ranked[0].score


def test_a_close_text_has_a_least_score_by_its_meaning() -> None:
    hits = FusedHits([1, 2], {1: 0.5, 2: 0.2}, {"keyword": {1: 0.5, 2: 0.2}, "vector": {}})
    raised = at_least(hits, {1: 0.3, 2: 0.6, 3: 0.9})
    assert raised.order == [2, 1]
    assert raised.scores == {1: 0.5, 2: 0.6}
    assert sum(raised.channels(2).values()) == pytest.approx(0.6)
    assert at_least(hits, {1: 0.4}) is hits
    assert least_meant(0.5, share=0.0) > least_meant(0.5, share=0.2) > least_meant(0.3, share=0.2) > 0
    assert least_meant(0.05, share=0.0) == 0
