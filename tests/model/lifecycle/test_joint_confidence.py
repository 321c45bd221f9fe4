"""A merge of two statements is surer than each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.lifecycle.reinforce import joint_confidence

SHARES = st.none() | st.floats(0, 1)
CASES = [
    ((0.5, 0.5), 0.75), ((0.7, 0.6), 0.88), ((0.9, 0.9, 0.9), 0.99), ((0.6, None), 0.6), ((None, None), None),
    ((), None),
]  # fmt: skip


@pytest.mark.parametrize(("items", "joint"), CASES)
def test_one_minus_the_product_of_the_doubts(items: tuple[float | None, ...], joint: float | None) -> None:
    assert joint_confidence(*items) == joint


@given(SHARES, SHARES)
def test_a_merge_is_never_less_sure(value: float | None, other: float | None) -> None:
    joint = joint_confidence(value, other)
    assert joint == joint_confidence(other, value)
    for each in (value, other):
        assert each is None or (joint is not None and each <= joint <= 1)
