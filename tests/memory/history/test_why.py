"""Why a fact is in memory: evidence, event, commit, author, chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import NotFound
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import merge, supersede
from clawmem.memory.history.why import why
from clawmem.memory.scope import items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.transcripts.message import Message
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault

SAID = "Well, I moved to Lisbon last week."


def draft(caller: Caller, words: str, **record: object) -> Draft:
    return draft_from_record({"fact": words, "entity": "areas/people/jane", **record}, caller.now)


def keep(vault: Vault, caller: Caller, words: str, **record: object) -> str:
    return remember(vault, [draft(caller, words, **record)], caller).facts[0].fact.id


def heard(vault: Vault, caller: Caller) -> str:
    message = Message(1, "user", SAID, "2026-11-20T08:00:00Z", "Jane", external_id="m1")
    ingest(vault, [message], caller, "chat.jsonl")
    text = vault.read_text("ledger/2026-11-20.jsonl") or ""
    return text.split('"id": "')[1].split('"')[0]


def test_the_event_stands_behind_the_fact_whole(vault: Vault, caller: Caller) -> None:
    event = heard(vault, caller)
    start = SAID.index("moved")
    record = {"source_event": event, "source_text": "moved to Lisbon", "source_span": [start, start + 15]}
    text = keep(vault, caller._replace(agent="finance"), "Jane lives in Lisbon.", **record)
    result = why(vault, text[:9])
    assert result.event is not None
    assert (result.event.text, result.event.speaker, result.notices) == (SAID, "Jane", ())
    assert result.recorded is not None
    assert (result.recorded.author, result.recorded.op) == ("finance", "remember")
    assert result.history == (result.recorded,)


def test_evidence_that_is_not_there_is_said(vault: Vault, caller: Caller) -> None:
    event = heard(vault, caller)
    edits: list[tuple[dict[str, Any], str]] = [
        ({"source_event": "evt_none"}, "no event evt_none"),
        ({"source_span": (0, 3)}, "the quote differs"),
    ]
    for change, words in edits:
        cited = keep(vault, caller, f"Jane said so, {words}.", source_event=event)
        with writing(vault, caller, "test") as work:
            facts = [fact._replace(**change) if fact.id == cited else fact for fact in work.facts("areas/people/jane")]
            work.commit([Change("edit(areas/people/jane): by hand", items_write("areas/people/jane", facts))])
        assert words in why(vault, cited).notices[0]


def test_the_whole_chain_is_told_from_any_of_its_facts(vault: Vault, caller: Caller) -> None:
    oldest = keep(vault, caller, "Jane lives in Paris.")
    first, other = caller._replace(agent="a1"), caller._replace(agent="a2")
    second = supersede(vault, oldest, draft(caller, "Jane lives in Rome."), first).facts[0].fact.id
    third = supersede(vault, second, draft(caller, "Jane lives in Oslo."), other).facts[0].fact.id
    for each in (oldest, second, third):
        result = why(vault, each)
        assert [link.fact.id for link in result.chain] == [oldest, second, third]
        assert [link.recorded.author for link in result.chain if link.recorded] == ["Ada Person", "a1", "a2"]
        assert result.fact.id == each
    assert [entry.op for entry in why(vault, second).history] == ["supersede", "supersede"]


def test_every_branch_of_a_fork_is_told_from_each_of_its_facts(vault: Vault, caller: Caller) -> None:
    """As after a merge of two clones that both corrected the fact: it points to one of the corrections."""
    first = keep(vault, caller, "Jane lives in Oslo.")
    second = supersede(vault, first, draft(caller, "Jane lives in Bergen."), caller).facts[0].fact.id
    rival = keep(vault, caller, "Jane lives in Rome.", links=[{"type": "relates_to", "to": first}])
    path = vault.root / "life/areas/people/jane/items.json"
    path.write_text(path.read_text().replace('"relates_to"', '"supersedes"'))
    last = supersede(vault, rival, draft(caller, "Jane lives in Paris."), caller).facts[0].fact.id
    for each in (first, second, rival, last):
        items = [link.fact.id for link in why(vault, each).chain]
        assert set(items) == {first, second, rival, last} and items[0] == first
        assert items.index(rival) < items.index(last)


def test_a_merge_brings_all_its_sources(vault: Vault, caller: Caller) -> None:
    text, two = keep(vault, caller, "Jane has a dog."), keep(vault, caller, "Jane has a cat.")
    result = merge(vault, [text, two], draft(caller, "Jane has a dog and a cat."), caller)
    assert {link.fact.id for link in why(vault, text).chain} == {text, two, result.facts[0].fact.id}


def test_a_fact_written_by_hand_has_its_writer(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Jane likes tea.")
    items = vault.root / "life/areas/people/jane/items.json"
    line = '{"id": "fact_handmade", "fact": "Jane sings."}'
    items.write_text(items.read_text().replace("\n]", ",\n" + line + "\n]"))
    keep(vault, caller, "Jane dances.")
    result = why(vault, "fact_handmade")
    assert result.recorded is not None
    assert (result.recorded.author, result.recorded.op) == ("Ada Person", "edit")
    newer = supersede(vault, "fact_handmade", draft(caller, "Jane hums."), caller).facts[0].fact.id
    assert [link.recorded.op for link in why(vault, newer).chain if link.recorded] == ["edit", "supersede"]


def test_a_fact_of_anothers_workspace_is_shown_with_accesses_not_folded_yet(vault: Vault, caller: Caller) -> None:
    theirs = remember(vault, [draft(caller, "A secret plan.")._replace(entity="@other/projects/plan")], caller)
    record_access(vault, "2026-11-21T10:00:00Z", [theirs.facts[0].fact.id])
    result = why(vault, theirs.facts[0].fact.id)
    assert (result.entity, result.fact.access_count) == ("@other/projects/plan", 1)
    assert result.fact.last_accessed == "2026-11-21T10:00:00Z"


def test_an_unknown_id_is_not_found(vault: Vault) -> None:
    with pytest.raises(NotFound):
        why(vault, "fact_ffffffff")


def shallow(vault: Vault, place: Path, depth: int) -> Vault:
    """A clone with the newest commits only."""
    vault.git.run("clone", "--quiet", f"--depth={depth}", f"file://{vault.root}", str(place))
    return Vault(place, vault.git.environment)


def test_a_shallow_clone_does_not_name_its_first_commit_as_the_one_that_recorded(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    old = keep(vault, caller, "Jane lives in Paris.")
    (vault.root / "daily/2026-11-20.md").write_text("# 2026-11-20\n\n- A walk.\n")
    edited = keep(vault, caller, "Jane likes tea.")  # the edit by hand, which names no fact, comes before it
    newest = supersede(vault, old, draft(caller, "Jane lives in Oslo."), caller).facts[0].fact.id
    recorded = why(vault, old).recorded
    assert recorded is not None and recorded.op == "remember"
    clone = shallow(vault, tmp_path / "three", 3)
    first = clone.git.run("rev-list", "--max-parents=0", "HEAD").decode().strip()
    result = why(clone, old)
    assert result.recorded is None and result.begins is not None
    assert (result.begins.commit, result.begins.op) == (first, "edit")
    assert [entry.op for entry in result.history] == ["supersede"]
    assert [(link.recorded and link.recorded.op, link.begins is None) for link in result.chain] == [
        (None, False),
        ("supersede", True),
    ]
    for fact, op in ((edited, "remember"), (newest, "supersede")):
        whole = why(clone, fact)
        assert whole.recorded == why(vault, fact).recorded and whole.begins is None
        assert whole.recorded is not None and whole.recorded.op == op


def test_what_a_shallow_clone_begins_with_was_recorded_then_or_before(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    text = keep(vault, caller, "Jane lives in Paris.")
    newest = supersede(vault, text, draft(caller, "Jane lives in Oslo."), caller).facts[0].fact.id
    clone = shallow(vault, tmp_path / "one", 1)
    for fact in (text, newest):
        result = why(clone, fact)
        assert result.recorded is None and result.begins is not None
        assert result.begins.commit == clone.head().commit
        assert [entry.op for entry in result.history] == ["supersede"]
    clone.git.run("fetch", "--quiet", "--unshallow")
    assert why(clone, text) == why(vault, text)


def test_a_fact_names_those_that_it_is_in_conflict_with(vault: Vault, caller: Caller) -> None:
    ids = [
        keep(vault, other_caller, f"Ann lives in {place}.", subject="Ann", predicate="lives_in", object=place)
        for other_caller, place in ((caller, "Oslo"), (caller._replace(agent="scout"), "Rome"))
    ]
    assert why(vault, ids[0], caller).against == (ids[1],)
    assert why(vault, ids[1], caller).against == (ids[0],)
