"""Days in words: the same in every verb, and questions that ask for nothing but a day."""

from __future__ import annotations

import pytest

from tests.conftest import Command

NOW = {"CLAWMEM_NOW": "2026-11-24T10:00:00Z"}


@pytest.fixture
def diary(clawmem: Command) -> Command:
    """A vault with a note of 9 November, a note and a fact of yesterday, and one of today."""
    for moment, verb, words in (
        ("2026-11-09T10:00:00Z", "note", "Lost my umbrella in the tram."),
        ("2026-11-23T09:00:00Z", "remember", "Ann lives in Oslo."),
        ("2026-11-23T12:00:00Z", "note", "Ordered the pizza."),
        ("2026-11-24T09:00:00Z", "note", "Found the umbrella at the depot."),
    ):
        assert clawmem(verb, words, env={"CLAWMEM_NOW": moment}).code == 0
    return clawmem


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what did I note on 9 November?", ["umbrella in the tram"]),
        ("was habe ich am 9. November notiert?", ["umbrella in the tram"]),
        ("what did I note yesterday?", ["pizza"]),
        ("was habe ich gestern notiert?", ["pizza"]),
        ("¿qué anoté ayer?", ["pizza"]),
        ("qu'est-ce que j'ai noté hier ?", ["pizza"]),
        ("yesterday", ["pizza", "Oslo"]),
        ("what happened two weeks ago?", ["umbrella in the tram"]),
        ("¿qué pasó hace dos semanas?", ["umbrella in the tram"]),
    ],
)
@pytest.mark.parametrize("told_before", [False, True])
def test_a_question_for_a_day_lists_the_day(diary: Command, question: str, told: list[str], told_before: bool) -> None:
    if told_before:
        diary("heartbeat", env=NOW)
    lines = diary("recall", question, env=NOW).out.splitlines()
    assert len(lines) == len(told)
    assert all(words in line for words, line in zip(told, lines, strict=True))


def test_no_question_and_a_day_lists_the_days(diary: Command) -> None:
    assert diary("recall", "", env=NOW).code == 2
    lines = diary("recall", "", "--since", "9 November", "--until", "gestern", env=NOW).out.splitlines()
    assert [line.split(": ", 1)[1][:6] for line in lines] == ["Lost m", "Ordere", "Ann li"]
    few = diary("recall", "", "--since", "2026-11", "--limit", "2", env=NOW)
    assert len(few.out.splitlines()) == 2 and "2 more of these days" in few.err


def test_a_question_that_asks_more_than_the_day_is_searched(diary: Command) -> None:
    assert "Oslo" in diary("recall", "where did Ann live yesterday?", env=NOW).out
    assert diary("recall", "where was the umbrella today?", env=NOW).out.startswith("daily/2026-11-24")


@pytest.mark.parametrize("day", ["2026-11-23", "yesterday", "gestern", "ayer", "hier", "23 November", "1d"])
def test_every_verb_reads_the_same_days(diary: Command, day: str) -> None:
    def asked(*arguments: str) -> str:
        done = diary(*arguments, env=NOW)
        assert done.code == 0, done.err
        return done.out

    assert asked("list", "--since", day) == asked("list", "--since", "2026-11-23") != asked("list", "--until", "9 Nov")
    assert asked("log", "--until", day) == asked("log", "--until", "2026-11-23")
    assert asked("diff", day) == asked("diff", "2026-11-23")
    assert asked("recall", "", "--since", day) == asked("recall", "", "--since", "2026-11-23")


def test_what_is_no_day_is_refused(diary: Command) -> None:
    refused = diary("list", "--since", "the day of Ann", env=NOW)
    assert refused.code == 2 and "'last week'" in refused.err
