"""How far learning has come, day by day, also after a day changed behind it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.records.cursor import (
    DayProgress,
    LearningCursor,
    events_after,
    number_after,
    parse_cursor,
    read_up_to,
    render_cursor,
)
from clawmem.model.records.event import Event


def _events(*ids: str) -> list[Event]:
    return [Event(identifier, "2026-11-02T10:00:00Z", "user", "text") for identifier in ids]


def test_only_what_came_after_is_unread() -> None:
    day = _events("a", "b", "c")
    assert events_after(day, None) == day
    assert events_after(day, DayProgress(2, "b")) == day[2:]
    assert events_after(day, DayProgress(3, "c")) == []


def test_a_day_that_changed_before_that_point_is_read_again() -> None:
    assert len(events_after(_events("a"), DayProgress(2, "b"))) == 1
    assert len(events_after(_events("a", "x", "b", "c"), DayProgress(2, "b"))) == 4


def test_a_day_is_read_again_from_an_event_on_and_never_further() -> None:
    cursor = LearningCursor({"x": DayProgress(3, "c"), "y": DayProgress(1, "d")}, {}, {"x": DayProgress(1, "a")})
    assert read_up_to(cursor, "x", _events("a", "b")).days["x"] == DayProgress(2, "b")
    assert read_up_to(cursor, "x", _events("a", "b")).by_model == cursor.by_model
    assert read_up_to(cursor, "x", ()).days == {"y": DayProgress(1, "d")}
    assert read_up_to(cursor, "z", _events("a")) == cursor


@given(
    st.lists(st.sampled_from("abc"), max_size=6),
    st.none() | st.builds(DayProgress, st.integers(-3, 7), st.sampled_from("abc")),
)
def test_the_unread_events_are_counted_one_by_one_as_they_are_listed(
    ids: list[str], reached: DayProgress | None
) -> None:
    day = _events(*ids)
    wanted = sum(event.id != "c" for event in events_after(day, reached))
    assert number_after(iter(day), reached, lambda event: event.id != "c") == wanted


@given(
    st.dictionaries(
        st.dates().map(str), st.builds(DayProgress, st.integers(1, 99), st.text("ab", min_size=1)), max_size=4
    ),
    st.dictionaries(st.text(max_size=8), st.integers(1, 9), max_size=4),
)
def test_the_cursor_reads_back_as_written(days: dict[str, DayProgress], mentions: dict[str, int]) -> None:
    for by_model in ({}, dict(list(days.items())[:2])):
        cursor = LearningCursor(days, mentions, by_model)
        assert parse_cursor(render_cursor(cursor)) == cursor
