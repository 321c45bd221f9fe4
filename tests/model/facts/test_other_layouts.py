"""Records of other layouts: a triple without a statement, temporal edges, and words for the origin of a statement."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.facts.codec import fact_from_record, fact_to_line
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import FactLink
from clawmem.model.facts.trust import agent_of_source, statement_trust, trust_of_source

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
