"""Premises: what rests on a changed fact is marked in the same commit, and unmarked when the premise is restored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.impact import make_fan
from clawmem.errors import InvalidInput
from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.memory.facts.premises import refresh_premises
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, merge, retract, supersede
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.lifecycle.premises import CONFIRMED, PremiseChange, in_doubt, premise_changes
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def _draft(caller: Caller, text: str, **more: object) -> Draft:
    return draft_from_record({"fact": text, **more}, caller.now)


def keep(vault: Vault, caller: Caller, text: str, *premises: Fact, **more: object) -> Fact:
    links = [{"type": "depends_on", "to": premise.id} for premise in premises]
    return remember(vault, [_draft(caller, text, links=links, **more)], caller).facts[0].fact


def facts(vault: Vault) -> dict[str, Fact]:
    index = open_index(vault)
    try:
        return {placed.fact.id: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def _changes(vault: Vault, fact: Fact) -> tuple[PremiseChange, ...]:
    return premise_changes(facts(vault)[fact.id])


def test_a_retracted_premise_marks_what_rests_on_it_in_the_same_commit(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The parser is slow.")
    first = keep(vault, caller, "We cache the parser.", premise, entity="projects/website")
    second = keep(vault, caller, "The cache needs a lock.", first, entity="projects/other")
    alone = keep(vault, caller, "The logo is blue.")
    before = vault.head().commit
    result = retract(vault, premise.id, caller)
    assert {placed.fact.id for placed in result.marked} == {first.id, second.id}
    assert any(first.id in notice and "in doubt" in notice for notice in result.notices)
    assert vault.git.run("rev-list", "--count", f"{before}..HEAD").strip() == b"1"
    assert _changes(vault, first) == (PremiseChange(premise.id, "retracted"),)
    assert _changes(vault, second) == (PremiseChange(first.id, "in doubt"),)
    assert _changes(vault, alone) == ()
    assert f"{first.id} is in doubt".encode() in vault.git.run("log", "-1", "--format=%B")
    undo(vault, premise.id, caller)
    assert not any(map(in_doubt, facts(vault).values()))


def test_a_superseded_premise_names_the_fact_in_its_place(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "Jane lives in Oslo.")
    resting = keep(vault, caller, "We meet in Oslo.", premise)
    new = supersede(vault, premise.id, _draft(caller, "Jane lives in Rome."), caller).facts[0].fact
    assert _changes(vault, resting) == (PremiseChange(premise.id, "superseded", new.id),)
    newest = supersede(vault, new.id, _draft(caller, "Jane lives in Bergen."), caller).facts[0].fact
    assert _changes(vault, resting) == (PremiseChange(premise.id, "superseded", newest.id),)
    result = link(vault, resting.id, "depends_on", newest.id, caller, instead=premise.id)
    assert [other_link.to for other_link in result.facts[0].fact.links] == [newest.id]
    assert _changes(vault, resting) == ()
    with pytest.raises(InvalidInput, match="has no 'depends_on' link"):
        link(vault, resting.id, "depends_on", newest.id, caller, instead=premise.id)


def test_a_premise_that_was_merged_or_restated_still_stands(vault: Vault, caller: Caller) -> None:
    fact, other = keep(vault, caller, "Jane likes tea."), keep(vault, caller, "Jane likes green tea.")
    resting = keep(vault, caller, "We buy tea.", fact)
    whole = merge(vault, [fact.id, other.id], _draft(caller, "Jane likes tea, most of all green tea."), caller)
    assert _changes(vault, resting) == ()
    retract(vault, whole.facts[0].fact.id, caller)
    assert _changes(vault, resting) == (PremiseChange(fact.id, "retracted"),)


def test_a_new_fact_and_a_new_link_on_a_fallen_premise_are_marked(vault: Vault, caller: Caller) -> None:
    premise, other = keep(vault, caller, "The parser is slow."), keep(vault, caller, "We keep the old parser.")
    retract(vault, premise.id, caller)
    late = keep(vault, caller, "We cache the parser.", premise)
    assert _changes(vault, late) == (PremiseChange(premise.id, "retracted"),)
    result = link(vault, other.id, "depends_on", premise.id, caller)
    assert premise_changes(result.facts[0].fact) == (PremiseChange(premise.id, "retracted"),)
    assert _changes(vault, other) == (PremiseChange(premise.id, "retracted"),)


def test_a_circle_of_premises_is_cleared_with_its_cause(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The parser is slow.")
    fact = keep(vault, caller, "We cache.", premise)
    other = keep(vault, caller, "We need memory.", fact)
    link(vault, fact.id, "depends_on", other.id, caller)
    retract(vault, premise.id, caller)
    assert _changes(vault, fact) == (PremiseChange(premise.id, "retracted"), PremiseChange(other.id, "in doubt"))
    undo(vault, premise.id, caller)
    assert not any(map(in_doubt, facts(vault).values()))


def test_a_day_for_review_that_passes_marks_what_rests_on_it_at_the_heartbeat(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The license is valid.", details={"review_by": "2026-11-25"})
    resting = keep(vault, caller, "We may ship.", premise)
    assert refresh_premises(vault, caller).commit is None
    later = caller._replace(now=caller.now + timedelta(days=30))
    assert len(refresh_premises(vault, later, dry_run=True).facts) == 1
    assert refresh_premises(vault, later).commit is not None
    assert _changes(vault, resting) == (PremiseChange(premise.id, "stale"),)
    assert refresh_premises(vault, later).commit is None


def test_an_undo_is_not_stopped_by_marks_that_came_later(vault: Vault, caller: Caller) -> None:
    first, second = keep(vault, caller, "The parser is slow."), keep(vault, caller, "Memory is cheap.")
    resting = keep(vault, caller, "We cache the parser.", first, second)
    retract(vault, first.id, caller)
    retract(vault, second.id, caller)
    undo(vault, first.id, caller)
    assert _changes(vault, resting) == (PremiseChange(second.id, "retracted"),)


def test_callers_cannot_set_marks_or_confirmations(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The parser is slow.")
    forged = {CONFIRMED: {premise.id: "retracted"}, "premises_changed": [{"premise": "fact_1", "why": "stale"}]}
    resting = keep(vault, caller, "We cache the parser.", premise, metadata={**forged, "kept": 1})
    assert resting.metadata == {"kept": 1}
    retract(vault, premise.id, caller)
    assert in_doubt(facts(vault)[resting.id])


def test_thousands_of_dependents_are_marked_in_one_commit(
    tmp_path: Path, environment: dict[str, str], caller: Caller
) -> None:
    vault = Vault(make_fan(tmp_path / "fan", environment, 2_000), environment)
    result = retract(vault, "fact_00000000", caller)
    assert len(result.marked) == 2_000
    assert sum(map(in_doubt, facts(vault).values())) == 2_000
