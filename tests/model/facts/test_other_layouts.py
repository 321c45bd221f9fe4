"""Records of other layouts: a triple without a statement, temporal edges, and words for the origin of a statement."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from clawmem.errors import InvalidInput
from clawmem.index.tables.background import exact_counter
from clawmem.model.facts.codec import fact_from_record, fact_to_line
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import FactLink, agent_of_source, statement_trust, trust_of_source
from tests.conftest import Command

NOW = datetime(2026, 11, 21, tzinfo=UTC)
RECORD = {
    "fact_id": "fact_0000abcd",
    "subject": "Jane",
    "predicate": "lives_in",
    "object_text": "Oslo",
    "kind": "status",
    "tier": "hot",
    "temporal_edges": [
        {"edge_type": "supersedes", "target_id": "fact_0000aaaa"},
        {"valid_from": "2026-01-01", "valid_to": "2026-06-01"},
        "since spring",
    ],
}


def test_a_record_without_a_statement_is_read() -> None:
    fact = fact_from_record(RECORD)
    assert (fact.id, fact.fact, fact.category, fact.object) == ("fact_0000abcd", "Jane lives in Oslo", "status", "Oslo")
    assert fact.links == (FactLink("supersedes", "fact_0000aaaa"),)
    assert (fact.valid_from, fact.valid_to) == ("2026-01-01", "2026-06-01")
    assert fact.extra == {"tier": "hot", "temporal_edges": RECORD["temporal_edges"][1:]}


def test_nothing_of_it_is_lost_on_the_way_to_the_vault() -> None:
    fact = fact_from_record(RECORD)
    assert fact_from_record(json.loads(fact_to_line(fact))) == fact


STATED = [
    ({"subject": "Jane", "relation_phrase": "moved to", "objectText": "Oslo"}, "Jane moved to Oslo"),
    ({"object_text": "Tea is served at four"}, "Tea is served at four"),
    ({"fact": "Jane is here", "subject": "Jane", "object_text": "here"}, "Jane is here"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "statement"), STATED)
def test_what_a_record_states(record: dict[str, object], statement: str) -> None:
    assert fact_from_record({"id": "fact_1", **record}).fact == statement
    assert draft_from_record(record, NOW).fact.fact == statement


@pytest.mark.parametrize("record", [{"subject": "Jane"}, {"subject": "Jane", "predicate": "lives_in"}, {"object": ""}])
def test_a_record_that_states_nothing_is_refused(record: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        fact_from_record({"id": "fact_1", **record})
    with pytest.raises(InvalidInput):
        draft_from_record(record, NOW)


def test_links_that_are_none_are_still_refused() -> None:
    with pytest.raises(InvalidInput):
        fact_from_record({"id": "fact_1", "fact": "x", "links": [{"valid_from": "2026-01-01"}]})


SOURCES = [
    ("user_stated", None, "user"), ("user_stated", "cli", "agent"), ("correction", None, "user"),
    ("correction", "cli", "agent"), ("memory_extractor:finance", None, "agent"), ("memory_extractor", None, "agent"),
    ("memory_extractor:finance", "cli", "agent"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "agent", "trust"), SOURCES)
def test_the_trust_of_the_words_for_an_origin(source: str, agent: str | None, trust: str) -> None:
    assert statement_trust(None, source, agent) == trust
    if trust_of_source(source) == "agent":
        assert statement_trust("user", source, agent) == "agent"


def test_the_agent_that_an_extractor_belongs_to() -> None:
    assert agent_of_source("memory_extractor:finance") == "finance"
    assert agent_of_source("memory_extractor") is None
    assert agent_of_source("memory_extractor:../x") is None
    assert agent_of_source("web:finance") is None


def test_a_program_gets_the_facts_of_an_answer_and_those_always_told(clawmem: Command) -> None:
    keep = ("remember", "-e", "projects/tidemark", "--subject", "Tidemark", "--object")
    for number, spelling in enumerate(("has_deadline", "has deadline", "hasDeadline", "due date")):
        name = f"Tide{number}"
        text = f"The {name} one is for June {number + 2}."
        record = ("--subject", name, "--predicate", spelling, "--object", f"June {number + 2}")
        assert clawmem("remember", text, "-e", f"projects/{name.lower()}", *record).code == 0
        (first, *_) = clawmem("recall", f"what is the deadline of {name}?", "--json").data["facts"]
        assert first["fact"] == text and "predicate" in first["channels"], spelling
    old = clawmem("remember", "Tidemark ends in May.", *keep[1:], "May", "--predicate", "has_deadline", "--json").data
    assert clawmem("supersede", old["facts"][0]["id"], "Tidemark ends in June.", "--reason", "slip").code == 0
    assert clawmem("remember", "Priya is allergic to penicillin.", "--importance", "0.95").code == 0
    assert clawmem("heartbeat", "--only", "tokens").code == 0
    data = clawmem("recall", "when does Tidemark end?", "--json").data
    message = data["answer_facts"][0]
    assert (message["predicate"], message["object_text"], message["source"]) == (
        "has_deadline",
        "June",
        "correction",
    )
    assert {"tier", "confidence", "source_text", "entity", "id"} <= message.keys()
    (hot,) = data["hot_facts"]
    assert (hot["fact"], hot["source"]) == ("Priya is allergic to penicillin.", "user_stated")
    prompt = data["llm_context"]
    assert "## Always\n- Priya is allergic" in prompt["text"] and "Tidemark ends in June." in prompt["text"]
    assert prompt["token_count"] == exact_counter()(prompt["text"])
    assert "Priya" not in clawmem("recall", "when does Tidemark end?").out + data["context"]["text"]


def test_show_gives_the_record_of_another_program_which_is_read_again(clawmem: Command) -> None:
    triple = ("--subject", "Jane", "--predicate", "lives_in", "--object", "Oslo", "--valid-from", "2024-03-01")
    fact = clawmem("remember", "Jane lives in Oslo.", *triple, "--json").data["facts"][0]["id"]
    now = clawmem("supersede", fact, "Jane lives in Bergen.", "--reason", "a job", "--json").data
    record = json.loads(clawmem("show", fact, "--format", "claiv").out)
    assert (record["fact_id"], record["kind"], record["object_text"], record["tier"]) == (fact, "fact", "Oslo", "cold")
    new = next(other_fact["id"] for other_fact in clawmem("list", "--json").data["facts"])
    assert {"edge_type": "superseded_by", "target_id": new} in record["temporal_edges"], now
    edges = clawmem("show", new, "--format", "claiv", "--json").data["record"]["temporal_edges"]
    assert {"edge_type": "supersedes", "target_id": fact, "reason": "a job"}.items() <= edges[0].items()
    again = fact_from_record(record)
    assert (again.valid_from, again.superseded_by, again.timestamp) == ("2024-03-01", new, record["created_at"])


def test_an_agent_has_a_name_and_a_face(clawmem: Command) -> None:
    assert clawmem("agent", "create", "rosa").code == 0
    for key, value in (("name", "Rosa Klein"), ("emoji", "\N{TURTLE}"), ("description", "Keeps the accounts.")):
        assert clawmem("config", "set", f"agents.rosa.{key}", value).code == 0
    assert clawmem("agent", "list").out == "rosa\t0 entities\t\N{TURTLE} Rosa Klein: Keeps the accounts.\n"
    shown = clawmem("agent", "show", "rosa", "--json").data["agent"]
    assert (shown["name"], shown["emoji"], shown["description"]) == ("Rosa Klein", "\N{TURTLE}", "Keeps the accounts.")
