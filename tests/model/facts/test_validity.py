"""When facts are true: the moment to ask about, for a fact that held on some days."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import ACTIVE, SUPERSEDED, Fact
from clawmem.model.facts.validity import ended_at, is_over, last_moment_within, true_at
from clawmem.model.lifecycle.chain import superseded
from tests.conftest import examples

_DAYS = [(date(2024, 2, 26) + timedelta(days=n)).isoformat() for n in range(8)]
_TIMES = st.sampled_from([None, *_DAYS, *(f"{day}T{hour}:30:00Z" for day in _DAYS for hour in ("00", "12"))])


def _replaced(valid_from: str | None, valid_to: str | None) -> Fact:
    """A fact whose successor began at `valid_to`."""
    return a_fact(valid_from, valid_to, status=SUPERSEDED)


def a_fact(valid_from: str | None, valid_to: str | None, status: str = ACTIVE, category: str = "fact") -> Fact:
    return Fact(
        *("fact_0a0a0a0a", "The fair is on.", category, "2023-01-05T00:00:00Z", "user"),
        status=status,
        valid_from=valid_from,
        valid_to=valid_to,
    )


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
    assert last_moment_within(_replaced(valid_from, valid_to), "2024-01-01", "2024-12-31") == moment


@examples(40, 100)
@given(_TIMES, _TIMES, st.sampled_from(_DAYS), st.sampled_from(_DAYS))
def test_the_fact_holds_at_it_and_there_is_none_only_where_it_holds_nowhere(
    valid_from: str | None, valid_to: str | None, text: str, other: str
) -> None:
    first, last = sorted((text, other))
    moment = last_moment_within(_replaced(valid_from, valid_to), first, last)
    days = [day for day in _DAYS if first <= day <= last]
    instants = [f"{day}T{hour:02}:{minute:02}:00Z" for day in days for hour in range(24) for minute in (0, 30)]
    if moment is None:
        assert not any(true_at(_replaced(valid_from, valid_to), each) for each in (*days, *instants))
    else:
        assert true_at(_replaced(valid_from, valid_to), moment)
        assert first <= moment[:10] <= last
        if len(moment) == 10:
            assert not any(true_at(_replaced(valid_from, valid_to), day) for day in days if day > moment)


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "last", "after"),
    [
        (None, "2024-02-29", "2024-02-29", "2024-03-01"),
        ("2024-02-29", "2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
        (None, "2024-02", "2024-02-29T23:59:59Z", "2024-03-01"),
        ("2023", "2023", "2023-12-31", "2024-01-01"),
        (None, "2024-02-29T10:00:00Z", "2024-02-29T09:59:59Z", "2024-02-29T10:00:00Z"),
    ],
)
def test_an_end_that_was_given_includes_its_day_month_or_year(
    valid_from: str | None, valid_to: str, last: str, after: str
) -> None:
    fact = a_fact(valid_from, valid_to)
    assert true_at(fact, last) and not is_over(fact, last)
    assert not true_at(fact, after) and is_over(fact, after)


def test_the_day_on_which_a_successor_begins_belongs_to_the_successor() -> None:
    old = superseded(a_fact("2024-01-01", None), "fact_1b1b1b1b", "2024-02-29")
    assert old.valid_to == "2024-02-29"
    assert true_at(old, "2024-02-28") and not true_at(old, "2024-02-29")


def test_an_end_that_was_given_stays_where_something_else_follows_later() -> None:
    fact = a_fact("2024-01-01", "2024-02-28")
    for since in ("2024-03-05", "2024-02-29"):
        old = superseded(fact, "fact_1b1b1b1b", since)
        assert true_at(old, "2024-02-28") and not true_at(old, "2024-02-29")
    assert ended_at(fact, "2024-02-10") == "2024-02-10"


@pytest.mark.parametrize("category", ["plan", "goal"])
def test_a_plan_for_a_later_day_is_over_after_that_day(category: str) -> None:
    plan = a_fact("2023-01-09", None, category=category)
    assert not is_over(plan, "2023-01-09")
    assert is_over(plan, "2023-01-10")
    assert not is_over(a_fact("2023-01-05", None, category=category), "2024-01-01"), "since the day it was said"
    assert not is_over(a_fact("2023-01-09", None), "2024-01-01"), "no plan"
