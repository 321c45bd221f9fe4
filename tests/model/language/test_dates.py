"""Dates as people type them: the meaning of a month or a year alone, in every option."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.language.dates import (
    after_end,
    covers,
    days_after,
    days_of,
    iso_week,
    last_full_week,
    night_of,
    parse_end,
    parse_moment,
    parse_start,
    parse_state,
    sortable,
    week_began,
)

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(("text", "days"), [("2w", 14), ("2 weeks", 14), ("10d", 10), ("tomorrow", 1)])
def test_a_span_of_time_is_ahead_where_an_end_is_asked_for(text: str, days: int) -> None:
    assert parse_end(text, NOW, ahead=True) == (NOW.date() + timedelta(days=days)).isoformat()
    assert text == "tomorrow" or parse_end(text, NOW) < NOW.date().isoformat()


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2020", "2020-01-01", "2020-12-31"),
        (" 2020 ", "2020-01-01", "2020-12-31"),
        ("2020-02", "2020-02-01", "2020-02-29"),
        ("2021-02", "2021-02-01", "2021-02-28"),
        ("2020-12", "2020-12-01", "2020-12-31"),
        ("9999", "9999-01-01", "9999-12-31"),
    ],
)
def test_a_month_or_a_year_alone_begins_on_its_first_day_and_ends_on_its_last(text: str, first: str, last: str) -> None:
    assert (parse_start(text, NOW), parse_end(text, NOW), parse_state(text, NOW)) == (first, last, last)
    assert (sortable(text), sortable(text, end=True)) == (first, last)


@pytest.mark.parametrize(
    ("text", "state"),
    [("2026", "2026-11-21"), ("2026-11", "2026-11-21"), ("2026-10", "2026-10-31"), ("2027", "2027-12-31")],
)
def test_the_state_of_what_is_not_over_yet_is_that_of_today(text: str, state: str) -> None:
    assert parse_state(text, NOW) == state


@pytest.mark.parametrize("text", ["2020-13", "2020-00", "0000", "202", "20200", "2020-5", "", "2020-05-", "²⁰²⁰"])
def test_what_is_no_date_is_none_anywhere(text: str) -> None:
    assert days_of(text) is None
    for parse in (parse_start, parse_end, parse_state, parse_moment):
        with pytest.raises(InvalidInput, match="is not a date"):
            parse(text, NOW)


@pytest.mark.parametrize("text", ["2020-05-03", "2020-05-03T04:05:06Z", "today", "2w"])
def test_days_and_times_are_the_same_for_a_beginning_an_end_and_a_state(text: str) -> None:
    assert {parse(text, NOW) for parse in (parse_start, parse_end, parse_state)} == {parse_moment(text, NOW)}


def test_a_weekday_is_the_last_one_or_where_it_looks_ahead_the_coming_one() -> None:
    assert NOW.date().isoformat() == "2026-11-21"
    for parse in (parse_start, parse_end):
        assert (parse("friday", NOW), parse("friday", NOW, ahead=True)) == ("2026-11-20", "2026-11-27")


def test_where_one_day_is_asked_for_a_month_is_not_taken_for_it() -> None:
    with pytest.raises(InvalidInput, match="'2020-05' is not a day"):
        parse_moment("2020-05", NOW, "day")


def test_what_ended_in_a_month_or_year_held_until_its_last_day() -> None:
    assert covers(sortable("2020"), after_end("2020"), "2020-12-31")
    assert not covers(sortable("2020"), after_end("2020"), "2021-01-01")
    assert covers(None, after_end("2020-05"), "2020-05-31")
    assert after_end("2020-05-31T23:59:59Z") == after_end("2020-05-31")


MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))


@given(MOMENTS)
def test_a_week_began_within_seven_days_on_a_sunday(now: datetime) -> None:
    began = week_began(now)
    assert timedelta(0) <= now - began < timedelta(days=7)
    assert began.strftime("%A %H:%M:%S.%f") == "Sunday 00:00:00.000000"
    assert week_began(began) == began


def test_a_night_comes_at_its_hour() -> None:
    assert night_of(datetime(2026, 11, 21, 2, 59, tzinfo=UTC)) == "2026-11-19"
    assert night_of(datetime(2026, 11, 21, 3, 0, tzinfo=UTC)) == "2026-11-20"


def test_nights_that_were_missed_are_made_up_for_and_no_night_comes_twice() -> None:
    assert days_after(None, "2026-11-20", 7) == ("2026-11-20",)
    assert days_after("2026-11-20", "2026-11-20", 7) == ()
    assert days_after("2026-11-21", "2026-11-20", 7) == ()
    assert days_after("2026-10-30", "2026-11-02", 7) == ("2026-10-31", "2026-11-01", "2026-11-02")
    assert days_after("2025-01-01", "2026-11-02", 2) == ("2026-11-01", "2026-11-02")


def test_iso_weeks() -> None:
    assert iso_week(date(2026, 11, 22)) == ("2026-W47", date(2026, 11, 16), date(2026, 11, 22))
    assert iso_week(date(2027, 1, 1)).name == "2026-W53"  # a week belongs to the year of its Thursday
    assert last_full_week(datetime(2026, 11, 23, 0, tzinfo=UTC)).name == "2026-W47"
    assert last_full_week(datetime(2026, 11, 22, 23, tzinfo=UTC)).name == "2026-W46"
