"""Twenty thousand random merges, for `make soak`."""

from __future__ import annotations

import random

import pytest

from clawmem.model.merging.fields import POLICIES
from tests.model.merging import laws

pytestmark = pytest.mark.soak


def test_laws_of_merging_for_20_000_random_lives() -> None:
    chance = random.Random(20_000)
    for _ in range(4_000):
        seed = chance.getrandbits(32)
        laws.either_side_may_be_named_first(seed, chance.random() < 0.5)
        laws.once_is_enough(seed)
        laws.any_order_will_do(seed, chance.randint(3, 4))
        laws.machines_that_meet_in_turn_end_alike(seed, chance.randint(2, 4))
        laws.every_policy_is_safe(seed, chance.choice(POLICIES), chance.choice(("ours", "theirs")))
