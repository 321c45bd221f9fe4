"""MEMORY.md on disk: its generated part follows the facts, the rest stays, time alone changes nothing."""

from __future__ import annotations

from datetime import timedelta

from clawmem.memory.facts.remember import remember
from clawmem.memory.pages.refresh import refresh_memory
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def test_it_follows_the_facts_and_nothing_else(vault: Vault, caller: Caller) -> None:
    page = vault.root / "MEMORY.md"
    page.write_text(page.read_text().replace("You may write here too.", "Mine.") + "\nbelow\n")
    own = {"fact": "The safe is blue", "importance": 0.9, "entity": "@finance/areas/office"}
    for record in ({"fact": "Ada is allergic to nuts", "importance": 0.9}, own):
        remember(vault, [draft_from_record(record, caller.now)], caller)
    assert refresh_memory(vault, caller, dry_run=True).changed
    assert refresh_memory(vault, caller).commit
    text = page.read_text()
    assert "Mine." in text
    assert text.endswith("\nbelow\n")
    assert "## Important\n\n- Ada is allergic to nuts (2026-11-21, fact_" in text
    assert "safe" not in text
    head = vault.head()
    assert not refresh_memory(vault, caller._replace(now=caller.now + timedelta(days=400))).changed
    assert vault.head() == head
