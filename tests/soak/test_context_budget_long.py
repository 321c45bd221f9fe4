"""Two thousand vaults and budgets, for `make soak`."""

from __future__ import annotations

import random

import pytest

from clawmem.index.tables.background import exact_counter
from clawmem.vault.vault import Vault
from tests.serving.budgets import check_one

pytestmark = pytest.mark.soak


def test_2000_budgets_are_kept(vault: Vault) -> None:
    count, chance = exact_counter(), random.Random(1)
    served = sum(check_one(vault, 10**9 + seed, chance.randrange(20, 4000), count) is not None for seed in range(2_100))
    assert served >= 2_000
