"""What somebody said, against what programs wrote."""

from __future__ import annotations

import pytest

from clawmem.model.records.event import Event, is_speech, taken_back, takes_back


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("The boiler is new", True),
        ("File created successfully at: /tmp/x.md", False),
        ("The file src/a.py has been updated. Here is the result", False),
        ("<system-reminder>Be brief</system-reminder>", False),
        ('{"rows": 3}', False),
        ("[1, 2]", False),
        ("[laughs] That was good [really]", True),
        ("{not json}", True),
        ("The file was created by Ada, successfully", True),
    ],
)
def test_the_words_of_programs_are_not_speech(text: str, flag: bool) -> None:
    assert is_speech(Event("e", "2026-01-01T00:00:00Z", "user", text)) is flag


@pytest.mark.parametrize(
    ("role", "kind", "text", "flag"),
    [
        ("assistant", "message", "The boiler is new", True),
        ("note", "note", "The boiler is new", True),
        ("tool", "tool_result", "The boiler is new", True),
        ("tool", "tool_result", '{"boiler": "cut off', False),
        ("tool", "tool_result", "<html><body>The boiler", False),
        ("tool", "tool_result", "     1\u2192def boiler():", False),
        ("system", "message", "The boiler is new", False),
        ("assistant", "tool_call", "Read boiler.md", False),
        ("system", "app", "opened boiler.md", False),
    ],
)
def test_of_tools_only_prose_is_shown_and_of_systems_nothing(role: str, kind: str, text: str, flag: bool) -> None:
    assert is_speech(Event("e", "2026-01-01T00:00:00Z", role, text, kind=kind)) is flag


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("Actually, scratch that, keep 51. I misread the price list.", True), ("No wait, still Stripe.", True),
        ("Wait, it stays in Oslo?", False), ("I misread the docs of pandas.", False),
        ("Wait, no, it is Tuesday.", True), ("sorry, I misspoke", True), ("Streich das, es bleibt bei 51.", True),
        ("Ignore what I just said.", True), ("Espera, no, son 51.", True),
        ("Wait, still failing.", False), ("Wait, no problem, go on.", False), ("That's wrong, 54, not 51.", False),
        ("Keep it at 51.", False), ("Ignore the warning.", False), ("No, use yarn.", False),
        ("You can scratch that itch later.", False), ("Scratch that and keep 51.", True), ("Wait no it's 52.", True),
        ("Cancel that, please.", True), ("Ignore my last message.", True), ("Warte, nein, am Dienstag.", True),
        ("Cancel that meeting on Friday.", False), ("Ignore that warning in the log.", False),
        ("Scratch that itch and go to Bali.", False), ("Wait no longer for Bob.", False),
        ("Wait, no tests ran.", False), ("Wait, no need to hurry.", False), ("Ignore my last email.", False),
        ("Strike that line from the doc.", False), ("Streich das Wort aus dem Text.", False),
        ("Warte doch bitte auf Eva.", False), ("Borra eso archivo.", False),
    ],
)  # fmt: skip
def test_a_message_that_takes_back_the_one_before_it(text: str, back: bool) -> None:
    assert takes_back(text) is back


def test_only_the_same_speaker_of_the_same_session_takes_a_message_back() -> None:
    back = "Scratch that."
    said = [("a", "Ann", "54"), ("a", "Bo", back), ("b", "Ann", back), ("a", "Ann", back)]
    events = [
        Event(f"evt_{n}", f"2026-11-02T09:0{n}:00Z", "user", text, speaker=who, session=session)
        for n, (session, who, text) in enumerate(said)
    ]
    assert {key: event.id for key, event in taken_back(events).items()} == {"evt_0": "evt_3"}
