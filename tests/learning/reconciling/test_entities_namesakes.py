"""People of the same name in different conversations."""

from __future__ import annotations

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.learning.reconciling.entities import Namesakes, acquaintances, conversation_of, people_of, session_of
from clawmem.memory.entities.entities import merge_entities
from clawmem.memory.health.configure import change_setting
from clawmem.memory.health.doctor import doctor
from clawmem.memory.proposals import read_proposals
from clawmem.model.proposals.para import EntityHint, Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import Entity
from clawmem.model.records.event import Event
from clawmem.model.transcripts.message import Message
from clawmem.serving.recall.recall import recall
from clawmem.vault.vault import Vault
from tests.plain_reader import learn_plainly as learn

JO = Entity("areas/people/jo", "Jo", ("Jo (known to Mia)", "Jo (known to Ben)"), "person")
OTHER = Entity("areas/people/jo-known-to-tess", "Jo (known to Tess)", ("Jo",), "person")
ANYONE = Entity("areas/people/kay", "Kay", (), "person")
LU = Entity("areas/people/lu", "Lu", ("Lu (known to Jo)", "Lu (known to Mia)"), "person")

CASES = [
    ("Jo", ("Jo", "Mia"), "Jo"),
    ("Jo", ("Jo", "Ada", "Ben"), "Jo"),
    ("Jo", ("Jo", "Tess"), "Jo (known to Tess)"),
    ("Jo", ("Jo", "Ada"), "Jo (known to Ada)"),
    ("Jo", ("Jo",), "Jo"),
    ("Jo", (), "Jo"),
    ("Kay", ("Kay", "Ada"), "Kay"),
    ("New", ("New", "Ada"), "New"),
    ("Lu", ("Jo", "Mia"), "Lu"),
    ("Lu", ("Jo", "Tess"), "Lu (known to Jo)"),
    ("Sam", ("Sam", "Ada"), "Sam"),
    ("User", ("Ada", "Ben"), "User"),
]


@pytest.mark.parametrize(("name", "people", "title"), CASES)
def test_the_name_of_a_person_in_a_conversation(name: str, people: tuple[str, ...], title: str) -> None:
    sam = Entity("areas/people/sam", "Sam", ("Sam (known to Ben)",), "person")
    assert Namesakes([JO, OTHER, ANYONE, LU, sam], "Sam").title_here(name, people) == title


def test_the_user_is_one_person_under_the_name_that_git_has() -> None:
    sam = Entity("areas/people/sam", "Sam", ("Sam (known to Ben)",), "person")
    assert Namesakes([sam], "user", "Sam").title_here("Sam", ("Sam", "Ada")) == "Sam"
    for other in ("Sam Field", ""):
        assert Namesakes([sam], "user", other).title_here("Sam", ("Sam", "Ada")) == "Sam (known to Ada)"


def test_every_mention_in_a_proposition_has_the_name_that_tells_apart() -> None:
    proposition = Proposition(
        "Tess and Jo's sister like Jona.", "evt_1", (0, 1), "x", subject="Jo's sister", object="Jona"
    )
    proposition = proposition._replace(
        entity_hints=(EntityHint("person", "Jo", "speaker"), EntityHint("company", "Jo", "work"))
    )
    here = Namesakes([JO, OTHER], "user").here(proposition, ("Jo", "Tess"))
    assert (here.statement, here.subject, here.object) == (
        "Tess and Jo (known to Tess)'s sister like Jona.",
        "Jo (known to Tess)'s sister",
        "Jona",
    )
    assert [entity_hint.title for entity_hint in here.entity_hints] == ["Jo (known to Tess)", "Jo"]
    assert Namesakes([JO, OTHER], "user").here(proposition, ("Jo", "Mia")) == proposition


def test_the_aliases_of_a_new_person() -> None:
    assert acquaintances("Jo", ("Jo", "Mia", "Ben")) == ("Jo (known to Ben)", "Jo (known to Mia)")
    assert acquaintances("Jo (known to Ben)", ("Jo", "Mia", "Ben")) == ("Jo", "Jo (known to Mia)")
    assert acquaintances("Jo", ("Jo",)) == ()


def test_a_source_is_one_conversation_and_of_piped_messages_a_session() -> None:
    message = Event("evt_1", "2026-01-01T00:00:00Z", "user", "Hi.", "Jo", "one", source="team.jsonl")
    other = message._replace(id="evt_2", speaker="Mia", session="two")
    piped = [event._replace(source="stdin") for event in (message, other)]
    found = people_of([message, other])
    assert found[conversation_of(message)] == {"Jo", "Mia"} and found[session_of(other)] == {"Mia"}
    assert [set(people_of(piped)[conversation_of(event)]) for event in piped] == [{"Jo"}, {"Mia"}]
    assert conversation_of(message) == conversation_of(other) != conversation_of(piped[0])


