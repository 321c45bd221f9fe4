"""What the gates need to know of the vault: the sources that confirm a fact."""

from __future__ import annotations

import pytest

from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import facts_of
from clawmem.memory.facts.gates import GateContext, judge
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, retract
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.lifecycle.premises import in_doubt
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.event import Event, event_to_line
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.memory.facts.test_premises import facts, keep

JANE = "areas/people/jane"


def add(vault: Vault, caller: Caller, text: str, source: str) -> str:
    record = {"entity": JANE, "fact": text, "trust": "agent", "confidence": 0.9, "source": source, "agent": "cli"}
    return remember(vault, [draft_from_record(record, caller.now)], caller).facts[0].fact.id


def confirmed(vault: Vault, caller: Caller) -> dict[str, str]:
    context = GateContext(vault.catalog, caller)
    judged = run_query(vault, lambda index: judge(index, context, facts_of(index, JANE)))
    verdicts = [(text, each) for text, results in judged.results.items() for each in results]
    return {text: each.reason for text, each in verdicts if each.gate == "confirmed" and each.passed}


def test_a_supporting_fact_of_another_source_confirms_both(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="cli")
    text = add(vault, agent, "Jane prefers tea.", "session:a")
    same = add(vault, agent, "Jane likes tea best.", "session:a")
    other = add(vault, agent, "Jane always orders tea.", "session:b")
    link(vault, same, "supports", text, agent)
    assert confirmed(vault, caller) == {}
    link(vault, other, "supports", text, agent)
    assert confirmed(vault, caller) == {
        text: f"it has 2 sources, with {other}; it needs at least 2",
        other: f"it has 2 sources, with {text}; it needs at least 2",
    }
    retract(vault, other, caller)
    assert confirmed(vault, caller) == {}


def test_what_is_said_again_in_another_session_is_confirmed(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="cli")
    events = ["evt_00000001", "evt_00000002"]
    at = "2026-11-20T08:00:00Z"
    lines = (
        event_to_line(Event(other_event, at, "assistant", "It exits with 3.", session=other_event))
        for other_event in events
    )
    with writing(vault, caller, "test") as work:
        work.commit([Change("test", {"ledger/2026-11-20.jsonl": "".join(f"{line}\n" for line in lines).encode()})])
    record = {"entity": JANE, "fact": "The tool exits with 3.", "trust": "agent", "confidence": 0.9, "source": "chat"}
    ids = set()
    for event in events:
        result = remember(vault, [draft_from_record({**record, "source_event": event}, caller.now)], agent)
        ids.add(result.facts[0].fact.id)
    (fact,) = ids
    assert confirmed(vault, caller) == {fact: f"it has 2 sources, with {events[1]}; it needs at least 2"}


def test_each_bracket_becomes_a_link_with_ids_in_its_reason(vault: Vault, caller: Caller) -> None:
    slow = keep(vault, caller, "The parser is slow on large files.")
    cheap = keep(vault, caller, "Memory is cheap.")
    sentence = f"Since [[the parser is slow]] and [[{cheap.id}]], we cache."
    fact = keep(vault, caller, sentence)
    assert fact.fact == "We cache."
    reason = f"Since [[{slow.id}]] and [[{cheap.id}]], we cache."
    assert [(link.type, link.to, link.reason) for link in fact.links] == [
        ("depends_on", slow.id, reason),
        ("depends_on", cheap.id, reason),
    ]
    retract(vault, slow.id, caller)
    assert in_doubt(facts(vault)[fact.id])


