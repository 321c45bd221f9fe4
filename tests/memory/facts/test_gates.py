"""What the gates need to know of the vault: the sources that confirm a fact."""

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import facts_of
from clawmem.memory.facts.gates import gate_context, judge
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, retract
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.event import Event, event_to_line
from clawmem.vault.vault import Vault

JANE = "areas/people/jane"


def add(vault: Vault, caller: Caller, text: str, source: str) -> str:
    record = {"entity": JANE, "fact": text, "trust": "agent", "confidence": 0.9, "source": source, "agent": "cli"}
    return remember(vault, [draft_from_record(record, caller.now)], caller).facts[0].fact.id


def confirmed(vault: Vault, caller: Caller) -> dict[str, str]:
    context = gate_context(vault.settings, vault.catalog, caller)
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
