"""The merge of whole vaults: the same from either side, in any order, twice as once; nothing lost, chains valid."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.model.merging.policy import POLICIES
from tests.model.merging import laws

SEEDS = st.integers(0, 2**32)


def runs(number: int) -> settings:
    """So many random lives."""
    return settings(max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@runs(300)
@given(SEEDS, st.booleans())
def test_either_side_may_be_named_first(seed: int, few_ids: bool) -> None:
    laws.either_side_may_be_named_first(seed, few_ids)


@runs(150)
@given(SEEDS)
def test_once_is_enough(seed: int) -> None:
    laws.once_is_enough(seed)


@runs(250)
@given(SEEDS, st.integers(3, 4))
def test_any_order_will_do(seed: int, clones: int) -> None:
    laws.any_order_will_do(seed, clones)


@runs(200)
@given(SEEDS, st.integers(2, 4))
def test_machines_that_meet_in_turn_end_alike(seed: int, clones: int) -> None:
    laws.machines_that_meet_in_turn_end_alike(seed, clones)


@runs(100)
@given(SEEDS, st.sampled_from(POLICIES), st.sampled_from(("ours", "theirs")))
def test_every_policy_is_safe(seed: int, name: str, newer: str) -> None:
    laws.every_policy_is_safe(seed, name, newer)


def test_an_order_that_one_side_changed_counts() -> None:
    """A life of the long run: one machine put facts in another order while it moved their entity."""
    laws.machines_that_meet_in_turn_end_alike(3_492_962_422, 4)
