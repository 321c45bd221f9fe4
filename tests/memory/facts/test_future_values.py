"""Facts announced for a later day: both facts are correct until that day, and then the heartbeat replaces the old
one."""

from __future__ import annotations

from datetime import timedelta

from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.future_values import apply_future_values
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.doctor import doctor
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.context.context import context
from clawmem.vault.vault import Vault
from tests.plain_reader import learn_plainly as learn


def facts(vault: Vault) -> dict[str, Fact]:
    """Every fact by its statement."""
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def told(vault: Vault) -> dict[str, tuple[str, str]]:
    return {words: (fact.status, fact_dates(fact)) for words, fact in facts(vault).items()}


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
    known = facts(vault)
    assert (known[beta].status, known[beta].superseded_by) == ("superseded", known[acme].id)
    assert "yields_to" not in (known[beta].metadata or {})
    assert [(link.type, link.to) for link in known[acme].links] == [("supersedes", known[beta].id)]
    assert doctor(vault, monday).healthy
    assert apply_future_values(vault, monday).commit is None


def test_what_was_announced_by_hand_can_be_put_off_and_withdrawn(vault: Vault, caller: Caller) -> None:
    rome = {"fact": "The office is in Rome.", "entity": "projects/x", "valid_to": "2027-06-01"}
    remember(vault, [draft_from_record(rome, caller.now)], caller)
    old = facts(vault)["The office is in Rome."].id

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
    assert facts(vault)["The office is in Rome."].metadata is None
    assert doctor(vault, caller).healthy


def test_what_came_while_no_heartbeat_ran_is_settled_in_its_order(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "The office is in Rome.", "entity": "projects/x"}, caller.now)], caller)
    last = facts(vault)["The office is in Rome."].id
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
