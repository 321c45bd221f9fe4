"""Staleness: a day for review, a premise that fell, no use for half a year; the label in a context."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter, all_passing
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import Reach
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import stale_reason
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, ledger_path, render_events
from clawmem.serving.browse import analytics, list_stale, sources_of
from clawmem.serving.context.context import context
from clawmem.vault.state.journal import record_access, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.conftest import Command


def _store(vault: Vault, caller: Caller, fact: str, **values: object) -> Fact:
    draft = draft_from_record({"fact": fact, "entity": "projects/boat", **values}, caller.now)
    return remember(vault, [draft], caller).facts[0].fact


def _stale(vault: Vault, caller: Caller) -> dict[str, str]:
    return {placed.fact.fact: why for placed, why in list_stale(vault, caller, FactFilter(), 50).facts}


def test_why_a_fact_is_stale(vault: Vault, caller: Caller, clawmem: Command) -> None:
    work = {"scope": "team", "workflow": "software"}
    _store(vault, caller, "The licence is valid.", details={"review_by": "2026-11-20"})
    _store(vault, caller, "The mast is new.", details={"review_by": "2026-11-21"})
    premise = _store(vault, caller, "The hull is dry.")
    link = {"type": "depends_on", "to": premise.id}
    _store(vault, caller, "Paint the hull now.", links=[link])
    _store(vault, caller, "Check the tide first.", category="lesson", **work)
    _store(vault, caller, "Jane likes the boat.")
    assert _stale(vault, caller) == {"The licence is valid.": "stale after 2026-11-20"}
    retract(vault, premise.id, caller)
    assert _stale(vault, caller)["Paint the hull now."] == f"it rests on {premise.id}, which was retracted"
    later = caller._replace(now=caller.now + timedelta(days=181))
    assert _stale(vault, later)["Check the tide first."] == "not confirmed or used for 181 days"
    assert "Jane likes the boat." not in _stale(vault, later)
    text = context(vault, later, 800, "check the tide", reach=Reach("software")).text
    assert "Check the tide first. (2026-11-21) (stale: not confirmed or used for 181 days)" in text
    assert clawmem("list", "--stale", "--json").data["total"] == 2
    assert clawmem("list", "--stale", "-n", "1", "--category", "lesson", "--json").data["total"] == 0
    refused = clawmem("list", "--stale", "--tier", "cold")
    assert refused.code == 2 and "--stale takes no tier, status or time." in refused.err


def test_a_changed_source_makes_a_fact_stale(vault: Vault, caller: Caller) -> None:
    texts = ("The mast is 12 metres long.", "The keel weighs 900 kilograms.", "The sail is red.", "The flag is blue.")
    events = [Event(f"evt_{at:016}", stamp(caller.now), "user", text) for at, text in enumerate(texts)]
    path = vault.root / ledger_path(stamp(caller.now)[:10])

    def write(changed: list[Event]) -> None:
        path.write_bytes(render_events(changed))

    write(events)
    for event in events:
        _store(vault, caller, event.text, source_event=event.id)
    assert _stale(vault, caller) == {}
    revoked = events[0]._replace(recalled=True, metadata={"revoked": "2026-11-21"})
    redacted = events[1]._replace(text="The keel weighs [redacted].")
    write([revoked, redacted, events[2]._replace(text="The sail is green."), events[3]])
    remember(vault, [draft_from_record({"fact": "The boat is old."}, caller.now)], caller)
    assert _stale(vault, caller) == {
        texts[0]: f"source changed: {events[0].id} was revoked",
        texts[1]: f"source changed: {events[1].id} was redacted",
        texts[2]: f"source changed: {events[2].id} no longer contains the quote",
    }


def test_facts_that_are_not_read_have_no_reason(vault: Vault, caller: Caller) -> None:
    premise = _store(vault, caller, "The keel is straight.")
    texts: dict[str, dict[str, object]] = {
        "The sail is red.": {"trust": "agent"},
        "The anchor holds.": {"scope": "team", "workflow": "software"},
        "The pump runs.": {"details": {"review_by": "2026-11-20"}},
        "The rudder turns.": {"links": [{"type": "depends_on", "to": premise.id}]},
        "The flag is blue.": {},
    }
    for text, values in texts.items():
        _store(vault, caller, text, **values)
    retract(vault, premise.id, caller)
    later = caller._replace(now=caller.now + timedelta(days=400))
    index = open_index(vault)
    every = [placed.fact for placed in all_passing(index, FactFilter())]
    sources = sources_of(index, every)
    index.close()
    reasons = {fact.fact: stale_reason(fact, later.now, sources) for fact in every}
    assert _stale(vault, later) == {text: why for text, why in reasons.items() if why is not None}
    assert len(_stale(vault, later)) == 4


def test_a_day_for_review_stands_beside_the_fact_wherever_it_is_served(clawmem: Command) -> None:
    record = {"fact": "The licence is valid.", "entity": "projects/boat", "details": {"review_by": "2026-11-20"}}
    assert clawmem("remember", "--jsonl", "-", given=json.dumps(record) + "\n").code == 0
    for call in (("recall", "licence"), ("list",), ("context",), ("context", "licence"), ("show", "licence")):
        assert clawmem(*call).out.count("stale after 2026-11-20") == 1, call


_MAST_AND_HULL = ("The mast is carbon.", "The hull is steel.")


def test_the_reason_of_a_link_is_searched_and_is_not_that_of_the_fact(clawmem: Command) -> None:
    for text in _MAST_AND_HULL:
        assert clawmem("remember", text).code == 0
    assert clawmem("link", *_MAST_AND_HULL, "--type", "supports", "--reason", "the quartermaster letter").code == 0
    for call in (("recall", "quartermaster"), ("list",), ("context", "mast")):
        answer = clawmem(*call).out
        assert _MAST_AND_HULL[0] in answer and "because" not in answer, call
    assert "the quartermaster letter" in clawmem("show", _MAST_AND_HULL[0]).out


def test_why_a_fact_was_withdrawn_stands_beside_the_message_that_taught_it(clawmem: Command) -> None:
    message = {"role": "user", "content": "The keel is lead.", "timestamp": "2026-11-20T10:00:00Z"}
    assert clawmem("ingest", "-", given=json.dumps(message)).code == 0
    event = json.loads(clawmem("--json", "recall", "keel").out)["data"]["events"][0]["id"]
    assert clawmem("remember", "The keel is lead.", "--event", event).code == 0
    assert clawmem("retract", "The keel is lead.", "--reason", "it was a guess").code == 0
    assert "(no longer: withdrawn, because it was a guess: The keel is lead.)" in clawmem("recall", "keel").out


def test_what_became_of_a_decision_stands_beside_it_wherever_it_is_served(clawmem: Command) -> None:
    options = ("--why", "It is light.", "--alternative", "steel: it rusts")
    assert clawmem("decision", "add", "The mast becomes carbon.", *options).code == 0
    assert clawmem("decision", "outcome", "The mast becomes", "worked").code == 0
    assert clawmem("decision", "outcome", "The mast becomes", "failed", "--note", "Lightning split it.").code == 0
    reasons = ": Lightning split it, because It is light, rejected steel: it rusts"
    calls = (
        ("recall", "mast"), ("recall", "lightning"), ("recall", "which decisions failed?"), ("list",),
        ("context", "mast"), ("show", "The mast becomes"), ("why", "The mast becomes"), ("decision", "list"),
    )  # fmt: skip
    for call in calls:
        answer = clawmem(*call).out
        assert reasons in answer and " failed 2026-" in answer and "worked 2026" not in answer, call


def test_every_verb_has_one_opinion_about_a_tier(clawmem: Command, vault_root: Path) -> None:
    for fact, importance in (("Ana is the boss.", "0.2"), ("Ana plays the oboe.", "0.6")):
        assert clawmem("remember", fact, "-e", "areas/people/ana", "--importance", importance).code == 0
    for _ in range(3):
        clawmem("recall", "oboe")
    clawmem("heartbeat", "--only", "fold")
    later = {"CLAWMEM_NOW": "2026-12-01T09:30:00Z"}
    oboe = clawmem("list", "--json").data["facts"][0]["id"]
    for policy, tiers in (("recency", "warm warm"), ("importance", "warm cold"), ("score", "warm cold")):
        assert clawmem("config", "set", "tiers.policy", policy).code == 0
        listed = clawmem("list", "--json", env=later).data["facts"]
        assert " ".join(other["tier"] for other in listed) == tiers
        assert [clawmem("tier", other["id"], "--json", env=later).data["tier"] for other in listed] == tiers.split()
        text = clawmem("context", env=later).out
        assert ("## Known" in text) == ("cold" in tiers)
        clawmem("heartbeat", "--only", "summaries", env=later)
        page = (vault_root / "life/areas/people/ana/summary.md").read_text()
        # A page has the tiers of the start of its week, when both facts were hot by recency.
        assert ("## Hot facts" in page) == ("1 more fact not shown" not in page) == ("cold" not in tiers)
    message = clawmem("tier", oboe, "--json", env=later).data
    # The seed's formula for a base of .6, 3 accesses, and 10 days: the importance that accesses raised is no base.
    assert (message["score"]["base"], message["score"]["value"], message["importance"]["value"] > 0.6) == (
        0.6,
        0.5993,
        True,
    )
    assert "never fades" in clawmem("tier", oboe, env=later).out


USED = "2026-11-21T10:00:00Z"


def test_what_is_asked_for_and_what_never(vault: Vault, caller: Caller) -> None:
    items = [("The bicycle is green", "bike"), ("The car is red", "car"), ("The boat is old", "car")]
    drafts = [draft_from_record({"fact": fact, "entity": f"resources/{name}"}, caller.now) for fact, name in items]
    bike, car, boat = (remembered_fact.fact.id for remembered_fact in remember(vault, drafts, caller).facts)
    agent = caller._replace(agent="finance")
    remember(vault, [draft_from_record({"fact": "A budget", "entity": "@finance/projects/budget"}, caller.now)], agent)
    retract(vault, boat, caller)
    for fact_id in (car, bike, bike):
        assert record_access(vault, USED, [fact_id]) is None
    fold_accesses(vault, caller)
    assert record_access(vault, USED, [bike]) is None
    before = unfolded_accesses(vault)
    result = analytics(vault, caller, 10)
    assert unfolded_accesses(vault) == before
    assert (result.facts, result.asked_for, result.accesses) == (2, 2, 4)
    assert [(placed.fact.id, placed.fact.access_count) for placed in result.most] == [(bike, 3), (car, 1)]
    assert result.never == ()
    assert [
        (entity_use.entity, entity_use.facts, entity_use.asked_for, entity_use.accesses)
        for entity_use in result.entities
    ] == [
        ("resources/bike", 1, 1, 3),
        ("resources/car", 1, 1, 1),
    ]
    assert [placed.fact.fact for placed in analytics(vault, agent, 10).never] == ["A budget"]


def test_the_verb(clawmem: Command) -> None:
    assert clawmem("analytics").out == "0 active facts: 0 asked for, 0 accesses\n"
    assert clawmem("remember", "Jane lives in Bergen.").code == 0
    shown = clawmem("analytics", "--json").data
    assert shown["total"] == {"facts": 1, "asked_for": 0, "accesses": 0}
    assert [other["fact"] for other in shown["never"]] == ["Jane lives in Bergen."]
    assert "Never asked for" in clawmem("analytics").out
