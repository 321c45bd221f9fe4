"""Premises: what rests on a changed fact is marked in the same commit, and unmarked when the premise is restored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.impact import make_fan
from clawmem.errors import InvalidInput
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.premises import apply_future_values, refresh_premises
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, merge, retract, supersede
from clawmem.memory.health.doctor import doctor
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.lifecycle.premises import CONFIRMED, PremiseChange, in_doubt, premise_changes
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.context.context import context
from clawmem.vault.vault import Vault
from tests.plain_reader import learn_plainly as learn

pytestmark = pytest.mark.usefixtures("without_vectors")


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


def test_a_thousand_dependents_are_marked_in_one_commit(
    tmp_path: Path, environment: dict[str, str], caller: Caller
) -> None:
    vault = Vault(make_fan(tmp_path / "fan", environment, 1_000), environment)
    result = retract(vault, "fact_00000000", caller)
    assert len(result.marked) == 1_000
    assert sum(map(in_doubt, facts(vault).values())) == 1_000


def facts_by_statement(vault: Vault) -> dict[str, Fact]:
    """Every fact by its statement."""
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def told(vault: Vault) -> dict[str, tuple[str, str]]:
    return {words: (fact.status, fact_dates(fact)) for words, fact in facts_by_statement(vault).items()}


def test_what_is_said_of_a_coming_day_waits_for_it(vault: Vault, caller: Caller) -> None:
    items = ["I work at Beta.", "From Monday I work at Acme."]
    ingest(
        vault,
        [Message(n, "user", text, f"2026-11-21T09:0{n}:00Z", "Nora") for n, text in enumerate(items)],
        caller,
        "x",
    )
    assert [candidate.outcome for candidate in learn(vault, caller).candidates] == ["added", "updated"]
    beta, acme = "Nora works at Beta.", "Nora works at Acme."
    assert told(vault) == {beta: ("active", "until 2026-11-23"), acme: ("active", "from 2026-11-23")}
    assert "! " not in context(vault, caller, 2000, "where does Nora work?").text
    assert apply_future_values(vault, caller).commit is None
    monday = caller._replace(now=caller.now + timedelta(days=2))
    assert "! " not in context(vault, monday, 2000, "where does Nora work?").text
    assert [fact.fact for fact in apply_future_values(vault, monday, dry_run=True).effective] == [acme]
    result = apply_future_values(vault, monday)
    assert [fact.fact for fact in result.effective] == [acme] and result.commit
    known = facts_by_statement(vault)
    assert (known[beta].status, known[beta].superseded_by) == ("superseded", known[acme].id)
    assert "yields_to" not in (known[beta].metadata or {})
    assert [(link.type, link.to) for link in known[acme].links] == [("supersedes", known[beta].id)]
    assert doctor(vault, monday).healthy
    assert apply_future_values(vault, monday).commit is None


def test_what_was_announced_by_hand_can_be_put_off_and_withdrawn(vault: Vault, caller: Caller) -> None:
    rome = {"fact": "The office is in Rome.", "entity": "projects/x", "valid_to": "2027-06-01"}
    remember(vault, [draft_from_record(rome, caller.now)], caller)
    old = facts_by_statement(vault)["The office is in Rome."].id

    def announce(reference: str, words: str, day: str) -> str:
        draft = draft_from_record({"fact": words, "valid_from": day}, caller.now)
        return supersede(vault, reference, draft, caller, "the lease").facts[0].fact.id

    oslo = announce(old, "The office is in Oslo.", "2026-12")
    assert told(vault)["The office is in Rome."] == ("active", "until 2026-12-01")
    bergen = announce(oslo, "The office is in Bergen.", "2027-01-01")
    assert apply_future_values(vault, caller).commit is None
    assert told(vault) == {
        "The office is in Rome.": ("active", "until 2026-12-01"),
        "The office is in Oslo.": ("active", "2026-12-01 to 2027-01-01"),
        "The office is in Bergen.": ("active", "from 2027-01-01"),
    }
    retract(vault, oslo, caller)
    assert apply_future_values(vault, caller).commit
    assert told(vault)["The office is in Rome."] == ("active", "until 2027-01-01")
    retract(vault, bergen, caller)
    assert [fact.id for fact in apply_future_values(vault, caller).reopened] == [old]
    assert told(vault)["The office is in Rome."] == ("active", "until 2027-06-01")
    assert facts_by_statement(vault)["The office is in Rome."].metadata is None
    assert doctor(vault, caller).healthy


def test_what_came_while_no_heartbeat_ran_is_settled_in_its_order(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "The office is in Rome.", "entity": "projects/x"}, caller.now)], caller)
    last = facts_by_statement(vault)["The office is in Rome."].id
    for words, day in (("The office is in Oslo.", "2026-12-01"), ("The office is in Bergen.", "2027-01-01")):
        draft = draft_from_record({"fact": words, "valid_from": day}, caller.now)
        last = supersede(vault, last, draft, caller).facts[0].fact.id
    late = caller._replace(now=caller.now + timedelta(days=90))
    assert len(apply_future_values(vault, late).effective) == 2
    assert told(vault) == {
        "The office is in Rome.": ("superseded", "until 2026-12-01"),
        "The office is in Oslo.": ("superseded", "2026-12-01 to 2027-01-01"),
        "The office is in Bergen.": ("active", "from 2027-01-01"),
    }
    assert doctor(vault, late).healthy
