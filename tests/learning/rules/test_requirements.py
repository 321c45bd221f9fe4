"""What a made thing must do is a requirement; what somebody guesses about the world is not."""

from __future__ import annotations

import pytest

from benchmarks.quality import shipped_catalog
from clawmem.learning.rules.rules import extract
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()


def said(text: str, speaker: str | None = None) -> list[tuple[str, str | None, str | None]]:
    event = Event("e1", "2026-11-20T10:00:00Z", "user", text, speaker)
    found = [one for one in extract(event, CATALOG) if one.category == "requirement"]
    for one in found:
        assert one.source_text == text[slice(*one.span)]
        assert one.predicate == "requires"
    return [(one.statement, one.subject, one.object) for one in found]


@pytest.mark.parametrize(
    ("text", "statement", "subject", "value"),
    [
        ("The logo must use our brand green.", "The logo must use their brand green.", "the logo", None),
        ("The API must return JSON within 200 ms.", None, "the API", "return JSON within 200 ms"),
        ("The report must be at most ten pages!", "The report must be at most ten pages.", "the report", None),
        ("All invoices have to be sent before the 5th.", None, "all invoices", "be sent before the 5th"),
        ("Our backups must never leave the EU.", "The user's backups must never leave the EU.", None, None),
        ("The site must not use cookies.", None, "the site", "not use cookies"),
        ("The quarterly tax report needs to reach the bank in June.", None, "the quarterly tax report", None),
    ],
)
def test_a_requirement_is_kept_in_its_own_words(
    text: str, statement: str | None, subject: str | None, value: str | None
) -> None:
    ((words, about, wanted),) = said(f"Hello there. {text}")
    assert words == (statement or text)
    assert subject in (None, about)
    assert value in (None, wanted)


def test_what_is_ours_is_the_speakers() -> None:
    assert said("Our app must load within 2 seconds.", "Nora") == [
        ("Nora's app must load within 2 seconds.", "Nora's app", "load within 2 seconds")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The game must be amazing!",
        "The report must be great.",
        "The service must be down.",
        "The test must be over by now.",
        "The tests must have failed again.",
        "The files must be in the other folder.",
        "The old server must go.",
        "The release must wait.",
        "If the app must go offline, so be it.",
        "The logo has to use our brand green, I think.",
        "The server must restart each time I log in.",
        "Must the report be at most ten pages?",
        "The report that must be sent is at home.",
        "The colors there are so vivid - it must have been amazing!",
        "The connection to nature must be incredible.",
    ],
)
def test_a_guess_or_a_mood_is_none(text: str) -> None:
    assert said(text) == []
