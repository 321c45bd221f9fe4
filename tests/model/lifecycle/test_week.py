"""Weeks begin at a set moment, and nights are made up for."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.lifecycle.week import days_after, iso_week, last_full_week, night_of, week_began, week_named

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
    assert week_named("2026-w53").first == date(2026, 12, 28)
    for wrong in ("2027-W53", "2026-W00", "2026-47", "W47", "2026-W4", "٢٠٢٦-W47"):
        with pytest.raises(InvalidInput):
            week_named(wrong)
