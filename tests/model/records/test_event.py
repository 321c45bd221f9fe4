"""What somebody said, against what programs wrote."""

from __future__ import annotations

import pytest

from clawmem.model.records.event import Event, is_speech


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
