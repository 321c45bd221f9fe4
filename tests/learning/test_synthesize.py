"""Synthesis writes what facts and events say of a day, leaves prose alone, and repeats itself to the byte."""

from __future__ import annotations

from datetime import timedelta

from clawmem.learning.ingest import ingest, ingest_notes
from clawmem.learning.synthesize import synthesize
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault
from tests.plain_reader import learn_plainly as learn

TALK = (
    Message(1, "user", "I'm allergic to peanuts, so no satay for me.", "2026-11-02T10:03:00Z", "Tom", "s1"),
    Message(2, "assistant", "Noted.", "2026-11-02T10:04:00Z", None, "s1"),
)


def _page(vault: Vault, day: str) -> str:
    return vault.read_text(f"daily/{day}.md") or ""


def test_a_day_gets_its_facts_and_sessions_and_keeps_what_people_wrote(vault: Vault, caller: Caller) -> None:
    page = vault.root / "daily/2026-11-02.md"
    page.write_text("# 2026-11-02\n\n- A quiet day by the sea.\n")
    ingest_notes(vault, caller)
    ingest(vault, TALK, caller, "talk.jsonl")
    learn(vault, caller)
    result = synthesize(vault, caller)
    assert "daily/2026-11-02.md" in result.pages
    text = page.read_text()
    assert text.startswith("# 2026-11-02\n\n- A quiet day by the sea.\n")
    assert text.count("A quiet day by the sea") == 1
    assert "## Learned" in text
    assert "peanuts" in text
    assert "- s1 from talk.jsonl: 2 events, 10:03 to 10:04, Tom, assistant" in text
    head = vault.head()
    again = synthesize(vault, caller._replace(now=caller.now + timedelta(days=40)))
    assert (again.pages, again.commit, vault.head()) == ((), None, head)


def test_only_days_that_were_touched_since_a_commit_are_made_anew(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "The bicycle is green"}, caller.now)], caller)
    synthesize(vault, caller)
    since = vault.head().commit
    page = vault.root / "daily/2026-11-21.md"
    page.write_text(page.read_text().replace("green", "GREEN"))
    assert synthesize(vault, caller, since=since).pages == ()
    assert synthesize(vault, caller, ["2026-11-21"]).pages == ("daily/2026-11-21.md",)
    ingest(vault, TALK, caller, "talk.jsonl")
    assert synthesize(vault, caller, since=since).pages == ("daily/2026-11-02.md",)


def test_corrections_and_withdrawals_are_told_on_their_day(vault: Vault, caller: Caller) -> None:
    drafts = [draft_from_record({"fact": text}, caller.now) for text in ("The bicycle is green", "The car is red")]
    bicycle, car = (remembered_fact.fact.id for remembered_fact in remember(vault, drafts, caller).facts)
    synthesize(vault, caller)
    since = vault.head().commit
    later = caller._replace(now=caller.now + timedelta(days=1))
    supersede(vault, bicycle, draft_from_record({"fact": "The bicycle is blue"}, later.now), later)
    retract(vault, car, later, "it is a van")
    result = synthesize(vault, later, since=since)
    assert result.pages == ("daily/2026-11-21.md", "daily/2026-11-22.md")
    assert "The bicycle is blue" in _page(vault, "2026-11-22")
    assert "Before: The bicycle is green" in _page(vault, "2026-11-22")
    assert f"- Withdrawn: The car is red (areas/general, {car}) Because: it is a van" in _page(vault, "2026-11-22")
    assert f"{car}, because it is a van, withdrawn since)" in _page(vault, "2026-11-21")


def test_an_agents_own_facts_are_told_in_its_own_notes(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "The budget is 9,000", "entity": "@finance/projects/budget"}, caller.now)
    remember(vault, [draft], caller)
    assert synthesize(vault, caller).pages == ("agents/finance/daily/2026-11-21.md",)


def test_a_page_with_conflict_marks_is_left_alone_and_named(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "The bicycle is green"}, caller.now)], caller)
    page = vault.root / "daily/2026-11-21.md"
    page.write_text("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    result = synthesize(vault, caller)
    assert result.pages == ()
    assert any("daily/2026-11-21.md" in notice for notice in result.notices)
