"""Token counts in the index: a bound at first, exact after the heartbeat has counted."""

from __future__ import annotations

import pytest

from clawmem.heartbeat.loop import run_heartbeat
from clawmem.index.refresh import open_index
from clawmem.index.tables.background import count_exactly, needs_counting
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.repair import reindex
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.pages.tokens import token_bound
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def _keep(vault: Vault, caller: Caller, *statements: str) -> None:
    remember(vault, [draft_from_record({"fact": statement}, caller.now) for statement in statements], caller)


def test_bounds_become_exact_and_only_new_ones_are_counted(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane likes tea", "Ravi likes chess")
    index = open_index(vault)
    rows = index.database.execute("SELECT tokens, exact FROM fact ORDER BY n").fetchall()
    assert rows == [(token_bound(f"- {text} (2026-11-21)\n"), 0) for text in ("Jane likes tea", "Ravi likes chess")]
    assert needs_counting(index)
    counted: list[str] = []

    def count(line: str) -> int:
        counted.append(line)
        return 7

    notes = index.database.execute("SELECT text FROM note ORDER BY n").fetchall()
    assert count_exactly(index, count) == 2 + len(notes)
    assert counted[:2] == ["- Jane likes tea (2026-11-21)\n", "- Ravi likes chess (2026-11-21)\n"]
    assert counted[2:] == [f"- {text}\n" for (text,) in notes]
    assert index.database.execute("SELECT tokens, exact FROM fact").fetchall() == [(7, 1), (7, 1)]
    assert index.database.execute("SELECT DISTINCT tokens FROM note").fetchall() == ([(7,)] if notes else [])
    assert not needs_counting(index)
    assert count_exactly(index, count) == 0
    index.close()
    _keep(vault, caller, "Mia likes boats")
    index = open_index(vault)
    assert count_exactly(index, count) == 1
    assert counted[-1:] == ["- Mia likes boats (2026-11-21)\n"]
    index.close()


@pytest.mark.usefixtures("without_vectors")
def test_the_heartbeat_counts_and_again_after_a_new_index(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane likes tea")
    for again in (False, True):
        if again:
            reindex(vault)
        assert _awaits(vault)
        run_heartbeat(vault, caller)
        assert not _awaits(vault)


def _awaits(vault: Vault) -> bool:
    index = open_index(vault)
    try:
        return needs_counting(index)
    finally:
        index.close()
