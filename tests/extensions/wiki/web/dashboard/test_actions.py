"""Metrics: tiers, workflows, staleness, conflicts and weeks of a real vault."""

from __future__ import annotations

from datetime import timedelta

from clawmem.extensions.wiki.curator import curate
from clawmem.extensions.wiki.web.dashboard.actions import KnownWeeks, WeekChanges, memory_metrics
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, retract, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import NOW


def at(caller: Caller, days: int) -> Caller:
    """The caller so many days before."""
    return caller._replace(now=NOW - timedelta(days=days))


def add(vault: Vault, caller: Caller, text: str, **keys: object) -> str:
    draft = draft_from_record({"entity": "areas/people/jane", "fact": text, **keys}, caller.now)
    return remember(vault, [draft], caller).facts[0].fact.id


def test_facts_are_counted_by_tier_and_workflow(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane likes tea.")
    add(vault, at(caller, 20), "Jane has a boat.")
    add(vault, caller, "The crew meets on Mondays.", workflow="sailing", scope="team")
    add(vault, caller, "The hull is blue.", workflow="sailing", scope="project", project="boat")
    add(vault, caller._replace(agent="scout"), "The scout has a note.", entity="@scout/areas/notes")
    found = memory_metrics(vault, caller, 1)
    assert found.by_tier == {"hot": 4, "warm": 1, "cold": 0}
    assert found.by_workflow == {"": 3, "sailing": 2}
    assert (found.stale, found.conflicts) == (0, 0)


def test_a_fact_that_is_over_is_cold_and_a_pair_in_conflict_counts_once(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane rents a berth.", valid_to="2026-11-01")
    first, second = add(vault, caller, "The door is open."), add(vault, caller, "Nobody can enter.")
    link(vault, first, "contradicts", second, caller)
    found = memory_metrics(vault, caller, 1)
    assert found.by_tier["cold"] == 1 and found.conflicts == 1


def test_each_week_has_what_diff_says(vault: Vault, caller: Caller) -> None:
    """2026-11-21 is a Saturday; the vault was made in the same week."""
    old = add(vault, at(caller, 0), "Jane lives in Oslo.")
    wrong = add(vault, caller, "Jane has a cat.")
    later = caller._replace(now=NOW + timedelta(days=7))
    supersede(vault, old, draft_from_record({"fact": "Jane lives in Bergen."}, later.now), later)
    retract(vault, wrong, later, "It is a dog.")
    add(vault, later, "Jane has a dog.")
    known: KnownWeeks = {}
    before, this, after = memory_metrics(vault, later, 3, known).weeks
    assert (before.begins, this.begins, after.begins) == ("2026-11-09", "2026-11-16", "2026-11-23")
    assert before.changes == WeekChanges(0, 0, 0) and this.changes == WeekChanges(2, 0, 0)
    assert after.changes == WeekChanges(1, 1, 1)
    assert len(known) == 2 and memory_metrics(vault, later, 3, known).weeks == (before, this, after)


def test_a_week_has_the_numbers_of_its_report(vault: Vault, caller: Caller) -> None:
    """What was learned and corrected in one week is corrected, as in the report."""
    old = add(vault, caller, "Jane lives in Oslo.")
    supersede(vault, old, draft_from_record({"fact": "Jane lives in Bergen."}, caller.now), caller)
    wrong = add(vault, caller, "Jane has a cat.")
    retract(vault, wrong, caller, "It is a dog.")
    (week,) = memory_metrics(vault, caller, 1).weeks
    curation = curate(vault, caller._replace(now=caller.now + timedelta(days=3)))
    assert curation.report is not None
    assert "Facts: 1 corrected, 1 withdrawn, in 1 entity." in (vault.read_text(curation.report) or "")
    assert week.changes == WeekChanges(0, 1, 1)


def test_an_empty_vault_has_numbers(vault: Vault, caller: Caller) -> None:
    found = memory_metrics(vault, caller, 2)
    assert sum(found.by_tier.values()) == 0 and found.by_workflow == {}
    assert [week.changes for week in found.weeks] == [WeekChanges()] * 2
