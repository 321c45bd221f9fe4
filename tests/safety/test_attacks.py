"""One poisoned item: it is labelled wherever it is served, and `revoke` leaves none of it, nor what was made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.trust import ATTACKS, MARK, Attack, Reach, measure
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.lifecycle.premises import in_doubt
from clawmem.vault.vault import Vault
from tests.memory.facts.test_premises import facts


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.name)
def test_revoke_leaves_nothing_of_a_poisoned_item(attack: Attack, tmp_path: Path, environment: dict[str, str]) -> None:
    done = measure(attack, tmp_path / "poisoned", environment)
    assert done.before.facts >= 1 and done.before.pages >= 1 and done.before.agents == 2
    assert done.before.unlabelled == done.rejected.unlabelled == 0
    assert (done.revoked, done.left) == (Reach(0, 0, 0, 0), ())
    held = facts(Vault(tmp_path / "poisoned", environment)).values()
    # What is true stays, also what was condensed together with the poison; what rests on the poison is in doubt.
    assert sum(one.status == ACTIVE and one.fact.startswith("The site deploys to") for one in held) == 4
    plans = [one for one in held if one.category == "decision"]
    assert plans and all(map(in_doubt, plans))
    assert all(not one.is_current for one in held if MARK in one.fact)
