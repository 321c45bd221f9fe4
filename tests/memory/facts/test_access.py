"""Folding counts each use once, and what concerns a file that does not parse waits."""

from __future__ import annotations

from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.lookup import find_fact
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.state.journal import count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault

USED = "2026-11-21T10:00:00Z"


def test_uses_of_an_unreadable_file_wait_in_the_journal(vault: Vault, caller: Caller) -> None:
    names = ("resources/bike", "resources/car")
    drafts = [draft_from_record({"fact": f"{name} is green", "entity": name}, caller.now) for name in names]
    bike, car = (one.fact.id for one in remember(vault, drafts, caller).facts)
    for fact_id in (bike, bike, car):
        assert record_access(vault, USED, [fact_id]) is None
    path = vault.root / "life/resources/bike/items.json"
    whole = path.read_bytes()
    path.write_text("[\noops\n]\n")
    assert fold_accesses(vault, caller).facts == 1
    assert {key: one.count for key, one in count_accesses(unfolded_accesses(vault)).items()} == {bike: 2}
    assert fold_accesses(vault, caller).commits == ()
    path.write_bytes(whole)
    assert fold_accesses(vault, caller).facts == 1
    assert unfolded_accesses(vault) == b""
    index = open_index(vault)
    counts = [find_fact(index, one).fact.access_count for one in (bike, car)]
    index.close()
    assert counts == [2, 1]
