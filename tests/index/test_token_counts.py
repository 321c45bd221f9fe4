"""Token counts in the index: a bound at first, exact after the heartbeat has counted."""

from __future__ import annotations

from clawmem.index.refresh import open_index
from clawmem.index.token_counts import count_exactly
from clawmem.memory.remember import remember
from clawmem.model.caller import Caller
from clawmem.model.draft import draft_from_record
from clawmem.model.tokens import token_bound
from clawmem.vault.vault import Vault


def _keep(vault: Vault, caller: Caller, *statements: str) -> None:
    remember(vault, [draft_from_record({"fact": statement}, caller.now) for statement in statements], caller)


def test_bounds_become_exact_and_only_new_ones_are_counted(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane likes tea", "Ravi likes chess")
    index = open_index(vault)
    rows = index.database.execute("SELECT tokens, exact FROM fact ORDER BY n").fetchall()
    assert rows == [(token_bound(f"- {text} (2026-11-21)\n"), 0) for text in ("Jane likes tea", "Ravi likes chess")]
    counted: list[str] = []

    def count(line: str) -> int:
        counted.append(line)
        return 7

    assert count_exactly(index, count) == 2
    assert counted == ["- Jane likes tea (2026-11-21)\n", "- Ravi likes chess (2026-11-21)\n"]
    assert index.database.execute("SELECT tokens, exact FROM fact").fetchall() == [(7, 1), (7, 1)]
    assert count_exactly(index, count) == 0
    index.close()
    _keep(vault, caller, "Mia likes boats")
    index = open_index(vault)
    assert count_exactly(index, count) == 1
    assert counted[2:] == ["- Mia likes boats (2026-11-21)\n"]
    index.close()