def talk(vault: Vault, caller: Caller, source: str, day: int, *items: tuple[str, str]) -> None:
    messages = [Message(1, "user", text, f"2026-11-{day:02}T10:00:0{n}Z", who) for n, (who, text) in enumerate(items)]
    ingest(vault, messages, caller, source)
    learn(vault, caller)


def known(vault: Vault) -> set[tuple[str, str]]:
    index = open_index(vault)
    try:
        return {(placed.entity, placed.fact.fact) for placed in all_facts(index) if placed.fact.status == "active"}
    finally:
        index.close()


FIRST, SECOND = "areas/people/jo", "areas/people/jo-known-to-tess"


@pytest.fixture
def two_people(vault: Vault, caller: Caller) -> Vault:
    """A vault with two people called Jo, each in a conversation of their own."""
    talk(vault, caller, "a.jsonl", 1, ("Jo", "I live in Oslo."), ("Mia", "I work at Corvid Labs."))
    talk(vault, caller, "b.jsonl", 2, ("Jo", "I live in Rome."), ("Tess", "I am allergic to nuts."))
    return vault


def test_two_people_of_one_name_do_not_replace_each_others_facts(two_people: Vault, caller: Caller) -> None:
    assert {(FIRST, "Jo lives in Oslo."), (SECOND, "Jo (known to Tess) lives in Rome.")} <= known(two_people)
    assert read_proposals(two_people, two_people.read).proposals == ()
    assert [problem for problem in doctor(two_people, caller).problems if problem.check != "learning"] == []
    # Both are found, in later rounds too.
    talk(two_people, caller, "c.jsonl", 3, ("Tess", "I like tea."), ("Jo", "I live in Turin."))
    talk(two_people, caller, "d.jsonl", 4, ("Mia", "I like tea."), ("Jo", "I live in Bergen."))
    lives = {pair for pair in known(two_people) if "lives" in pair[1]}
    assert lives == {(FIRST, "Jo lives in Bergen."), (SECOND, "Jo (known to Tess) lives in Turin.")}


def test_recall_shows_both_and_marks_no_conflict(two_people: Vault, caller: Caller) -> None:
    found = recall(two_people, "Where does Jo live?", caller, FactFilter(), 10)
    assert {hit.entity for hit in found.found[:2]} == {FIRST, SECOND}
    assert found.conflicts == {}


def test_merged_people_are_one_from_then_on(two_people: Vault, caller: Caller) -> None:
    page = two_people.root / f"life/{SECOND}/summary.md"
    page.write_text(page.read_text().replace("<!-- clawmem:begin -->", "Plays chess.\n\n<!-- clawmem:begin -->"))
    change = merge_entities(two_people, SECOND, FIRST, caller)
    assert (change.name, change.former) == (FIRST, SECOND)
    assert {(FIRST, "Jo lives in Oslo."), (FIRST, "Jo lives in Rome.")} <= known(two_people)
    assert "\nPlays chess.\n" in (two_people.root / f"life/{FIRST}/summary.md").read_text()
    assert not (two_people.root / f"life/{SECOND}").exists()
    talk(two_people, caller, "e.jsonl", 5, ("Tess", "I like tea."), ("Jo", "I live in Turin."))
    assert {text for _, text in known(two_people) if "lives" in text} == {"Jo lives in Turin."}
    assert [problem for problem in doctor(two_people, caller).problems if problem.severity == "error"] == []


def test_the_user_is_one_person_in_all_conversations(vault: Vault, caller: Caller, environment: dict[str, str]) -> None:
    change_setting(vault, caller, "user.name", "Jo")
    vault = Vault(vault.root, environment)  # one that reads the new setting
    talk(vault, caller, "a.jsonl", 1, ("Jo", "I live in Oslo."), ("Mia", "I work at Corvid Labs."))
    talk(vault, caller, "b.jsonl", 2, ("Jo", "I live in Rome."), ("Tess", "I am allergic to nuts."))
    assert {pair for pair in known(vault) if "lives" in pair[1]} == {(FIRST, "Jo lives in Rome.")}


def test_people_of_different_sessions_of_a_file_do_not_know_each_other(vault: Vault, caller: Caller) -> None:
    items = [("Jo", "I live in Oslo.", "1"), ("Mia", "I live in Bergen.", "1"), ("Tess", "I live in Rome.", "2")]
    messages = [
        Message(1, "user", text, f"2026-11-01T10:00:0{n}Z", who, session)
        for n, (who, text, session) in enumerate(items)
    ]
    ingest(vault, messages, caller, "all.jsonl")
    learn(vault, caller)
    pages = [(vault.root / f"life/areas/people/{name}/summary.md").read_text() for name in ("jo", "tess")]
    assert "Jo (known to Mia)" in pages[0] and "Tess" not in pages[0]
    assert "known to" not in pages[1]
