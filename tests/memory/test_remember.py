"""Remember: drafts become facts, one commit each; what is known is reinforced."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.errors import InvalidInput, NotFound, SecretFound
from clawmem.learning.ingest import ingest
from clawmem.memory.remember import remember
from clawmem.model.caller import Caller
from clawmem.model.codec import parse_items
from clawmem.model.draft import draft_from_record
from clawmem.model.entity import items_path
from clawmem.model.event import parse_events
from clawmem.model.fact import Fact
from clawmem.model.transcript import Message
from clawmem.vault.vault import Vault


def _keep(vault: Vault, caller: Caller, **record: object) -> tuple[Fact, str, str]:
    done = remember(vault, [draft_from_record(record, caller.now)], caller)
    return done.kept[0].fact, done.kept[0].entity, done.kept[0].outcome


def _on_disk(vault: Vault, entity: str) -> tuple[Fact, ...]:
    data = vault.read(items_path(entity))
    assert data is not None
    return parse_items(data, "items.json")


def _log(vault: Vault, form: str) -> list[str]:
    return vault.git.run("log", f"--format={form}").decode().splitlines()


def test_a_fact_is_kept_with_its_author_time_and_trailers(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="finance", session="s1")
    fact, entity, outcome = _keep(vault, agent, fact="Jane likes tea", entity="areas/people/jane", tags=["Drink"])
    assert (entity, outcome, fact.agent, fact.trust, fact.tags) == (
        "areas/people/jane",
        "added",
        "finance",
        "agent",
        ("drink",),
    )
    assert fact.timestamp == "2026-11-21T09:30:00Z"
    assert _on_disk(vault, entity) == (fact,)
    assert _log(vault, "%an <%ae> %cn %s")[0] == (
        "finance <finance@agents.clawmem> clawmem remember(areas/people/jane): Jane likes tea"
    )
    trailers = vault.git.run("log", "-1", "--format=%(trailers:only)").decode().split("\n")
    assert trailers[:5] == [
        "Clawmem-Op: remember",
        f"Fact: {fact.id}",
        "Entity: areas/people/jane",
        "Agent: finance",
        "Session: s1",
    ]


def test_an_exact_duplicate_is_not_repeated_and_makes_no_commit(vault: Vault, caller: Caller) -> None:
    first, entity, _ = _keep(vault, caller, fact="Jane likes tea.", entity="areas/people/jane")
    before = vault.head().commit
    again, _, outcome = _keep(vault, caller, fact="  jane LIKES tea ", entity="areas/people/jane")
    assert outcome == "noop"
    assert again == first
    assert vault.head().commit == before
    assert len(_on_disk(vault, entity)) == 1


def test_a_duplicate_that_says_more_enriches_the_fact(vault: Vault, caller: Caller) -> None:
    first, entity, _ = _keep(vault, caller, fact="Jane likes tea", entity="areas/people/jane", confidence=0.5)
    again, _, outcome = _keep(
        vault, caller, fact="Jane likes tea", entity="areas/people/jane", tags=["drink"], importance=0.9
    )
    assert outcome == "noop"
    assert (again.id, again.confidence, again.tags, again.importance) == (first.id, 0.6, ("drink",), 0.9)
    assert _on_disk(vault, entity) == (again,)
    assert _log(vault, "%s")[0].startswith("reinforce(areas/people/jane)")


def test_without_an_entity_the_subject_decides_then_the_default(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, fact="Jane likes tea", entity="areas/people/jane")
    _, by_subject, _ = _keep(vault, caller, fact="Jane lives in Oslo", subject="jane")
    _, by_default, _ = _keep(vault, caller, fact="Water boils at 100 degrees")
    assert (by_subject, by_default) == ("areas/people/jane", "areas/general")


def test_a_credential_is_refused_before_anything_is_written(vault: Vault, caller: Caller) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    before = vault.head()
    with pytest.raises(SecretFound):
        _keep(vault, caller, fact=f"The deploy token is {token}")
    assert vault.head() == before
    assert vault.git.run("status", "--porcelain") == b""
    assert token not in vault.git.run("cat-file", "--batch-all-objects", "--batch").decode(errors="replace")


def test_a_colliding_id_is_given_a_longer_one(vault: Vault, caller: Caller) -> None:
    same = caller._replace(entropy=lambda size: b"\xab" * size)
    first, _, _ = _keep(vault, same, fact="One")
    second, _, _ = _keep(vault, same, fact="Two")
    third, _, _ = _keep(vault, same, fact="Three")
    assert [first.id, second.id, third.id] == ["fact_" + "ab" * size for size in (4, 8, 16)]


def test_a_batch_makes_one_commit_for_each_fact(vault: Vault, caller: Caller) -> None:
    drafts = [
        draft_from_record({"fact": f"Fact number {n % 20}", "entity": f"projects/p{n % 3}"}, caller.now)
        for n in range(60)
    ]
    before = len(_log(vault, "%H"))
    done = remember(vault, drafts, caller)
    added = [one for one in done.kept if one.outcome == "added"]
    assert len(added) == 60
    again = remember(vault, drafts, caller)
    assert {one.outcome for one in again.kept} == {"noop"}
    assert again.commit is None
    assert len(_log(vault, "%H")) == before + 60
    assert vault.git.run("status", "--porcelain") == b""


@pytest.mark.parametrize("text", ["", "   ", "a\x07b", "x" * 4001, "hid\u202eden"])
def test_a_statement_unfit_to_keep_is_refused(caller: Caller, text: str) -> None:
    with pytest.raises(InvalidInput):
        draft_from_record({"fact": text}, caller.now)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=60))
def test_whatever_is_accepted_reads_back_the_same(vault: Vault, caller: Caller, text: str) -> None:
    try:
        draft = draft_from_record({"fact": text, "entity": "resources/any"}, caller.now)
        done = remember(vault, [draft], caller)
    except (InvalidInput, SecretFound):
        return
    fact = done.kept[0].fact
    assert fact in _on_disk(vault, "resources/any")
    lines = (vault.read("life/resources/any/items.json") or b"").decode().split("\n")
    assert all(json.loads(line.rstrip(",")) for line in lines[1:-2])


def test_evidence_must_be_in_the_event_to_the_character(vault: Vault, caller: Caller) -> None:
    told = [Message(1, "user", "Well, I moved to Oslo in May.", "2026-11-02T10:00:00Z", "Jane")]
    ingest(vault, told, caller, "talk")
    event = parse_events((vault.root / "ledger/2026-11-02.jsonl").read_bytes(), "ledger")[0]
    fact, _, _ = _keep(vault, caller, fact="Jane moved to Oslo", source_event=event.id, source_text="moved to Oslo")
    assert fact.source_span == (8, 21)
    assert event.text[8:21] == fact.source_text
    with pytest.raises(InvalidInput):
        _keep(vault, caller, fact="Jane moved to Rome", source_event=event.id, source_text="moved to Rome")
    with pytest.raises(NotFound):
        _keep(vault, caller, fact="Jane moved to Rome", source_event="evt_nothing")


def test_a_batch_that_fails_half_way_says_what_was_kept(
    vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clawmem.memory.remember.CHUNK", 2)
    _keep(vault, caller, fact="Broken soon", entity="projects/broken")
    (vault.root / "life/projects/broken/items.json").write_text("[\n{oops\n]\n")
    places = ["projects/a", "projects/a", "projects/broken", "projects/a"]
    drafts = [draft_from_record({"fact": f"Fact {n}", "entity": place}, caller.now) for n, place in enumerate(places)]
    done = remember(vault, drafts, caller)
    assert [one.fact.fact for one in done.kept] == ["Fact 0", "Fact 1"]
    assert done.failed is not None
    assert "items.json:2" in done.failed.message
    assert {fact.fact for fact in _on_disk(vault, "projects/a")} == {"Fact 0", "Fact 1"}
