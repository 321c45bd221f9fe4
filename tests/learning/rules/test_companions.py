"""Home, employer, companions and position are separate facts: a move does not remove companions."""

from __future__ import annotations

import pytest

from benchmarks.quality import _Memory, shipped_catalog
from clawmem.learning.rules.rules import extract
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()


def told(text: str) -> list[str]:
    found = extract(Event("evt_1", "2026-11-22T10:00:00Z", "user", text), CATALOG, ())
    return [one.statement.replace("The user", "U").replace("the user", "U") for one in found]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "I live in Oslo with my husband Tom and our two kids, Emma and Noah.",
            [
                "U lives in Oslo.",
                "U lives with their husband Tom and their two kids, Emma and Noah.",
                "Tom is U's husband.",
                "Emma is U's child.",
                "Noah is U's child.",
            ],
        ),
        ("I live in Oslo with my two brothers.", ["U lives in Oslo.", "U lives with their two brothers."]),
        ("I live in Oslo with Tom.", ["U lives in Oslo.", "U lives with Tom."]),
        ("I live with my parents in Leeds.", ["U lives with their parents.", "U lives in Leeds."]),
        (
            "My daughter Lea lives in Paris with two flatmates.",
            ["Lea is U's daughter.", "U's daughter Lea lives in Paris.", "U's daughter Lea lives with two flatmates."],
        ),
        (
            "I moved to Bergen with my wife Sara and our dog Rex.",
            ["U moved to Bergen with their wife Sara and their dog Rex.", "Sara is U's wife.", "Rex is U's dog."],
        ),
        ("I work at Acme as a designer.", ["U works at Acme.", "U works as a designer."]),
        ("I work as a nurse at Ullevaal hospital.", ["U works as a nurse.", "U works at Ullevaal hospital."]),
        ("I work at Acme with Bob as a designer.", ["U works at Acme with Bob.", "U works as a designer."]),
    ],
)
def test_each_is_a_statement_of_its_own(text: str, facts: list[str]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I live in a house with a garden.", ["U lives in a house with a garden."]),
        ("I live in Oslo.", ["U lives in Oslo."]),
        ("I work as a translator at a publishing house.", ["U works as a translator at a publishing house."]),
        ("I visited the Prado with my aunt Ana yesterday.", ["U visited the Prado with their aunt Ana (2026-11-21)."]),
        ("I live near my sister Eva's school.", ["U lives near their sister Eva's school."]),
        ("I love my dog and my sister plays golf.", ["U loves their dog.", "U's sister plays golf."]),
        ("My sister lives in Paris with her boyfriend.", ["U's sister lives in Paris with her boyfriend."]),
    ],
)
def test_what_hangs_together_stays_together(text: str, facts: list[str]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    ("known", "news", "stands", "over"),
    [
        (
            "I live in Oslo with my husband Tom and our two kids, Emma and Noah.",
            "We moved to Bergen last month.",
            ["Tom is the user's husband.", "Emma is the user's child.", "Noah is the user's child."],
            ["The user lives in Oslo."],
        ),
        (
            "I work at Acme as a designer.",
            "I work at Initech now.",
            ["The user works as a designer."],
            ["The user works at Acme."],
        ),
        (
            "I work as a nurse at Ullevaal hospital.",
            "I now work at Haukeland.",
            ["The user works as a nurse."],
            ["The user works at Ullevaal hospital."],
        ),
    ],
)
def test_a_move_takes_the_place_and_nobody_away(known: str, news: str, stands: list[str], over: list[str]) -> None:
    memory = _Memory(CATALOG, {"known": [], "speakers": [], "said_at": "2026-11-22T10:00:00Z", "speaker": None})
    memory.hear(known, "2026-10-20T10:00:00Z")
    memory.hear(news, "2026-11-22T10:00:00Z")
    standing = [fact.fact for fact in memory.facts.values() if fact.is_current]
    assert [fact.fact for fact in memory.retired()] == over
    assert set(stands) <= set(standing)


def test_the_evidence_is_in_the_text_to_the_character() -> None:
    text = "Hi! We live in Oslo with our daughters Ida, Mia and Liv."
    found = extract(Event("evt_1", "2026-11-22T10:00:00Z", "user", text), CATALOG, ())
    assert [one.object for one in found if one.predicate == "child"] == ["Ida", "Mia", "Liv"]
    assert all(text[slice(*one.span)] == one.source_text for one in found)
