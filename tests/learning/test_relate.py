"""What was given without a triple gets the one its words say, once; whoever takes it out again has the last word."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.heartbeat.loop import run_heartbeat
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.learning.relate import RelatedFact, apply_triples, relate
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import supersede
from clawmem.memory.health.doctor import doctor
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import items_path
from clawmem.model.transcripts.message import Message
from clawmem.review.review import approve
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import recall
from clawmem.vault.state.heartbeat_state import STATE
from clawmem.vault.vault import Vault

pytestmark = pytest.mark.usefixtures("without_vectors")

ANN = "areas/people/ann"
OSLO, PARIS, ROME = "Ann lives in Oslo.", "Ann lives in Paris.", "Ann lives in Rome."
WHERE = "where does Ann live"


def keep(vault: Vault, caller: Caller, *statements: str, entity: str = ANN, **more: str) -> tuple[Fact, ...]:
    drafts = [draft_from_record({"fact": statement, "entity": entity, **more}, caller.now) for statement in statements]
    return tuple(remembered_fact.fact for remembered_fact in remember(vault, drafts, caller).facts)


def facts(vault: Vault) -> dict[str, Fact]:
    """Every fact by its statement."""
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def triples(vault: Vault) -> dict[str, tuple[str | None, str | None, str | None]]:
    return {words: (fact.subject, fact.predicate, fact.object) for words, fact in facts(vault).items()}


def marks(vault: Vault, caller: Caller) -> int:
    return context(vault, caller, 2000, WHERE).text.count("! In conflict with")


def log(vault: Vault, *arguments: str) -> str:
    return vault.git.run("log", *arguments).decode()


def rewrite(vault: Vault, entity: str, *changed: Fact) -> None:
    """A person changes some facts in an editor."""
    path = vault.root / items_path(entity)
    known = {item.id: item for item in parse_items(path.read_bytes(), str(path))}
    path.write_bytes(render_items({**known, **{fact.id: fact for fact in changed}}.values()))


def test_two_that_contradict_are_marked_and_found_by_what_they_say(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, OSLO, PARIS)
    keep(vault, caller, "The API lives in services/api.", entity="projects/api")
    assert marks(vault, caller) == 0
    previewed = run_heartbeat(vault, caller, dry_run=True).of("relate")
    assert previewed and [fact.fact.object for fact in previewed.facts] == ["Oslo", "Paris"] and not previewed.commit
    result = run_heartbeat(vault, caller)
    assert result.of("relate") and result.of("relate").commit == result.commits[0] and not result.failed
    assert triples(vault) == {
        OSLO: ("Ann", "lives_in", "Oslo"),
        PARIS: ("Ann", "lives_in", "Paris"),
        "The API lives in services/api.": (None, None, None),
    }
    assert marks(vault, caller) == 1
    found = recall(vault, WHERE, caller, FactFilter(), 5)
    assert found.channels["predicate"].hits == 2
    assert {hit.fact.fact for hit in found.found if "predicate" in hit.channels} == {OSLO, PARIS}
    words = "2 triples read from the words: (Ann, lives_in, Oslo), (Ann, lives_in, Paris)"
    assert log(vault, "-1", "--format=%s", result.commits[0]) == f"relate({ANN}): {words}\n"
    assert all(
        (fact.valid_from, fact.valid_to, fact.status) == (None, None, "active") for fact in facts(vault).values()
    )
    assert len(run_heartbeat(vault, caller).commits) <= 1  # the use that the recall was
    assert not run_heartbeat(vault, caller).commits
    assert relate(vault, caller, None).commit is None
    assert doctor(vault, caller).healthy


def test_what_was_undone_stays_undone_in_this_clone_and_in_others(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, OSLO)
    commit = run_heartbeat(vault, caller).commits[0]
    keep(vault, caller, PARIS)
    run_heartbeat(vault, caller)
    undo(vault, commit, caller)
    assert marks(vault, caller) == 0
    run_heartbeat(vault, caller)
    later = caller._replace(now=caller.now + timedelta(days=9))
    (vault.state / STATE).unlink()  # as in a clone, which does not know how far the others have read
    keep(vault, later, "Ann is vegan.")
    run_heartbeat(vault, later)
    assert triples(vault) == {
        OSLO: (None,) * 3,
        PARIS: ("Ann", "lives_in", "Paris"),
        "Ann is vegan.": ("Ann", "diet", "vegan"),
    }


def test_what_a_hand_takes_out_stays_out_and_what_it_rewords_is_read_again(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, OSLO, "Ann works at Acme.", "Ann is vegan.")
    run_heartbeat(vault, caller)
    known = facts(vault)
    bare = known[OSLO]._replace(subject=None, predicate=None, object=None, relation_phrase=None)
    acme = known["Ann works at Acme."]
    own = Fact("fact_0a0a0a0a", "Ann's birthday is May 3.", "fact", "1970-01-01T00:00:00Z", "unknown")
    reworded = acme._replace(fact="Ann works at Beta."), known["Ann is vegan."]._replace(fact="Ann was vegan once.")
    rewrite(vault, ANN, bare, *reworded, own)
    assert not run_heartbeat(vault, caller).failed
    assert triples(vault) == {
        OSLO: (None, None, None),
        "Ann works at Beta.": ("Ann", "works_at", "Beta"),
        "Ann was vegan once.": (None, None, None),
        "Ann's birthday is May 3.": ("Ann", "birthday", "May 3"),
    }
    assert not run_heartbeat(vault, caller).commits


def test_what_has_a_triple_keeps_it(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, OSLO, subject="Ann", predicate="hides_in", object="Oslo")
    keep(vault, caller, PARIS, subject="Ann")
    ingest(vault, [Message(1, "user", "I bought a boat.", "2026-11-20T10:00:00Z", "Ann")], caller, "chat")
    run_heartbeat(vault, caller)
    assert triples(vault)[OSLO] == ("Ann", "hides_in", "Oslo")
    assert triples(vault)[PARIS] == ("Ann", None, None)
    assert not log(vault, "--format=%s", "--grep=^Clawmem-Op: relate$")


def test_a_successor_has_its_own_triple_where_its_words_say_another(vault: Vault, caller: Caller) -> None:
    oslo, _, work = keep(vault, caller, OSLO, PARIS, "Ann works at Acme.")
    run_heartbeat(vault, caller)
    for old, new in ((oslo.id, ROME), (work.id, "Ann works as a nurse.")):
        supersede(vault, old, draft_from_record({"fact": new}, caller.now), caller)
    assert triples(vault)["Ann works as a nurse."] == ("Ann", "works_at", None)
    assert marks(vault, caller) == 1
    run_heartbeat(vault, caller)
    assert triples(vault)[ROME] == ("Ann", "lives_in", "Rome")
    assert triples(vault)["Ann works as a nurse."] == ("Ann", "job", "nurse")
    assert marks(vault, caller) == 1


def test_later_news_takes_the_place_of_both_and_older_news_of_none(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, OSLO, PARIS)
    ingest(vault, [Message(1, "user", "Remember that I live in Leeds.", "2020-03-01T10:00:00Z", "Ann")], caller, "chat")
    run_heartbeat(vault, caller)
    assert {fact.status for fact in facts(vault).values()} == {"active"}
    later = caller._replace(now=caller.now + timedelta(days=1))
    ingest(
        vault, [Message(2, "user", "Remember that I moved to Bergen.", "2026-11-22T10:00:00Z", "Ann")], later, "chat"
    )
    run_heartbeat(vault, later)
    known = facts(vault)
    assert known[OSLO].status == known[PARIS].status == "superseded"
    assert [fact.object for fact in known.values() if fact.status == "active" and fact.predicate == "lives_in"] == [
        "Bergen"
    ]


def test_two_machines_read_the_same(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    keep(vault, caller, OSLO, "Ann is married to Tom.")
    keep(vault, caller, "I work at Acme.", entity="areas/people/user")
    other = Vault(Path(shutil.copytree(vault.root, tmp_path / "other", symlinks=True)), vault.git.environment)
    for other_vault, moment in ((vault, caller.now), (other, caller.now + timedelta(days=3))):
        assert len(relate(other_vault, caller._replace(now=moment), None).facts) == 3
    assert facts(vault) == facts(other)


def test_what_somebody_changed_meanwhile_is_left_for_the_next_beat(vault: Vault, caller: Caller) -> None:
    oslo, paris = keep(vault, caller, OSLO, PARIS)
    readings = {fact.id: RelatedFact(fact, fact._replace(subject="Ann"), ANN) for fact in (oslo, paris)}
    supersede(vault, oslo.id, draft_from_record({"fact": ROME}, caller.now), caller)
    with writing(vault, caller, "learn", dry_run=True) as work:
        writes, kept = apply_triples(work, {ANN: readings})
    assert [placed.fact.id for placed in kept] == [paris.id] and list(writes) == [items_path(ANN)]
    with writing(vault, caller, "learn", dry_run=True) as work:
        assert apply_triples(work, {ANN: {oslo.id: readings[oslo.id]}}) == ({}, [])


def test_keeping_a_fact_loads_none_of_this() -> None:
    modules = "clawmem.faces.verbs.remember, clawmem.memory.facts.remember"
    code = f"import sys, {modules}; print('clawmem.learning' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert process.stdout == "False\n"


def test_a_conflict_that_only_the_triples_show_asks_a_person(vault: Vault, caller: Caller) -> None:
    """`remember` cannot compare these: neither fact has a triple yet. The question is for the more trusted fact."""
    (kept,) = keep(vault, caller, "The harbour database is PostgreSQL 16.", entity="projects/harbour")
    (web,) = keep(
        vault,
        caller._replace(now=caller.now + timedelta(hours=1)),
        "The harbour database is MySQL.",
        entity="projects/harbour",
        trust="external",
        source="web:evil.example",
    )
    result = relate(vault, caller, None)
    (asked,) = read_proposals(vault).open
    assert (asked.kind, asked.does, {target.id for target in asked.targets}) == (
        "conflict",
        "supersede",
        {kept.id, web.id},
    )
    assert asked.fact is not None and asked.fact.fact == kept.fact
    assert any(asked.says in notice for notice in result.notices)
    approve(vault, asked.id, caller)
    assert {fact.fact: fact.status for fact in facts(vault).values()} == {kept.fact: "active", web.fact: "superseded"}


def test_a_conflict_that_the_triples_show_is_asked_about_once(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "The harbour database is PostgreSQL 16.", entity="projects/harbour")
    keep(vault, caller, "The harbour database is MySQL.", entity="projects/harbour")
    before = vault.git.run("rev-parse", "HEAD").decode().strip()
    relate(vault, caller, None)
    (asked,) = read_proposals(vault).open
    approve(vault, asked.id, caller, beside=True)
    relate(vault, caller, before)
    assert not read_proposals(vault).open
