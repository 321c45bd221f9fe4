"""Dates in words."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.language.date_words import find_dates

SAID = date(2024, 5, 15)  # a Wednesday
CASES = [
    ("yesterday", False, "2024-05-14"),
    ("the day after tomorrow", True, "2024-05-17"),
    ("last night", False, "2024-05-14"),
    ("last Friday", False, "2024-05-10"),
    ("next Friday", True, "2024-05-17"),
    ("on Monday", False, "2024-05-13"),
    ("on Monday", True, "2024-05-20"),
    ("on Monday week", False, "2024-05-27"),
    ("Friday fortnight", True, "2024-05-31"),
    ("on Monday week before last", True, "2024-05-20"),
    ("last week", False, "2024-05-06"),
    ("last weekend", False, "2024-05-11"),
    ("this weekend", True, "2024-05-18"),
    ("next month", True, "2024-06-01"),
    ("last month", False, "2024-04-01"),
    ("last year", False, "2023-01-01"),
    ("last summer", False, "2023-06-01"),
    ("next winter", True, "2024-12-01"),
    ("two weeks ago", False, "2024-05-01"),
    ("a month ago", False, "2024-04-01"),
    ("3 years ago", False, "2021-01-01"),
    ("in three days", True, "2024-05-18"),
    ("a few years ago", False, None),
    ("in 2019", False, "2019-01-01"),
    ("on March 9", False, "2024-03-09"),
    ("on 9 March 2020", False, "2020-03-09"),
    ("on the first of February", True, "2025-02-01"),
    ("on the twenty-first of June 2027", True, "2027-06-21"),
    ("2023-02-03", False, "2023-02-03"),
    ("in November", False, "2023-11-01"),
    ("in November", True, "2024-11-01"),
]


@pytest.mark.parametrize(("words", "ahead", "day"), CASES)
def test_words_become_days(words: str, ahead: bool, day: str | None) -> None:
    (found,) = find_dates(f"We met {words}.", SAID, ahead)
    assert found.day == day


@pytest.mark.parametrize(
    "words",
    [
        "I may go",
        "second to none",
        "in the end",
        "on March 45",
        "the first of many",
        "on a Friday",
        "on Tuesday, Thursday and Sunday morning",
        "Sunday best practice"[7:],
    ],
)
def test_other_words_are_no_dates(words: str) -> None:
    assert find_dates(words, SAID) == ()


@given(st.text(max_size=200), st.dates())
def test_any_text_and_day_is_safe(text: str, day: date) -> None:
    for found in find_dates(text, day):
        assert 0 <= found.start < found.end <= len(text)
