"""The changed facts between two points in time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clawmem.errors import NotFound
from clawmem.learning.ingest import ingest, note
from clawmem.memory.entities.entities import archive_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.history.compare import Comparison, compare
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault


def draft(caller: Caller, words: str, entity: str = "projects/x") -> Draft:
    return draft_from_record({"fact": words, "entity": entity}, caller.now)


def keep(vault: Vault, caller: Caller, words: str) -> str:
    return remember(vault, [draft(caller, words)], caller).facts[0].fact.id


def later(caller: Caller, **span: float) -> Caller:
    return caller._replace(now=caller.now + timedelta(**span))


def told(compared: Comparison) -> list[tuple[str, str]]:
    return [(change.kind, change.fact.fact) for change in compared.changes]


def test_facts_are_learned_corrected_and_retracted(vault: Vault, caller: Caller) -> None:
    old, wrong = keep(vault, caller, "The price is 5 euros."), keep(vault, caller, "The moon is cheese.")
    supersede(vault, old, draft(caller, "The price is 6 euros."), caller)
    retract(vault, wrong, caller)
    keep(vault, caller, "The shop is open.")
    compared = compare(vault, caller, "HEAD~3", "HEAD")
    assert told(compared) == [
        ("corrected", "The price is 6 euros."),
        ("retracted", "The moon is cheese."),
        ("learned", "The shop is open."),
    ]
    assert [change.before.id if change.before else None for change in compared.changes] == [old, wrong, None]


def test_the_other_way_round_is_told_too(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "The shop is open.")
    assert told(compare(vault, caller, "HEAD", "HEAD~1")) == [("removed", "The shop is open.")]


def test_dates_stand_for_the_last_commit_at_or_before_them(vault: Vault, caller: Caller) -> None:
    for days in range(3):
        keep(vault, later(caller, days=days, minutes=1), f"Said on day {days}.")
    now = later(caller, days=3)
    assert told(compare(vault, now, "2026-11-21", "2026-11-22")) == [("learned", "Said on day 1.")]
    assert told(compare(vault, now, "2026-11-23T09:30:59Z")) == [("learned", "Said on day 2.")]
    assert told(compare(vault, now, "2d")) == [("learned", "Said on day 2.")]
    before_all = compare(vault, now, "2020-01-01", "2026-11-21")
    assert before_all.older is None
    assert told(before_all) == [("learned", "Said on day 0.")]
    with pytest.raises(NotFound, match="The vault was still empty"):
        compare(vault, now, "2019-01-01", "2020-01-01")


def test_without_dates_it_is_the_last_day_or_the_last_commit(vault: Vault, caller: Caller) -> None:
    keep(vault, later(caller, minutes=1), "First.")
    keep(vault, later(caller, minutes=2), "Second.")
    young = compare(vault, later(caller, minutes=3))
    assert told(young) == [("learned", "First."), ("learned", "Second.")]
    assert young.older is not None and young.older.op == "init"
    keep(vault, later(caller, days=2), "Third.")
    keep(vault, later(caller, days=2, minutes=1), "Fourth.")
    assert told(compare(vault, later(caller, days=2, minutes=2))) == [("learned", "Third."), ("learned", "Fourth.")]
    assert told(compare(vault, later(caller, days=9))) == [("learned", "Fourth.")]
    assert told(compare(vault, later(caller, days=9), newer="HEAD")) == [("learned", "Third."), ("learned", "Fourth.")]
    assert told(compare(vault, later(caller, days=9), newer="2026-11-22")) == told(young)
    assert compare(vault, later(caller, days=9), newer="HEAD~4").older is None


def test_events_notes_and_other_files_are_counted(vault: Vault, caller: Caller) -> None:
    before = str(vault.head().commit)
    ingest(vault, [Message(n, "user", f"Line {n}", "2026-11-20T08:00:00Z") for n in (1, 2)], caller, "chat")
    note(vault, "Something happened.", caller)
    keep(vault, caller, "The shop is open.")
    counts = compare(vault, caller, before).counts
    assert (counts.events_added, counts.events_removed) == (2, 0)
    assert (counts.note_lines_added, counts.note_lines_removed) == (1, 0)
    assert counts.other_files == ("life/projects/x/summary.md",)


def test_a_move_is_no_change_of_its_facts(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "The shop is open.")
    keep(vault, caller, "The shop sells tea.")
    archive_entity(vault, "projects/x", caller)
    compared = compare(vault, caller, "HEAD~1")
    assert compared.changes == ()
    assert [tuple(facts) for facts in compared.moved] == [("projects/x", "archives/x", 2)]


def test_a_file_that_did_not_parse_then_is_said_and_not_compared(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "The shop is open.")
    (vault.root / "life/projects/x/items.json").write_text("[oops\n")
    vault.git.run("-c", "user.name=Ada", "-c", "user.email=a@b.org", "commit", "-qam", "broken")
    compared = compare(vault, caller, "HEAD~1")
    assert compared.changes == ()
    assert "items.json:1" in compared.notices[0]


def test_an_unknown_point_is_not_found(vault: Vault, caller: Caller) -> None:
    with pytest.raises(NotFound):
        compare(vault, caller, "beefbeef")
