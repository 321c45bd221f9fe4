"""One thing under both spellings."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.round_state import other_spellings

CASES = [
    ("Dana's favourite colour", ("Dana's favorite color",)),
    ("Dana's favorite color", ("Dana's favourite colour",)),
    ("Dana's favourite color", ("Dana's favorite color", "Dana's favourite colour")),
    ("Dana's favourites and colours", ("Dana's favorites and colors",)),
    ("Dana's favor", ("Dana's favour",)),
    ("Dana's car", ()),
    ("the Colorado tour", ()),
]


@pytest.mark.parametrize(("text", "others"), CASES)
def test_other_spellings(text: str, others: tuple[str, ...]) -> None:
    assert other_spellings(text) == others
