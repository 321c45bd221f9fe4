"""MEMORY.md on disk: its generated part follows the facts, the rest stays, time alone changes nothing."""

from __future__ import annotations

from datetime import timedelta

from clawmem.memory.facts.remember import remember
from clawmem.memory.pages.refresh import refresh_memory
from clawmem.memory.review.proposals import read_proposals
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve
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


def test_both_sides_of_a_conflict_are_marked_and_the_word_of_the_person_is_first(vault: Vault, caller: Caller) -> None:
    said = {"entity": "areas/people/ann", "subject": "Ann", "predicate": "lives_in", "importance": 0.9}
    own = {**said, "fact": "Ann lives in Oslo.", "object": "Oslo"}
    (mine,) = remember(vault, [draft_from_record(own, caller.now)], caller).facts
    later = caller._replace(now=caller.now + timedelta(hours=1), agent="scout")
    theirs = {**said, "fact": "Ann lives in Rome.", "object": "Rome", "importance": 0.95}
    (other,) = remember(vault, [draft_from_record(theirs, later.now)], later).facts
    refresh_memory(vault, caller)
    lines = [line for line in (vault.root / "MEMORY.md").read_text().splitlines() if "Ann lives" in line]
    assert ["Oslo" in line for line in lines] == [True, False]
    assert f"in conflict with {other.fact.id}, not settled" in lines[0]
    assert f"in conflict with {mine.fact.id}, not settled" in lines[1]
    (asked,) = read_proposals(vault).open
    approve(vault, asked.id, caller, keep=mine.fact.id)
    refresh_memory(vault, caller)
    text = (vault.root / "MEMORY.md").read_text()
    assert "Rome" not in text
    assert "in conflict" not in text
