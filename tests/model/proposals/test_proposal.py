"""Proposals as values: ids, places, and what makes two of them the same thing."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from typing import Any

import pytest

from clawmem.errors import NeedsDecision, Unreadable
from clawmem.model.facts.fact import UNSET_ID, Fact
from clawmem.model.kinds import PROPOSAL_FILE, file_kind
from clawmem.model.proposals.proposal import (
    ADD,
    APPROVED,
    BY_KIND,
    DECIDE,
    END,
    LINE,
    PREDICATE,
    PROMOTE,
    PROPOSAL_KINDS,
    SUPERSEDE,
    PageLine,
    PromotionWorth,
    Proposal,
    ProposalKind,
    ProposalTarget,
    ReviewDecision,
    new_proposal_id,
    parse_proposal,
    proposal_path,
    render_proposal,
    topic,
)

HOME = Fact("new", "Dana lives in Porto.", "fact", "", "chat", subject="Dana", predicate="lives_in", object="Porto")


def test_ids_are_short_and_grow_where_they_are_taken() -> None:
    assert new_proposal_id(lambda count: b"\x0a" * count, set()) == "prop_0a0a0a0a"
    assert new_proposal_id(lambda count: b"\x0a" * count, {"prop_0a0a0a0a"}) == "prop_" + "0a" * 8


def test_a_proposal_has_a_file_of_its_own() -> None:
    assert proposal_path("prop_1a2b3c4d") == "review/prop_1a2b3c4d.json"
    assert file_kind("review/prop_1a2b3c4d.json") is PROPOSAL_FILE
    others = ("review/notes.md", "review/old/prop_1.json", "life/prop_1.json")
    assert PROPOSAL_FILE not in map(file_kind, others)


def test_the_same_triple_in_other_words_is_the_same_thing() -> None:
    other = HOME._replace(fact="dana's home is Porto", subject="DANA", object="porto")
    assert topic(ADD, HOME) == topic(SUPERSEDE, other)
    assert topic(ADD, HOME) != topic(END, HOME)
    assert topic(ADD, HOME) != topic(ADD, HOME._replace(object="Leeds"))


def test_without_a_triple_the_words_decide() -> None:
    bare = HOME._replace(predicate=None)
    assert topic(ADD, bare) == topic(ADD, bare._replace(fact="DANA lives  in Porto", object=None))
    assert topic(ADD, bare) != topic(ADD, bare._replace(fact="Dana lives in Rome."))


AT = "2026-11-21T09:30:00Z"
FACT = Fact(
    UNSET_ID, "Dana was born in Bergen.", "milestone", AT, "chat.jsonl", subject="Dana", predicate="born_in",
    object="Bergen", source_event="evt_1", source_text="born in Bergen", source_span=(6, 20), confidence=0.9,
    metadata={"said_at": "2026-11-02T10:00:00Z"},
)  # fmt: skip
CONFLICT = Proposal(
    "prop_00000001", "conflict", "Dana was born in Bergen.", "It contradicts another.", AT, SUPERSEDE,
    targets=(ProposalTarget("fact_00000001", "Dana was born in Oslo."),), fact=FACT, entity="areas/people/dana",
    source_event="evt_1", agent="finance",
)  # fmt: skip
EVERY = (
    CONFLICT,
    CONFLICT._replace(status=APPROVED, decided=ReviewDecision("a person", AT, "her passport says so")),
    CONFLICT._replace(does=ADD, targets=(), entity=None, title="Dana", extra={"pattern": "x", "more": [1]}),
    Proposal("prop_00000001", "predicate", "Know it.", "Three.", AT, PREDICATE, extra={"entry": {"name": "mentors"}}),
    Proposal(
        "prop_00000001",
        "promotion",
        "Keep it.",
        "From a tool.",
        AT,
        PROMOTE,
        worth=PromotionWorth("2026-11-20", 0.62, ("a",)),
        targets=(ProposalTarget("fact_00000001", "Dana was born in Oslo."),),
    ),
    CONFLICT._replace(kind="promotion", does=PROMOTE, targets=(), worth=PromotionWorth("2026-11-20", 0.5)),
    Proposal(
        "prop_00000001", "tacit", "Be brief.", "Said 3 times.", AT, LINE, line=PageLine("agents/x/TACIT.md", "- x")
    ),
    Proposal(
        "prop_00000001", "escalation", "Is it done?", "Undecided.", AT, DECIDE, details={"task": "fix", "workflow": "w"}
    ),
    CONFLICT._replace(status=APPROVED, decided=ReviewDecision("clerk", AT, None, "Ada <ada@example.org>", True)),
)
PATH = "review/prop_00000001.json"


@pytest.mark.parametrize("proposal", EVERY, ids=lambda other: f"{other.kind}-{other.status}-{other.does}")
def test_a_round_trip_loses_nothing(proposal: Proposal) -> None:
    data = render_proposal(proposal)
    assert parse_proposal(data, PATH) == proposal
    lines = data.decode().splitlines()
    assert lines[0] == "{"
    assert [json.loads("{" + line.rstrip(",") + "}") for line in lines[1:-1]], "each line is one key"


def test_a_fact_that_waits_has_no_identity_yet() -> None:
    record = json.loads(render_proposal(CONFLICT))
    assert not {"id", "timestamp", "status", "access_count", "superseded_by"} & record["fact"].keys()
    assert record["fact"]["source_span"] == [6, 20]


def damaged(**changes: Any) -> bytes:
    """The conflict's file with other values; None takes a key out."""
    record = {**json.loads(render_proposal(CONFLICT)), **changes}
    return json.dumps({key: value for key, value in record.items() if value is not None}).encode()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (damaged(kind="whim"), "'kind' must be one of fact, conflict"),
        (damaged(says=None), "'says' is missing"),
        (damaged(entity=3), "'entity' must be text"),
        (damaged(fact=None), "'fact' is missing"),
        (damaged(targets=None), "'targets' is missing"),
        (damaged(targets="fact_1"), "'targets' must be a list"),
        (damaged(targets=[{"id": "fact_1"}]), "'targets[0].fact' is missing"),
        (damaged(fact={"fact": ""}), "'fact' is missing or empty"),
        (damaged(status="approved"), "'decided' is missing"),
        (damaged(id="prop_other"), "it contains prop_other"),
        (damaged(does="line", line={"page": "../x.md", "text": "y"}), "must be a page of the vault"),
        (damaged(does="line", line={"page": ".git/config", "text": "y"}), "must be a page of the vault"),
        (damaged(does="promote"), "'worth' is missing"),
        (damaged(does="promote", worth={"on": "2026-11-20", "score": 0.5}), "exactly one fact to promote"),
        (damaged(worth={"on": "soon", "score": 0.5}), "the key 'worth.on' must be a day, but is 'soon'"),
        (damaged(worth={"on": "2026-11-20", "score": 2}), "'worth.score' must be a number between 0 and 1, but is 2"),
        (damaged(worth={"on": "2026-11-20", "score": 1, "reasons": "x"}), "'worth.reasons' must be a list"),
    ],
)
def test_what_is_wrong_is_told(data: bytes, text: str) -> None:
    with pytest.raises(Unreadable) as raised:
        parse_proposal(data, PATH)
    assert text in raised.value.message
    assert PATH in raised.value.message


def test_the_marks_of_a_merge_need_a_person() -> None:
    with pytest.raises(NeedsDecision):
        parse_proposal(b"<<<<<<< ours\n" + render_proposal(CONFLICT), PATH)


def test_names_are_unique() -> None:
    assert len(BY_KIND) == len(PROPOSAL_KINDS)


@pytest.mark.parametrize("kind", PROPOSAL_KINDS, ids=lambda other: other.name)
def test_what_a_row_calls_takes_the_write_the_proposal_and_the_facts(kind: ProposalKind) -> None:
    assert kind.name.isalpha() and kind.name.islower() and kind.about
    if kind.on_decision:
        module, _, function = kind.on_decision.partition(":")
        called = getattr(import_module(module), function)
        assert len(inspect.signature(called).parameters) == 3
