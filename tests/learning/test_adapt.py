"""The store of adaptation: written only where a value changes, with its reason, and read back by promotion."""

from __future__ import annotations

import json

import pytest

from clawmem.errors import Unreadable
from clawmem.learning.adapt import PATH, adapt, current_adaptation
from clawmem.learning.by_model.telemetry import Extraction
from clawmem.learning.ingest import ingest
from clawmem.learning.learn import learn_from
from clawmem.learning.promote import promote
from clawmem.learning.rules.rules import statements
from clawmem.learning.unread import after_cursor
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.proposals.promotion import Adaptation, PromotionOutcomes
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault

TODAY = "2026-11-21"


def test_withdrawn_promotions_make_it_stricter_once(vault: Vault, caller: Caller) -> None:
    keys = {"category": "decision", "importance": 0.9, "entity": "projects/billing"}
    words = [f"We decided on engine {text} in Oslo." for text in "ABCDEF"]
    drafts = [draft_from_record({"fact": word, **keys}, caller.now) for word in words]
    kept = remember(vault, drafts, caller).facts
    assert len(promote(vault, caller, TODAY).kept) == 6
    assert adapt(vault, caller, TODAY).commit is None
    for remembered_fact in kept:
        retract(vault, remembered_fact.fact.id, caller)
    result = adapt(vault, caller, TODAY)
    assert result.commit
    assert (result.before, result.after) == (Adaptation(8, 0.6, 0.5), Adaptation(6, 0.645, 0.59))
    assert current_adaptation(vault.read, vault.settings) == result.after
    subject = vault.git.run("log", "-1", "--format=%s").decode().strip()
    assert subject == (
        "adapt(promotion): max facts 8 to 6, score 0.6 to 0.645, gate confidence 0.5 to 0.59: "
        "of what was promoted, 6 retracted"
    )
    stored = json.loads(vault.read(PATH) or b"")
    assert stored["outcomes"] == PromotionOutcomes(retracted=6)._asdict()
    assert adapt(vault, caller, TODAY).commit is None


def test_the_gate_asks_for_more_confidence_once_much_was_withdrawn(vault: Vault, caller: Caller) -> None:
    items = [Message(1, "user", "I live in Oslo.", "2026-11-20T10:00:00Z", "Nora", "s1")]
    ingest(vault, items, caller, "chat")
    (event,) = after_cursor(vault)
    unsure = tuple(proposition._replace(confidence=0.75) for proposition in statements(event, vault.catalog))
    reading = Extraction("plain", {event.id: unsure})
    (before,) = learn_from(vault, caller, reading, dry_run=True).candidates
    assert before.outcome == "added"
    assert before.proposition.confidence == 0.75
    outcomes = PromotionOutcomes(retracted=200)
    (vault.root / PATH).write_text(json.dumps({"outcomes": outcomes._asdict()}))
    assert current_adaptation(vault.read, vault.settings).gate_confidence == 0.77
    (after,) = learn_from(vault, caller, reading).candidates
    assert (after.outcome, after.reason) == ("refused", "Its confidence 0.75 is below 0.77.")


def test_a_store_that_says_nothing_sensible_is_named(vault: Vault) -> None:
    for text in ("oops", "[]", '{"outcomes": {"recalled": -1}}', '{"outcomes": {"recalled": "many"}}'):
        (vault.root / PATH).write_text(text)
        with pytest.raises(Unreadable, match=PATH):
            current_adaptation(vault.read, vault.settings)


WISHES = ("Nora prefers short reports.", "Nora wants reports on Friday.", "Nora likes a report with a table.")