def test_a_bracket_without_a_single_meaning_stays_as_text_and_is_said(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Jane likes tea.", entity="areas/people/jane")
    keep(vault, caller, "Jane likes milk.", entity="areas/people/jane")
    tom = keep(vault, caller, "Tom is tall.", entity="areas/people/tom")
    text = "Since [[Jane likes]] and [[Tom]] and [[nobody]] and [[fact_0000ffff]], we wait."
    result = remember(vault, [draft_from_record({"fact": text}, caller.now)], caller)
    assert result.facts[0].fact.fact == f"Since Jane likes and {tom.id} and nobody and fact_0000ffff, we wait."
    assert len(result.facts[0].fact.links) == 1
    assert [notice.split(": ")[0] for notice in result.notices] == [
        "[[Jane likes]] names no premise",
        "[[nobody]] names no premise",
        "[[fact_0000ffff]] names no premise",
    ]


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("Bob: 44 sailings", "Since [[{}]], he is rich."),
        ("bob: 44 sailings, 84 euros", "Because of [[{}]], he is rich."),
        ("84 euros.", "He is rich due to [[{}]]."),
    ],
)
def test_a_premise_is_named_by_a_part_of_its_words(vault: Vault, caller: Caller, words: str, form: str) -> None:
    bob = keep(vault, caller, "Bob: 44 sailings, 84 euros.")
    keep(vault, caller, "Bob: 144 sailings.")
    fact = keep(vault, caller, form.format(words))
    assert (fact.fact, [link.to for link in fact.links]) == ("He is rich.", [bob.id])


def test_the_facts_of_other_agents_are_no_premises(vault: Vault, caller: Caller) -> None:
    own = keep(vault, caller, "Scout hides the key.", entity="@scout/projects/plan")
    for words in (own.id, "Scout hides the key"):
        fact = keep(vault, caller._replace(agent="writer"), f"Since [[{words}]], we search.")
        assert fact.links == () and fact.fact == f"Since {words}, we search."


def test_only_eight_premises_are_linked(vault: Vault, caller: Caller) -> None:
    names = [keep(vault, caller, f"Part {name} is broken.") for name in "abcdefghij"]
    text = "Since " + " and ".join(f"[[{name.id}]]" for name in names) + ", we stop."
    result = remember(vault, [draft_from_record({"fact": text}, caller.now)], caller)
    assert len(result.facts[0].fact.links) == 8
    assert any("only the first 8" in notice for notice in result.notices)


def test_knowledge_at_the_end_of_a_session_is_linked(clawmem: Command, vault: Vault, caller: Caller) -> None:
    slow = keep(vault, caller, "The parser is slow.")
    session = clawmem("session", "start", "--agent", "scout", "--json").data["session"]
    session = session if isinstance(session, str) else session["id"]
    document = (
        '{"summary": "s", "reflection": {"learned": [], "watch_for": []}, "knowledge":'
        ' [{"entity": "projects/site", "claim": "Since [[the parser is slow]], the site caches."}]}'
    )
    result = clawmem("session", "end", "--session", session, "--agent", "scout", "--from", "-", given=document)
    assert result.code == 0, result.err
    fact = next(other_fact for other_fact in facts(vault).values() if "caches" in other_fact.fact)
    assert [(link.type, link.to) for link in fact.links] == [("depends_on", slow.id)]


def test_the_words_of_a_revoked_premise_are_not_served(clawmem: Command, vault: Vault, caller: Caller) -> None:
    slow = keep(vault, caller, "The parser is slow.", agent="ann")
    first = keep(vault, caller, "We cache because [[the parser is slow]].")
    second = keep(vault, caller, f"Since [[{first.id}]], memory grows.")
    assert (first.fact, second.fact) == ("We cache.", "Memory grows.")
    clawmem("revoke", "--agent", "ann")
    for result in (clawmem("context"), clawmem("recall", "parser cache memory"), clawmem("show", first.id)):
        assert "slow" not in result.out.lower(), result.out
    assert slow.id in clawmem("show", first.id).out


def test_a_statement_that_is_only_a_premise_keeps_the_reference(vault: Vault, caller: Caller) -> None:
    slow = keep(vault, caller, "The parser is slow.")
    assert keep(vault, caller, "Because [[the parser is slow]].").fact == f"Because {slow.id}."
