"""Promotion moves a fact where it belongs; with `learning.enter: promoted` only promotion lets facts into `life/`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.heartbeat.steps import refresh_summaries
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import PlacedFact, all_facts
from clawmem.learning.ingest import ingest
from clawmem.learning.learn import LearnResult
from clawmem.learning.promote import promote
from clawmem.memory.entities.entities import create_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.doctor import doctor
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.proposals.promotion import place_of_waiting, promotion_of
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.review.review import approve
from clawmem.serving.recall.recall import recall
from clawmem.vault.vault import Vault
from tests.plain_reader import learn_plainly as learn

DAY = "2026-11-21"
WAITING = f"candidates/{DAY}"


def _placed(vault: Vault) -> dict[str, PlacedFact]:
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed for placed in all_facts(index)}
    finally:
        index.close()


def _says(vault: Vault, caller: Caller, *texts: str) -> LearnResult:
    generator = (Message(line, "user", text, f"{DAY}T08:0{line}:00Z") for line, text in enumerate(texts, 1))
    ingest(vault, generator, caller, "chat")
    return learn(vault, caller)


@pytest.fixture
def waiting(vault: Vault, environment: dict[str, str]) -> Vault:
    path = vault.root / "clawmem.yaml"
    path.write_text(path.read_text().replace("\n  enter: at_once\n", "\n  enter: promoted\n"))
    return Vault(vault.root, environment)


def _in_life(root: Path) -> set[str]:
    return {path.parent.name for path in (root / "life").rglob("items.json") if path.read_text().strip() != "[]"}


def _learned(vault: Vault, caller: Caller, statement: str, subject: str) -> None:
    keys = {"subject": subject, "predicate": "decided", "object": "Go", "category": "decision", "importance": 0.9}
    record = {"fact": statement, "entity": "areas/people/user", "trust": "user", "confidence": 0.95, **keys}
    remember(vault, [draft_from_record({**record, "workflow": "heartbeat/rules"}, caller.now)], caller)


def test_promotion_moves_a_learned_fact_to_the_project_it_is_about(vault: Vault, caller: Caller) -> None:
    _learned(vault, caller, "Tern is written in Go since May 2026.", "Tern")
    create_entity(vault, "projects/tern", caller, "Tern")
    result = promote(vault, caller, DAY)
    placed = _placed(vault)["Tern is written in Go since May 2026."]
    assert placed.entity == "projects/tern"
    assert promotion_of(placed.fact)
    assert result.kept[0].reason.endswith("moved from areas/people/user: Tern is about projects/tern")
    body = vault.git.run("log", "-1", "--format=%b").decode()
    assert "- project projects/tern: Tern is written in Go since May 2026." in body
    assert "moved from areas/people/user: Tern is about projects/tern" in body
    assert "Tern" not in (vault.read_text("life/areas/people/user/items.json") or "")


def test_promotion_creates_the_company_that_a_name_says(vault: Vault, caller: Caller) -> None:
    _learned(vault, caller, "Corvid Labs chose Go in May 2026.", "Corvid Labs")
    promote(vault, caller, DAY)
    assert _placed(vault)["Corvid Labs chose Go in May 2026."].entity == "areas/companies/corvid-labs"
    assert "Corvid Labs" in (vault.read_text("life/areas/companies/corvid-labs/summary.md") or "")


@pytest.mark.parametrize(
    ("statement", "subject", "entity"),
    [
        ("The Tern deadline is June 30, 2027.", "the tern deadline", "projects/tern"),
        ("The user decided to use Go for Tern.", "the user", "projects/tern"),
        ("Tern's budget is 9000 euros.", "Tern's budget", "projects/tern"),
        ("The Harbour project starts in May 2027.", "the Harbour project", "projects/harbour"),
        ("The user decided between Tern and Heron in May 2026.", "the user", "areas/people/user"),
    ],
)
def test_promotion_places_project_facts(
    vault: Vault, caller: Caller, statement: str, subject: str, entity: str
) -> None:
    create_entity(vault, "projects/tern", caller, "Tern")
    create_entity(vault, "projects/heron", caller, "Heron")
    _learned(vault, caller, statement, subject)
    promote(vault, caller, DAY)
    assert _placed(vault)[statement].entity == entity


def test_promotion_leaves_what_a_person_placed(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/tern", caller, "Tern")
    record = {"fact": "Tern is written in Go since May 2026.", "subject": "Tern", "entity": "areas/people/user"}
    strong = {"category": "decision", "importance": 0.9, "predicate": "decided", "object": "Go", "confidence": 0.95}
    remember(vault, [draft_from_record({**record, **strong}, caller.now)], caller)
    assert promote(vault, caller, DAY).kept
    assert _placed(vault)["Tern is written in Go since May 2026."].entity == "areas/people/user"


def test_a_learned_fact_waits_for_promotion_and_is_found(waiting: Vault, caller: Caller) -> None:
    _says(waiting, caller, "I am allergic to peanuts.")
    fact, entity = next(placed for placed in _placed(waiting).values())
    assert entity == WAITING
    assert place_of_waiting(fact) == ("areas/people/user", "User")
    assert "waits for promotion" in fact_line(fact, entity)
    assert not _in_life(waiting.root)
    found = recall(waiting, "peanuts allergy", caller, FactFilter(owners=("",)), 5)
    assert [hit.fact.id for hit in found.found] == [fact.id]
    assert refresh_summaries(waiting, caller).changed == ()
    assert not [problem for problem in doctor(waiting, caller).problems if "candidates" in (problem.path or "")]


def test_promotion_lets_a_waiting_fact_in(waiting: Vault, caller: Caller) -> None:
    _says(waiting, caller, "I am allergic to peanuts.")
    result = promote(waiting, caller, DAY)
    assert result.kept, result.verdicts
    fact, entity = next(placed for placed in _placed(waiting).values())
    assert entity == "areas/people/user"
    assert place_of_waiting(fact) is None
    assert waiting.read_text(f"daily/{WAITING}/items.json") is None
    assert _in_life(waiting.root) == {"user"}


def test_a_waiting_fact_that_is_said_again_waits_once(waiting: Vault, caller: Caller) -> None:
    _says(waiting, caller, "I am allergic to peanuts.")
    again = _says(waiting, caller, "As I said, I am allergic to peanuts.")
    assert again.count("added") == 0
    assert len(_placed(waiting)) == 1


def test_a_change_of_a_known_fact_takes_effect_at_once(waiting: Vault, caller: Caller) -> None:
    record = {"fact": "The user lives in Oslo.", "subject": "The user", "predicate": "lives_in", "object": "Oslo"}
    before = caller._replace(now=caller.now - timedelta(days=9))
    remember(waiting, [draft_from_record({**record, "entity": "areas/people/user"}, before.now)], before)
    _says(waiting, caller, "I live in Bergen now.")
    placed = _placed(waiting)
    assert placed["The user lives in Oslo."].fact.status == "superseded"
    new = next(other_placed for other_placed in placed.values() if other_placed.fact.status == "active")
    assert new.entity == "areas/people/user"


def test_a_waiting_fact_is_replaced_among_the_candidates(waiting: Vault, caller: Caller) -> None:
    _says(waiting, caller, "I live in Oslo.", "I moved to Bergen.")
    assert {placed.entity for placed in _placed(waiting).values()} == {WAITING}
    assert sorted(placed.fact.status for placed in _placed(waiting).values()) == ["active", "superseded"]


def test_a_person_lets_a_waiting_fact_in(waiting: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    _says(waiting, caller, "I am allergic to peanuts.")
    fact, _ = next(placed for placed in _placed(waiting).values())
    # Exactly below the score, so that a person is asked.
    score = promote(waiting, caller, DAY, dry_run=True).verdicts[0].candidate.judgement.score
    monkeypatch.setattr("clawmem.learning.adapt.PROMOTION_SCORE", round(score + 0.01, 2))
    result = promote(waiting, caller, DAY)
    assert [proposal.targets[0].id for proposal in result.proposals] == [fact.id]
    approve(waiting, result.proposals[0].id, caller)
    assert _placed(waiting)[fact.fact].entity == "areas/people/user"
