"""`--at` returns what recall, list and context returned at that commit, whatever happened since."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.index.search.channels import FactFilter
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.browse import show_fact
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import recall
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.serving.histories import check_a_history


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(20))
def test_at_a_commit_is_what_was_given_then(tmp_path: Path, environment: dict[str, str], seed: int) -> None:
    assert check_a_history(tmp_path / "vault", environment, seed) > 0


def test_what_was_true_then_is_asked_without_an_access(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "Jane likes tea.", "entity": "areas/people/jane"}, caller.now)
    fact = remember(vault, [draft], caller).facts[0].fact
    then = "2026-11-22"
    assert show_fact(vault, fact.id, caller, then).fact == fact
    assert recall(vault, "tea", caller, FactFilter(as_of=then), 5).found
    assert "tea" in context(vault, caller, 500, "tea", as_of=then).text
    assert count_accesses(unfolded_accesses(vault)) == {}
    assert recall(vault, "tea", caller, FactFilter(), 5).found
    assert count_accesses(unfolded_accesses(vault))[fact.id].count == 1
