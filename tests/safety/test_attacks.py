"""One poisoned item: it is labelled wherever it is served, and retracting its origin leaves none of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.trust import ATTACKS, MARK, Attack, Reach, measure
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.lifecycle.premises import in_doubt
from clawmem.vault.vault import Vault
from tests.memory.facts.test_premises import facts


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda other: other.name)
def test_revoke_leaves_nothing_of_a_poisoned_item(attack: Attack, tmp_path: Path, environment: dict[str, str]) -> None:
    outcome = measure(attack, tmp_path / "poisoned", environment)
    assert outcome.before.facts >= 1 and outcome.before.pages >= 1 and outcome.before.agents == 2
    assert outcome.before.unlabelled == outcome.rejected.unlabelled == 0
    assert (outcome.revoked, outcome.left) == (Reach(0, 0, 0, 0), ())
    value = facts(Vault(tmp_path / "poisoned", environment)).values()
    # What is true stays, also what was condensed together with the poison; what rests on the poison is in doubt.
    assert sum(fact.status == ACTIVE and fact.fact.startswith("The site deploys to") for fact in value) == 4
    plans = [fact for fact in value if fact.category == "decision"]
    assert plans and all(map(in_doubt, plans))
    assert all(not fact.is_current for fact in value if MARK in fact.fact)
