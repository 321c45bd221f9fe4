"""Committed files that cannot be read: which of them can hide facts."""

from __future__ import annotations

import pytest

from clawmem.errors import IncompleteAnswer, PossiblyUnreadable
from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.unreadable import refuse_if_unreadable, unreadable_fact_files, unreadable_notices
from clawmem.vault.vault import Vault
from tests.faults.checks import git


def test_only_files_of_facts_hide_facts(vault: Vault, environment: dict[str, str]) -> None:
    def broken(path: str) -> None:
        (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
        (vault.root / path).write_text("{broken")
        git(vault.root, environment, "add", path)
        git(vault.root, environment, "commit", "-qm", "broken")

    broken("ledger/2026-11-20.jsonl")
    index = open_index(vault)
    assert unreadable_fact_files(index) == []
    refuse_if_unreadable(index, "fact_x")
    assert [isinstance(notice, IncompleteAnswer) for notice in unreadable_notices(index)] == [False]
    assert [isinstance(notice, IncompleteAnswer) for notice in unreadable_notices(index, facts=False)] == [True]
    index.close()
    broken("life/areas/boat/items.json")
    index = open_index(vault)
    assert unreadable_fact_files(index) == ["life/areas/boat/items.json"]
    assert unreadable_fact_files(index, "areas/boat") == ["life/areas/boat/items.json"]
    assert unreadable_fact_files(index, "areas/other") == []
    with pytest.raises(PossiblyUnreadable):
        refuse_if_unreadable(index, "fact_x")
    index.close()
