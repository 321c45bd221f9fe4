"""What somebody said, against what programs wrote."""

from __future__ import annotations

import pytest

from clawmem.model.records.event import Event
from clawmem.model.records.speech import is_speech


@pytest.mark.parametrize(
    ("text", "said"),
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
def test_the_words_of_programs_are_not_speech(text: str, said: bool) -> None:
    assert is_speech(Event("e", "2026-01-01T00:00:00Z", "user", text)) is said


@pytest.mark.parametrize(
    ("role", "kind", "said"),
    [
        ("assistant", "message", True),
        ("note", "note", True),
        ("tool", "message", False),
        ("system", "message", False),
        ("assistant", "tool_call", False),
        ("user", "tool_result", False),
    ],
)
def test_tools_and_systems_do_not_speak(role: str, kind: str, said: bool) -> None:
    assert is_speech(Event("e", "2026-01-01T00:00:00Z", role, "The boiler is new", kind=kind)) is said
