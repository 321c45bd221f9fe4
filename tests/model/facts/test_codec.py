"""The codec: what is written reads back, other layouts are read, unknown keys survive, wrong lines are named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import NeedsDecision, Unreadable
from clawmem.model.facts.codec import (
    fact_from_record,
    fact_to_record,
    parse_items,
    parse_items_with_lines,
    render_items,
)
from clawmem.model.facts.fact import ALWAYS_WRITTEN, STATUSES, TRUSTS, Fact, FactLink
from tests.conftest import examples

_TEXT = st.text(min_size=1, max_size=30).filter(lambda text: text.strip() != "")
_RATIO = st.floats(0, 1) | st.none()
_MAYBE = _TEXT | st.none()
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)

_FACTS = st.builds(
    Fact,
    id=_TEXT,
    fact=_TEXT,
    category=_TEXT,
    timestamp=_TEXT,
    source=_TEXT,
    status=st.sampled_from(STATUSES),
    access_count=st.integers(0, 10**6),
    last_accessed=_MAYBE,
    superseded_by=_MAYBE,
    subject=_MAYBE,
    predicate=_MAYBE,
    object=_MAYBE,
    source_span=st.none() | st.tuples(st.integers(0, 5), st.integers(5, 9)),
    confidence=_RATIO,
    importance=_RATIO,
    trust=st.sampled_from(TRUSTS) | st.none(),
    related_entities=st.lists(_TEXT, max_size=3).map(tuple),
    tags=st.lists(_TEXT, max_size=3).map(tuple),
    links=st.lists(st.builds(FactLink, _TEXT, _TEXT, _MAYBE, _MAYBE), max_size=2).map(tuple),
    details=st.none() | st.dictionaries(_TEXT, _JSON, min_size=1, max_size=3),
    relation_phrase=_MAYBE,
    valid_from=_MAYBE,
    valid_to=_MAYBE,
    source_event=_MAYBE,
    source_text=_MAYBE,
    agent=_MAYBE,
    workflow=_MAYBE,
    metadata=st.none() | st.dictionaries(_TEXT, _JSON, min_size=1, max_size=2),
    extra=st.dictionaries(_TEXT.map(lambda text: f"x_{text}"), _JSON, max_size=3),
)


@examples(20, 100)
@given(st.lists(_FACTS, max_size=5, unique_by=lambda fact: fact.id))
def test_facts_read_back_as_written_one_on_each_line(facts: list[Fact]) -> None:
    data = render_items(facts)
    assert parse_items_with_lines(data, "items.json") == tuple(enumerate(facts, 2))
    assert [record["id"] for record in json.loads(data)] == [fact.id for fact in facts]
    if facts:
        assert data.count(b"\n") == len(facts) + 2


@examples(25, 100)
@given(_FACTS)
def test_the_first_nine_keys_are_always_written_in_order(fact: Fact) -> None:
    record = fact_to_record(fact)
    assert tuple(record)[:9] == ALWAYS_WRITTEN
    assert all(
        value not in (None, [], {})
        for key, value in record.items()
        if key not in ALWAYS_WRITTEN[5:] and key[:2] != "x_"
    )


def test_other_layouts_are_read() -> None:
    old = {
        "fact_id": "f1",
        "fact": "Jane likes tea",
        "kind": "preference",
        "created_at": "2024-01-01T00:00:00Z",
        "supersededBy": "f2",
        "accessCount": 3,
        "lastAccessed": "2024-02-01",
        "relatedEntities": ["areas/people/jane"],
        "agentId": "finance",
        "importance_score": 0.7,
        "object_text": "tea",
        "temporal_edges": [{"relation": "supersedes", "target": "f0"}],
        "mood": "sunny",
    }
    fact = fact_from_record(old)
    assert (fact.id, fact.category, fact.timestamp, fact.superseded_by) == (
        "f1",
        "preference",
        "2024-01-01T00:00:00Z",
        "f2",
    )
    assert (fact.status, fact.access_count, fact.agent, fact.importance, fact.object) == (
        "superseded",
        3,
        "finance",
        0.7,
        "tea",
    )
    assert fact.links == (FactLink("supersedes", "f0"),)
    assert fact.extra == {"mood": "sunny"}
    assert fact_to_record(fact)["mood"] == "sunny"


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a", "fact": "one"}, {"id": "b", "fact": "two"}]',
        '[\n  {\n    "id": "a",\n    "fact": "one"\n  },\n  {"id": "b", "fact": "two"}\n]\n',
        '{"items": [{"id": "a", "fact": "one"}, {"id": "b", "fact": "two"}]}',
        '\ufeff[\r\n{"id": "a", "fact": "one"},\r\n{"id": "b", "fact": "two"}\r\n]\r\n',
    ],
)
def test_any_layout_of_the_array_is_read(text: str) -> None:
    assert [fact.id for fact in parse_items(text.encode(), "items.json")] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ('[\n{"id": "a", "fact": "one"},\n', 3),
        ('[\n{"id": "a", "fact": "one"}\n{"id": "b", "fact": "two"}\n]\n', 3),
        ('[\n{"id": "a", "fact": "one"},\n{oops}\n]\n', 3),
        ('[\n{"id": "a", "fact": "one"},\n{"id": "a", "fact": "two"}\n]\n', 3),
        ('[\n{"id": "a", "fact": ""}\n]\n', 2),
        ('[\n{"id": "a", "fact": "x", "status": "gone"}\n]\n', 2),
        ('[\n{"id": "a", "fact": "x", "confidence": 2}\n]\n', 2),
        ("[\n7\n]\n", 2),
        ('"text"', 1),
    ],
)
def test_what_is_wrong_is_named_by_its_line(text: str, line: int) -> None:
    with pytest.raises(Unreadable) as found:
        parse_items(text.encode(), "life/x/items.json")
    assert found.value.line == line
    assert f"life/x/items.json:{line}" in found.value.message


def test_bytes_that_are_no_text_and_marks_of_a_merge() -> None:
    with pytest.raises(Unreadable, match=r"items\.json:2"):
        parse_items(b"[\n\xff\n]\n", "items.json")
    with pytest.raises(NeedsDecision, match=r"items\.json:2"):
        parse_items(b"[\n<<<<<<< ours\n]\n", "items.json")
