"""News that takes something known for granted: a new day, a new manager, what is to be forgotten."""

from __future__ import annotations

import pytest

from benchmarks.quality import _Memory, shipped_catalog
from clawmem.learning.english.sentences import TextSpan
from clawmem.learning.rules.known_changes import forget_request

CATALOG = shipped_catalog()


def after(*turns: str) -> tuple[list[str], list[str]]:
    """Return the current facts and the ended ones after turns on the days from 10 November 2026 on."""
    memory = _Memory(CATALOG, {"known": [], "speakers": [], "said_at": "2026-11-22T10:00:00Z", "speaker": None})
    for number, turn in enumerate(turns):
        memory.hear(turn, f"2026-11-{10 + number}T10:00:00Z")
    told = {fact.fact: fact.is_current for fact in memory.facts.values()}
    return [fact for fact, stands in told.items() if stands], [fact for fact, stands in told.items() if not stands]


@pytest.mark.parametrize(
    ("known", "news", "now"),
    [
        (
            "The project deadline is 2026-12-01.",
            "The deadline moved to 2026-12-15.",
            "The project deadline was moved to 2026-12-15.",
        ),
        (
            "The project deadline is 2026-12-01.",
            "The deadline is now 2026-12-15.",
            "The project deadline is 2026-12-15.",
        ),
        ("The launch is on 2026-12-01.", "The launch slipped to 2026-12-15.", "The launch was moved to 2026-12-15."),
        (
            "The deadline for the report is 2026-12-01.",
            "The new deadline for the report is 2026-12-10.",
            "The new deadline for the report is 2026-12-10.",
        ),
        ("My manager is Erik.", "Erik left, my new manager is Sara.", "The user's new manager is Sara."),
        ("My landlord is Per.", "My new landlord is Kari.", "The user's new landlord is Kari."),
        (
            "I have a dentist appointment on Tuesday.",
            "My dentist appointment was moved to Thursday.",
            "The user's dentist appointment was moved to 2026-11-12.",
        ),
        (
            "My dentist appointment is on Tuesday.",
            "My dentist appointment got moved to 2026-11-19.",
            "The user's dentist appointment was moved to 2026-11-19.",
        ),
        ("The standup is at 9:00.", "The standup moved to 10:00.", "The standup was moved to 10:00."),
        ("I live in Oslo.", "Forget that I live in Oslo.", "It was taken back that the user lives in Oslo."),
        (
            "I'm allergic to nuts.",
            "Oh, you can forget that I'm allergic to nuts.",
            "It was taken back that the user is allergic to nuts.",
        ),
    ],
)
def test_the_news_wins(known: str, news: str, now: str) -> None:
    standing, _ = after(known)
    assert after(known, news) == ([now], standing)


def test_who_sold_a_car_drives_it_no_more() -> None:
    stands, gone = after("I drive a Tesla.", "I drive a van.", "I sold the Tesla and bought a Volvo.")
    assert gone == ["The user drives a Tesla."]
    assert "The user drives a van." in stands


@pytest.mark.parametrize(
    "turns",
    [
        # which one is meant is not said, or the news names no change
        ("The project deadline is 2026-12-01.", "The tax deadline is 2026-12-05.", "The deadline is now 2026-12-15."),
        ("The tax deadline is 2026-12-05.", "The deadline is 2026-12-15."),
        ("The tax deadline is 2026-12-05.", "The project deadline moved to 2026-12-15."),
        ("The project budget is 500 euros.", "The deadline moved to 2026-12-15."),
        ("I have a dentist appointment on Tuesday.", "I have a dentist appointment on Friday."),
        ("I have a dentist appointment on Tuesday.", "My eye appointment was moved to Thursday."),
        ("My manager is Erik.", "My landlord is Sara."),
        ("I drive a Tesla.", "I sold my bike."),
        ("I drive a Tesla.", "I sold a Tesla share."),
        ("I live in Oslo.", "Don't forget that I live in Oslo."),
        ("I live in Oslo.", "Forget that I live in Bergen."),
        ("I like tea.", "I like coffee.", "Forget it."),
    ],
)
def test_a_bystander_stays(turns: tuple[str, ...]) -> None:
    stands, gone = after(*turns)
    assert gone == []
    assert after(turns[0])[0][0] in stands


def test_what_nothing_known_says_is_forgotten_without_a_word() -> None:
    assert after("Forget that I live in Bergen.") == ([], [])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Please forget that I live in Oslo.", "I live in Oslo"),
        ("Forget the fact that my boss is Ann!", "my boss is Ann"),
        ("Don't forget that I live in Oslo.", None),
        ("I forget that I live in Oslo.", None),
        ("Forget that.", None),
        ("Forget that Tom lives in Oslo.", None),
    ],
)
def test_what_is_asked_to_be_forgotten(text: str, what: str | None) -> None:
    found = forget_request(TextSpan(text, 0, len(text)))
    assert (found and found.text) == what


def test_each_boss_or_landlord_is_a_slot_of_its_own() -> None:
    stands, gone = after("My name is Mia.", "My landlord is Per.", "My manager is Erik.")
    assert gone == []
    assert len(stands) == 3
