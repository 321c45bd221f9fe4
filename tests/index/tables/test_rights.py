"""For a reader, what they may not see is not in the index: not found, not counted, and no word of it is known."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import NotFound, Unreadable
from clawmem.index.refresh import open_index, run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import all_facts, entity_names
from clawmem.index.tables.rights import is_restricted, read_access
from clawmem.index.tables.store import Index, stores_kept_open
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller, Viewer
from clawmem.model.transcripts.message import Message
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import RECALL_KINDS
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command

POLICY = """\
people:
  lucia: {name: Lucia Gomez, role: patient}
  alvarez: {name: Dr. Alvarez, role: doctor, of: {doctor: lucia}}
  clara: {name: Clara, role: reception}
  desk: {role: reception}
  boss: {role: owner}
kinds: {health: Diagnoses and medicines.}
rules: [{role: doctor, may: health, relation: doctor}, {role: owner, may: all}]
"""
_HEALTH = {"access": {"kinds": ["health"], "about": ["lucia"]}}
_SAID: list[tuple[str, str, dict[str, Any]]] = [
    ("Dr. Alvarez", "The biopsy of Lucia showed sarcoidosis.", _HEALTH),
    ("Clara", "Lucia comes on Friday at five.", {}),
    ("Clara", "The cake for the doctor is in the kitchen.", {"participants": ["Clara", "desk"]}),
    ("Clara", "The kitchen lamp is broken.", {}),
]
_QUESTIONS = ["biopsy", "What did the biopsy of Lucia show?", "Lucia", "cake", "kitchen", "sarcoidosys", "Friday"]


def tell(vault: Vault, caller: Caller, rows: Sequence[tuple[str, str, Mapping[str, object]]]) -> None:
    messages = [
        Message(at, "user", text, f"2026-11-20T09:{at:02}:00Z", speaker, f"s{at}", metadata=metadata or None)
        for at, (speaker, text, metadata) in enumerate(rows)
    ]
    ingest(vault, messages, caller, "chat")


def with_policy(vault: Vault, policy: str = POLICY) -> Vault:
    path = vault.path("governance/access.yaml")
    path.parent.mkdir(exist_ok=True)
    path.write_text(policy)
    return vault


def read_for(vault: Vault, *names: str, agent: str | None = None) -> Vault:
    other = Vault(vault.root, vault.environment)
    other.viewer = Viewer(names, agent, lambda: stamp(NOW))
    return other


def answers(vault: Vault, caller: Caller) -> Iterator[object]:
    """What the memory answers to each question, and what it counts."""
    for question in _QUESTIONS:
        found = recall(vault, question, caller, FactFilter(), 10, RECALL_KINDS, 1, 0.15)
        yield question, {hit.text for hit in found.ranking}, {hit.text for hit in found.nearest}
        yield [notice for notice in found.notices if "letter" in notice or "read as" in notice]
        yield context(vault, caller, 1_000, question).text
    yield run_query(vault, lambda index: [placed.fact.fact for placed in all_facts(index)])
    yield run_query(vault, entity_names)
    yield run_query(vault, lambda index: index.database.execute("SELECT facts FROM total").fetchone())
    yield run_query(vault, lambda index: sorted(index.passage_engine.terms("s")))
    yield run_query(vault, lambda index: index.engine.count(["lucia", "lamp", "cake"], 10))


def remember_some(vault: Vault, caller: Caller, private: bool) -> None:
    rows: list[dict[str, Any]] = [{"fact": "The kitchen lamp needs a bulb.", "entity": "areas/house"}]
    rows += [{"fact": "Lucia has sarcoidosis.", "entity": "areas/people/lucia", "metadata": _HEALTH}] if private else []
    remember(vault, [draft_from_record(row, NOW) for row in rows], caller)


def test_what_a_reader_may_not_see_is_as_if_it_had_never_been_said(
    vault: Vault, caller: Caller, tmp_path_factory: pytest.TempPathFactory, newborn: object
) -> None:
    with_policy(vault)
    root = tmp_path_factory.mktemp("without") / "vault"
    newborn.write(root)  # type: ignore[attr-defined]
    without = with_policy(Vault(root, vault.environment))
    tell(vault, caller, _SAID)
    tell(without, caller, [row for row in _SAID if not row[2]])
    remember_some(vault, caller, private=True)
    remember_some(without, caller, private=False)
    assert list(answers(read_for(vault, "lucia"), caller)) != list(answers(read_for(vault, "clara"), caller))
    with_policy(vault, POLICY.replace("people:\n", "people:\n  eve: {name: Eve}\n"))
    with_policy(without, POLICY.replace("people:\n", "people:\n  eve: {name: Eve}\n"))
    assert list(answers(read_for(vault, "eve"), caller)) == list(answers(read_for(without, "eve"), caller))


def texts(vault: Vault, caller: Caller, question: str = "kitchen biopsy Lucia cake lamp Friday") -> set[str]:
    return {hit.text for hit in recall(vault, question, caller, FactFilter(), 10, RECALL_KINDS).ranking}


def test_each_viewer_sees_what_is_for_everyone_for_whom_it_reads(vault: Vault, caller: Caller) -> None:
    tell(with_policy(vault), caller, _SAID)
    viewers: list[tuple[tuple[str, ...], str | None, set[int]]] = [
        (("lucia",), None, {0, 1, 3}),
        (("alvarez",), None, {0, 1, 3}),
        (("Clara",), None, {1, 2, 3}),
        (("desk",), None, {1, 2, 3}),
        (("lucia", "clara"), None, {1, 3}),
        (("lucia",), "desk", {1, 3}),
        ((), "desk", {1, 2, 3}),
        ((), "stranger", {1, 3}),
        (("clara",), "boss", {1, 2, 3}),
        ((), "boss", {0, 1, 2, 3}),
    ]
    for names, agent, places in viewers:
        who = (names, agent)
        assert texts(read_for(vault, *names, agent=agent), caller) == {_SAID[at][1] for at in places}, who
        assert is_restricted(read_for(vault, *names, agent=agent)) == (len(places) < 4), who
        assert len(texts(vault, caller)) == 4, "and a person who names nobody sees everything afterwards"


def test_what_was_learned_from_a_message_is_for_those_who_may_see_the_message(vault: Vault, caller: Caller) -> None:
    tell(with_policy(vault), caller, _SAID)
    events = run_query(vault, lambda index: dict(index.database.execute("SELECT line, id FROM event").fetchall()))
    event = next(name for line, name in events.items() if "biopsy" in line)
    remember(vault, [draft_from_record({"fact": "Lucia is ill.", "source_event": event}, NOW)], caller)
    assert "Lucia is ill." not in texts(read_for(vault, "clara"), caller, "Lucia ill")
    assert "Lucia is ill." in texts(read_for(vault, "alvarez"), caller, "Lucia ill")


def test_a_reader_gets_no_pages_and_an_agent_only_its_own(vault: Vault, caller: Caller) -> None:
    with_policy(vault, POLICY + "  \n")
    for path in ("MEMORY.md", "daily/2026-11-20.md", "agents/desk/MEMORY.md", "agents/other/MEMORY.md"):
        vault.path(path).parent.mkdir(parents=True, exist_ok=True)
        vault.path(path).write_text(f"# Notes\n\n- A line of {path} on zebras.\n")
    remember_some(vault, caller, private=False)  # takes the edits in

    def lines(reader: Vault) -> list[str]:
        rows = run_query(reader, lambda index: index.database.execute("SELECT path FROM note ORDER BY path").fetchall())
        return [path for (path,) in rows]

    assert len(lines(vault)) == 4
    assert lines(read_for(vault, "clara")) == []
    assert lines(read_for(vault, agent="desk")) == ["agents/desk/MEMORY.md"]


def test_the_tables_are_whole_again_after_a_query_and_after_one_that_fails(vault: Vault, caller: Caller) -> None:
    tell(with_policy(vault), caller, _SAID)
    reader = read_for(vault, "clara")

    def failing(index: Index) -> None:
        assert index.is_restricted
        raise ZeroDivisionError

    index = open_index(vault)
    before = index.database.execute("SELECT count(*) FROM event").fetchone()
    index.close()
    with pytest.raises(ZeroDivisionError):
        run_query(reader, failing)
    assert run_query(vault, lambda index: index.database.execute("SELECT count(*) FROM event").fetchone()) == before


def test_nobody_is_shown_anything_where_the_policy_is_missing_broken_or_lacks_him(vault: Vault, caller: Caller) -> None:
    tell(vault, caller, _SAID)
    with pytest.raises(NotFound, match=r"has no governance/access\.yaml"):
        texts(read_for(vault, "clara"), caller)
    assert read_access(vault) is None and len(texts(read_for(vault, agent="desk"), caller)) == 4
    with_policy(vault)
    with pytest.raises(NotFound, match="has no person 'eve'"):
        texts(read_for(vault, "eve"), caller)
    with_policy(vault, "people: 3\n")
    for reader in (read_for(vault, "clara"), read_for(vault, agent="desk"), read_for(vault, agent="stranger")):
        with pytest.raises(Unreadable):
            texts(reader, caller)


def test_many_marks_and_rows_are_decided_alike(vault: Vault, caller: Caller) -> None:
    chance = random.Random(5)
    names = ["lucia", "alvarez", "clara", "desk"]
    rows = []
    for at in range(120):
        audience = chance.sample(names, chance.randint(0, 3))
        rows.append((chance.choice(names), f"Message {at} on tigers.", {"participants": audience} if audience else {}))
    tell(with_policy(vault), caller, rows)
    for name in names:
        seen = run_query(
            read_for(vault, name), lambda index: index.database.execute("SELECT line FROM event").fetchall()
        )
        wanted = {
            text for speaker, text, about in rows
            if not about or speaker == name or name in about["participants"]
        }  # fmt: skip
        assert {json.loads(line)["text"] for (line,) in seen} == wanted


def test_what_a_viewer_may_see_is_asked_anew_where_the_memory_or_the_policy_changed(
    vault: Vault, caller: Caller
) -> None:
    with stores_kept_open():
        tell(with_policy(vault), caller, _SAID)
        before = {"clara": texts(read_for(vault, "clara"), caller), "lucia": texts(read_for(vault, "lucia"), caller)}
        assert before["clara"] == {text for _, text, metadata in _SAID if metadata != _HEALTH}
        more = "The kitchen of Lucia is too cold for the biopsy."
        tell(vault, caller, [("Dr. Alvarez", more, _HEALTH)])
        assert texts(read_for(vault, "clara"), caller) == before["clara"]
        assert texts(read_for(vault, "lucia"), caller) == before["lucia"] | {more}
        assert texts(read_for(vault, "clara"), caller) == before["clara"]
        with_policy(vault, POLICY.replace("rules: [", "rules: [{role: reception, may: health}, "))
        assert texts(read_for(vault, "clara"), caller) == {more, *(text for _, text, _ in _SAID)}


def test_links_between_facts_that_are_seen_are_shown_without_their_reasons(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "vault" / "governance").mkdir(exist_ok=True)
    (tmp_path / "vault" / "governance" / "access.yaml").write_text(POLICY)
    words = ("Tea is green.", "Milk is white.", "Lucia has sarcoidosis.")
    tea, milk, health = (clawmem("remember", each, "--json").data["facts"][0]["id"] for each in words)
    clawmem("access", "mark", health, "--kind", "health")
    clawmem("link", tea, milk, "-t", "contradicts", "--reason", "the lungs of Lucia")
    clawmem("link", tea, health, "-t", "supports", "--reason", "the lungs of Lucia")
    for verb in (("recall", "tea"), ("context", "tea"), ("show", tea), ("graph", "neighbors", tea)):
        shown = clawmem("--viewer", "clara", *verb)
        assert shown.code == 0 and tea in shown.out and health not in shown.out and "lungs" not in shown.out, verb
    assert f"-contradicts-> {milk}" in clawmem("--viewer", "clara", "graph", "neighbors", tea).out
    assert tea not in clawmem("--viewer", "clara", "recall", "lungs", "--all").out, "nothing that is shown has the word"
    assert tea in clawmem("recall", "lungs").out and tea in clawmem("--viewer", "clara", "recall", "greens").out
