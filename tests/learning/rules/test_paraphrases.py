"""Changes in everyday words: which fact is learned, which it replaces, and which it does not affect."""

from __future__ import annotations

import pytest

from benchmarks.quality import shipped_catalog, supersession
from clawmem.learning.rules.rules import extract
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()
SAID = "2026-11-22T10:00:00Z"  # a Sunday


def told(text: str) -> list[str]:
    found = extract(Event("evt_1", SAID, "user", text, speaker="Dana"), CATALOG, ())
    return [one.statement for one in found]


PLAIN = [
    ("I changed my email to dana@new.example.", ["Dana's new email is dana@new.example."]),
    ("I've just switched my phone number from 555 to 7001234.", ["Dana's new phone number is 7001234."]),
    ("My e-mail address has changed to dana@new.example.", ["Dana's new e-mail address is dana@new.example."]),
    ("I got a new phone number: 7001234.", ["Dana's new phone number is 7001234."]),
    (
        "Petra isn't my manager any more. Olav Lie is.",
        ["Dana's manager is no longer Petra.", "Dana's manager is Olav Lie."],
    ),
    (
        "My manager is no longer Petra, it's Olav Lie now.",
        ["Dana's manager is no longer Petra.", "Dana's manager is Olav Lie."],
    ),
    ("Olav is no longer my boyfriend.", ["Olav is no longer Dana's boyfriend."]),
    ("The exam is on May 8, not May 5.", ["The exam was set for May 8, 2027."]),
    ("The exam is now on May 8.", ["The exam was set for May 8, 2027."]),
    ("I changed my mind.", []),
    ("I switched my desk to the window.", []),
    ("The light is on, not off.", []),
    ("Olav Lie is.", []),
    ("Petra isn't my favourite singer any more.", []),
    # which job is over is known only of one that ended just now
    ("I got laid off yesterday.", ["Dana got laid off (2026-11-21)."]),
]


@pytest.mark.parametrize(("text", "statements"), PLAIN)
def test_what_is_learned(text: str, statements: list[str]) -> None:
    assert told(text) == statements


# What was said, what is said now, what the first became (its words and whether it goes), the words of what replaces it.
CHANGES = [
    ("My email is dana@old.example.", "I changed my email to dana@new.example.", "old", True, ["new.example"]),
    ("My boss is Petra Lund.", "Petra isn't my boss any more. Olav Lie is.", "petra", True, ["longer"]),
    ("My boss is Petra Lund.", "Petra Lund isn't my boss any more.", "petra", True, ["longer"]),
    ("My boyfriend is Olav.", "Olav isn't my boyfriend any more.", "olav", True, ["longer"]),
    ("My boyfriend is Olav.", "Jens isn't my boyfriend any more.", "olav", False, []),
    ("I hate olives.", "It's not true that I hate olives.", "olives", True, []),
    ("I hate olives.", "I was joking when I said that I hate olives.", "olives", True, []),
    ("I have an exam on May 5.", "The exam is on May 8, not May 5.", "exam", True, ["8"]),
    ("I have an exam on May 5.", "The exam was moved to May 8.", "exam", True, ["8"]),
    ("I have an eye appointment on May 5.", "The dentist appointment was moved to May 8.", "eye", False, []),
    ("I failed an exam on March 5.", "The exam was moved to May 8.", "exam", False, []),
    (
        "We're getting married on June 5th 2027.",
        "The wedding was postponed to May 9th 2028.",
        "married",
        True,
        ["2028"],
    ),
    ("I don't eat pork.", "I eat pork now.", "pork", True, ["now"]),
    ("I don't drink wine.", "I've started drinking wine again.", "wine", True, ["now"]),
    ("I don't eat pork or fish.", "I eat pork now.", "pork", False, []),
    ("I hate pork.", "I eat pork now.", "pork", False, []),
    ("I'm vegan.", "I eat meat again.", "vegan", True, ["meat"]),
    ("I'm vegan.", "I eat bread again.", "vegan", False, []),
    ("I work at Equinor.", "I got laid off yesterday.", "equinor", True, ["laid"]),
    ("I work at Equinor.", "I just quit my job.", "equinor", True, ["quit"]),
    ("I work at Equinor.", "I got laid off in 2019.", "equinor", False, []),
    ("I work at Equinor.", "I lost my job three years ago.", "equinor", False, []),
    ("I work at Equinor.", "My wife got laid off yesterday.", "equinor", False, []),
]


@pytest.mark.parametrize(("before", "turn", "words", "gone", "news"), CHANGES)
def test_what_a_change_retires(before: str, turn: str, words: str, gone: bool, news: list[str]) -> None:
    case = {
        "id": "c", "kind": "change", "speaker": "Dana", "speakers": [], "said_at": SAID, "turn": turn, "news": news,
        "known": [{"retire": gone, "turn": before, "words": [words]}], "expected": "",
    }  # fmt: skip
    found = supersession([case], CATALOG)
    assert (found.right, found.killed) == (1 if gone else 0, 0), found.faults
    assert found.bystanders == (0 if gone else 1)
