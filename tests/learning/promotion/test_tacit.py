"""Patterns become proposals for an agent's TACIT.md, each once."""

from __future__ import annotations

from clawmem.learning.promotion.tacit import propose_tacit
from clawmem.memory.facts.remember import remember
from clawmem.memory.review.proposals import read_proposals
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import Command

WISHES = ("Nora prefers short reports.", "Nora wants reports on Friday.", "Nora likes a report with a table.")


def test_a_pattern_is_proposed_once_for_the_agents_page(vault: Vault, caller: Caller) -> None:
    finance = caller._replace(agent="finance")
    for wish in WISHES:
        record = {"fact": wish, "category": "preference", "subject": "Nora", "entity": "areas/people/nora"}
        remember(vault, [draft_from_record(record, caller.now)], finance)
    assert len(propose_tacit(vault, caller, dry_run=True).proposals) == 1
    assert read_proposals(vault).proposals == ()
    result = propose_tacit(vault, caller)
    (filed,) = read_proposals(vault).open
    assert result.proposals == (filed,)
    assert (filed.kind, filed.agent, filed.does) == ("tacit", "finance", "line")
    assert filed.line is not None
    assert filed.line.page == "agents/finance/TACIT.md"
    assert filed.line.text.startswith("- On 'report': Nora ")
    assert all(wish in filed.line.text for wish in WISHES)
    assert propose_tacit(vault, caller).commit is None


def test_an_approved_pattern_stands_on_the_page_and_is_not_proposed_again(
    vault: Vault, caller: Caller, clawmem: Command
) -> None:
    finance = caller._replace(agent="finance")
    for wish in WISHES:
        record = {"fact": wish, "category": "preference", "subject": "Nora", "entity": "areas/people/nora"}
        remember(vault, [draft_from_record(record, caller.now)], finance)
    (waiting,) = propose_tacit(vault, caller).proposals
    result = clawmem("review", "approve", waiting.id)
    assert result.code == 0, result.err
    page = vault.read_text("agents/finance/TACIT.md") or ""
    assert all(wish in page for wish in WISHES)
    assert propose_tacit(vault, caller).proposals == ()
