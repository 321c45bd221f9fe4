"""When facts are true: the moment to ask about, for a fact that held on some days."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.validity import last_moment_within
from clawmem.model.language.dates import covers

_DAYS = [(date(2024, 2, 26) + timedelta(days=n)).isoformat() for n in range(8)]
_TIMES = st.sampled_from([None, *_DAYS, *(f"{day}T{hour}:30:00Z" for day in _DAYS for hour in ("00", "12"))])


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "moment"),
    [
        ("2020-01-01", "2025-06-01", "2024-12-31"),
        ("2020-01-01", "2024-06-01", "2024-05-31"),
        (None, "2024-06-01T10:00:00Z", "2024-05-31"),
        ("2024-06-01T08:00:00Z", "2024-06-01T10:00:00Z", "2024-06-01T08:00:00Z"),
        ("2020-01-01", "2024-01-01T10:00:00Z", "2024-01-01T00:00:00Z"),
        ("2025-01-01", None, None),
        ("2020-01-01", "2024-01-01", None),
        ("2020-01-01", None, "2024-12-31"),
    ],
)
def test_the_moment_of_a_year(valid_from: str | None, valid_to: str | None, moment: str | None) -> None:
    assert last_moment_within(valid_from, valid_to, "2024-01-01", "2024-12-31") == moment


@given(_TIMES, _TIMES, st.sampled_from(_DAYS), st.sampled_from(_DAYS))
def test_the_fact_holds_at_it_and_there_is_none_only_where_it_holds_nowhere(
    valid_from: str | None, valid_to: str | None, one: str, other: str
) -> None:
    first, last = sorted((one, other))
    moment = last_moment_within(valid_from, valid_to, first, last)
    days = [day for day in _DAYS if first <= day <= last]
    instants = [f"{day}T{hour:02}:{minute:02}:00Z" for day in days for hour in range(24) for minute in (0, 30)]
    if moment is None:
        assert not any(covers(valid_from, valid_to, each) for each in (*days, *instants))
    else:
        assert covers(valid_from, valid_to, moment)
        assert first <= moment[:10] <= last
        if len(moment) == 10:
            assert not any(covers(valid_from, valid_to, day) for day in days if day > moment)
