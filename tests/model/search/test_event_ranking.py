"""The order of things said: words beside a turn, questions and answers, speakers, sittings."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.search.event_ranking import (
    ASKING,
    BESIDE,
    RankedTurn,
    SittingCounts,
    best_pieces,
    best_turns,
    coverage,
    is_question,
    order_near,
    order_turns,
    speakers_named,
    turns_named,
)

MANY = SittingCounts(1_000, 20_000, {})


def sitting(*turns: RankedTurn, name: str = "s", first: int = 0) -> dict[int, RankedTurn]:
    return {first + at: turn._replace(sitting=name, place=at) for at, turn in enumerate(turns)}


def plain(count: int) -> list[RankedTurn]:
    return [RankedTurn("", 0, None, 50) for _ in range(count)]


def words_only(
    words: list[dict[int, float]], turns: Mapping[int, RankedTurn], named: frozenset[int] = frozenset()
) -> list[int]:
    return list(order_turns(words, turns, MANY, named))


def test_a_word_counts_where_it_was_said_then_beside_it_then_two_turns_away() -> None:
    turns = sitting(*plain(7))
    found = order_turns([{3: 2.0}], turns, MANY)
    assert list(found) == [3, 2, 4, 1, 5]
    base = found[3] - 2.0
    assert [round(score - base, 9) for score in found.values()] == [2.0, 0.8, 0.8, 0.4, 0.4]


def test_other_sittings_are_not_beside() -> None:
    turns = sitting(*plain(2), name="a") | sitting(*plain(2), name="b", first=2)
    assert words_only([{1: 1.0}], turns) == [1, 0]


def test_the_answer_gains_what_the_question_loses() -> None:
    asking, answer = RankedTurn("", 0, "A", 30, asks=True), RankedTurn("", 0, "B", 30)
    turns = sitting(*plain(1), asking, answer)
    by_number = order_turns([{1: 1.0}], turns, MANY)
    assert by_number[1] - by_number[0] == pytest.approx(ASKING - BESIDE[1])
    assert by_number[2] - by_number[0] == pytest.approx(BESIDE[1])
    assert words_only([{1: 1.0}], turns) == [2, 1, 0]


def test_a_turn_with_one_word_and_another_beside_it_beats_one_with_the_same_word_twice_over() -> None:
    turns = sitting(*plain(5), name="a") | sitting(*plain(5), name="b", first=10)
    assert words_only([{2: 1.0, 11: 1.0, 12: 1.0, 13: 1.0}, {3: 1.0}], turns)[:2] == [2, 3]


def test_a_long_text_leans_less_on_what_stands_beside_it() -> None:
    turns = sitting(RankedTurn("", 0, None, 4_000), RankedTurn("", 0, None, 50), RankedTurn("", 0, None, 1_000))
    assert words_only([{1: 1.0}], turns) == [1, 2, 0]


def test_the_named_speaker_comes_first() -> None:
    turns = sitting(*(RankedTurn("", 0, name, 50) for name in ("Ann", "Bob", "Ann", "Cid")))
    assert words_only([{0: 1.0, 3: 1.0}], turns)[0] == 0
    assert words_only([{0: 1.0, 3: 1.0}], turns, turns_named("Did Cid?", turns))[0] == 3


def test_i_and_my_name_the_user_where_others_speak_too() -> None:
    turns = sitting(*(RankedTurn("", 0, None, 50, role=role) for role in ("assistant", "user", "assistant", "user")))
    assert turns_named("What did I say about my boat?", turns) == {1, 3}
    assert turns_named("Which boat is it?", turns) == set()
    assert turns_named("What's in IT?", turns) == set()
    assert words_only([{0: 1.0, 3: 1.0}], turns, turns_named("my boat", turns))[0] == 3
    assert turns_named("my boat", sitting(*plain(3))) == set()


def test_a_question_keeps_its_words_where_an_assistant_answers() -> None:
    asking = RankedTurn("", 0, None, 30, asks=True)
    turns = sitting(*plain(1), asking, RankedTurn("", 0, None, 30, role="assistant"))
    assert near({1: 1.0}, turns) == {1: 1.0, 0: BESIDE[1], 2: BESIDE[1]}
    assert near({1: 1.0}, sitting(*plain(1), asking, *plain(1))) == {1: ASKING, 0: BESIDE[1], 2: 2 * BESIDE[1]}


def near(closeness: dict[int, float], turns: Mapping[int, RankedTurn], *named: int) -> dict[int, float]:
    return {n: round(score, 9) for n, score in order_near(closeness, turns, named).items()}


def test_meaning_spreads_as_a_word_does_and_is_added_up() -> None:
    turns = sitting(*plain(7)) | sitting(*plain(1), name="b", first=7)
    assert near({3: 0.5}, turns) == {3: 0.5, 2: 0.2, 4: 0.2, 1: 0.1, 5: 0.1}
    assert near({2: 0.5, 4: 0.5, 7: 0.6}, turns) == {
        2: 0.6, 4: 0.6, 7: 0.6, 3: 0.4, 1: 0.2, 5: 0.2, 0: 0.1, 6: 0.1
    }  # fmt: skip
    assert list(order_near({2: 0.5, 4: 0.5, 7: 0.61}, turns))[:4] == [7, 2, 4, 3]


def test_meaning_too_is_told_by_the_answer_by_the_named_speaker_and_less_by_what_a_long_text_stands_beside() -> None:
    asking, answer, long = (
        RankedTurn("", 0, "A", 30, asks=True),
        RankedTurn("", 0, "B", 30),
        RankedTurn("", 0, "A", 2_000),
    )
    turns = sitting(long, asking, answer)
    assert near({1: 0.5}, turns) == {1: 0.35, 2: 0.4, 0: 0.1}
    assert near({1: 0.5}, turns, 0, 1) == {1: 0.4375, 2: 0.4, 0: 0.125}


def test_of_turns_that_are_not_known_no_meaning_is_told() -> None:
    assert near({0: 0.5, 9: 0.5}, sitting(*plain(1))) == {0: 0.5}
    assert near({}, {}) == {}


def test_what_part_of_a_question_its_best_turn_covers() -> None:
    both = [{1: 4.0, 2: 1.0}, {2: 2.0}]
    assert coverage(both, 6.0) == 1.0
    assert coverage(both, 3.0) == 0.5
    assert coverage([*both, {}], 3.0) == 0.3  # a word that is nowhere counts as much as the most telling one
    assert coverage([{}, {}], 0.0) == 0.0
    assert coverage([], 0.0) == 0.0


def test_the_sitting_that_is_about_it_lifts_its_turns() -> None:
    turns = sitting(*plain(9), name="a") | sitting(*plain(9), name="b", first=20)
    hits = {4: 9.0, 20: 9.0, 24: 9.0, 28: 9.0}
    assert words_only([hits], turns)[:4] == [20, 24, 28, 4]


def test_a_small_sitting_outweighs_a_large_one_with_as_many_hits() -> None:
    turns = sitting(*plain(9), name="a") | sitting(*plain(9), name="b", first=20)
    found = order_turns([{4: 9.0, 24: 9.0}], turns, SittingCounts(100, 2_000, {"a": 200, "b": 9}))
    assert list(found)[:2] == [24, 4]


def test_nothing_found_is_nothing() -> None:
    assert order_turns([], {}, SittingCounts(0, 0, {})) == {}
    assert order_turns([{}], {}, SittingCounts(0, 0, {})) == {}
    assert order_turns([{7: 1.0}], {}, SittingCounts(0, 0, {})) == {}


def test_the_best_piece_counts_for_its_turn() -> None:
    words = [{10: 1.0, 11: 0.9, 20: 0.1}, {11: 0.5}]
    assert best_pieces(words, 10) == [{1: 0.9, 2: 0.1}, {1: 0.5}]


def test_only_the_foremost_are_looked_at() -> None:
    words = [{1: 1.0, 2: 0.5, 3: 0.4}, {3: 0.3}]
    assert best_turns(words, 2) == [{1: 1.0, 3: 0.4}, {3: 0.3}]
    assert best_turns(words, 3) == words


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where did you go?", True),
        ("I went home. And you? 😊", True),
        ("Really?!", True),
        ("你好吗？", True),
        ("Did you? I did.", False),
        ("No.", False),
        ("", False),
        ("word " * 50 + "?", False),
    ],
)
def test_what_a_short_question_is(text: str, asks: bool) -> None:
    assert is_question(text) is asks


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Caroline like?", {"Caroline"}),
        ("what is caroline's dog called", {"Caroline"}),
        ("When did Maria Lopez and Will meet?", {"Maria Lopez", "Will"}),
        ("will it rain", set()),
        ("Will Caroline go?", {"Caroline"}),
        ("who", set()),
    ],
)
def test_the_speakers_a_question_names(question: str, named: set[str]) -> None:
    assert speakers_named(question, ["Caroline", "Maria Lopez", "Will", "🙂"]) == named


turns_of = st.lists(
    st.builds(
        RankedTurn,
        sitting=st.sampled_from("ab"),
        place=st.just(0),
        speaker=st.sampled_from(["A", "B", None]),
        size=st.integers(0, 3_000),
        asks=st.booleans(),
    ),
    max_size=12,
)


@given(turns_of, st.lists(st.dictionaries(st.integers(0, 14), st.floats(1e-6, 20)), max_size=4))
def test_every_found_turn_is_ordered_once_and_scores_are_finite(
    turns: list[RankedTurn], words: list[dict[int, float]]
) -> None:
    known = {n: turn._replace(place=n) for n, turn in enumerate(turns)}
    found = order_turns(words, known, SittingCounts(2, len(turns), {}), turns_named("A", known))
    assert {n for scores in words for n in scores if n in known} <= found.keys() <= known.keys()
    assert all(math.isfinite(score) and score > 0 for score in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)


@given(turns_of, st.dictionaries(st.integers(0, 11), st.floats(0.1, 20), min_size=1))
def test_more_of_a_word_never_lowers_the_turn_that_holds_it(turns: list[RankedTurn], scores: dict[int, float]) -> None:
    known = {n: turn._replace(place=n) for n, turn in enumerate(turns)}
    n = min(scores)
    if n not in known:
        return
    before = order_turns([scores], known, MANY)
    after = order_turns([{**scores, n: scores[n] * 2}], known, MANY)
    assert after[n] > before[n]
