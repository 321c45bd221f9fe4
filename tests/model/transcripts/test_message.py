"""Times, roles and words as transcripts write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.transcripts.message import role_of, sound, time_of, word


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-02T10:00:00.250Z", "2026-03-02T10:00:00Z"),
        ("2026-03-02T12:00:00+02:00", "2026-03-02T10:00:00Z"),
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        (1772445600, "2026-03-02T10:00:00Z"),
        (1772445600.75, "2026-03-02T10:00:00Z"),
        (1772445600123, "2026-03-02T10:00:00Z"),
        (1772445600123456, "2026-03-02T10:00:00Z"),
        ("1772445600", "2026-03-02T10:00:00Z"),
        (None, None),
    ],
)
def test_times_become_utc(value: object, expected: str | None) -> None:
    assert time_of(value) == expected


@pytest.mark.parametrize(
    "value", ["soon", "", True, float("nan"), float("inf"), 10**30, "0001-01-01T00:00:00Z", {}, []]
)
def test_what_is_no_time_is_said(value: object) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        time_of(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("human", "user"), ("Assistant", "assistant"), ("toolResult", "tool"), ("developer", "system")],
)
def test_roles_have_one_name(value: str, expected: str) -> None:
    assert role_of(value) == expected


def test_an_unknown_role_is_said() -> None:
    with pytest.raises(ValueError, match="its role 'king' is not one of user, assistant, system, tool, note"):
        role_of("king")


@given(st.text(st.characters()))
def test_sound_text_can_be_written(text: str) -> None:
    assert len(sound(text)) == len(text)
    sound(text).encode()


def test_words() -> None:
    assert (word(7), word(" "), word(None), word({"a": 1}), word("x")) == ("7", None, None, None, "x")
