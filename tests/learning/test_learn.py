"""Learning end to end: each outcome with its intervals and links, what waits, and that undo takes each back."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.learning.learn import LearnResult
from clawmem.learning.reconciling.gate import GateLimits
from clawmem.learning.reconciling.round import Extractor, LearningRound, RoundLimits
from clawmem.learning.reconciling.round_state import LearningCandidate, RoundState
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.doctor import doctor
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import EntityHint, Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.cursor import LearningCursor
from clawmem.model.records.event import Event
from clawmem.model.transcripts.message import Message
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.plain_reader import learn_plainly as learn

Say = Callable[..., LearnResult]


@pytest.fixture
def say(vault: Vault, caller: Caller) -> Say:
    """Says things, one a day from 2026-11-01 on, and learns from them."""
    day = 0

    def told(*texts: str, role: str = "user", speaker: str = "Dana", dry_run: bool = False) -> LearnResult:
        nonlocal day
        messages = []
        for text in texts:
            day += 1
            messages.append(Message(1, role, text, f"2026-11-{day:02}T10:00:00Z", speaker))
        ingest(vault, messages, caller, "chat")
        return learn(vault, caller, dry_run)

    return told


def facts_of(vault: Vault) -> dict[str, Fact]:
    """Every fact by its statement."""
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def ends(learned: LearnResult) -> list[tuple[str, str]]:
    return [(candidate.outcome, candidate.gate) for candidate in learned.candidates]


def state(vault: Vault) -> dict[str, Fact]:
    return {key: fact._replace(access_count=0, last_accessed=None) for key, fact in facts_of(vault).items()}


def taken_back(vault: Vault, caller: Caller, learned: LearnResult, before: dict[str, Fact]) -> None:
    """Undo the round: the facts are as before it, the vault is sound, and nothing of it is learned again."""
    assert learned.commit
    undo(vault, learned.commit, caller)
    assert state(vault) == before
    assert [problem for problem in doctor(vault, caller).problems if problem.severity == "error"] == []
    assert learn(vault, caller).candidates == ()


def test_add(vault: Vault, caller: Caller, say: Say) -> None:
    learned = say("I live in Leeds.")
    assert ends(learned) == [("added", "placement")]
    (fact,) = facts_of(vault).values()
    assert (fact.subject, fact.predicate, fact.object, fact.links) == ("Dana", "lives_in", "Leeds", ())
    assert (fact.status, fact.valid_to, fact.source_text) == ("active", None, "I live in Leeds")
    taken_back(vault, caller, learned, {})


def test_noop_makes_the_fact_surer(vault: Vault, caller: Caller, say: Say) -> None:
    say("I live in Leeds.")
    before = state(vault)
    learned = say("I live in Leeds!")
    assert ends(learned) == [("noop", "reconcile")]
    (old,), (fact,) = before.values(), facts_of(vault).values()
    assert (fact.confidence or 0) > (old.confidence or 0)
    assert fact._replace(confidence=old.confidence) == old
    taken_back(vault, caller, learned, before)


def test_update_closes_the_interval_and_links(vault: Vault, caller: Caller, say: Say) -> None:
    say("I live in Leeds.")
    before = state(vault)
    learned = say("I live in Porto now.")
    assert ends(learned) == [("updated", "reconcile")]
    facts = facts_of(vault)
    old, new = facts["Dana lives in Leeds."], next(fact for fact in facts.values() if "Porto" in fact.fact)
    assert (old.status, old.superseded_by, old.valid_to) == ("superseded", new.id, "2026-11-02")
    assert (new.status, new.valid_from, new.valid_to) == ("active", "2026-11-02", None)
    (link,) = new.links
    assert (link.type, link.to, link.at) == ("supersedes", old.id, "2026-11-21T09:30:00Z")
    assert link.reason == "'lives_in' has one value, and this one is newer."
    assert said(vault, "Supersedes") == [old.id]
    body = vault.git.run("log", "-1", "--format=%b").decode()
    assert "Dana lives in Porto. (was: Dana lives in Leeds.)\n" in body
    taken_back(vault, caller, learned, before)


def test_merge_joins_what_is_richer(vault: Vault, caller: Caller, say: Say) -> None:
    say("I have a cat.")
    before = state(vault)
    learned = say("I have a cat named Miso.")
    assert ends(learned) == [("merged", "reconcile")]
    facts = facts_of(vault)
    old, new = facts["Dana has a cat."], facts["Dana has a cat named Miso."]
    assert (old.status, old.superseded_by, old.valid_to) == ("superseded", new.id, "2026-11-02")
    assert (new.valid_from, [(link.type, link.to) for link in new.links]) == ("2026-11-02", [("merges", old.id)])
    taken_back(vault, caller, learned, before)


def test_delete_ends_what_was_true(vault: Vault, caller: Caller, say: Say) -> None:
    say("I live in Leeds.", "I'm allergic to nuts.")
    before = state(vault)
    learned = say("I no longer live in Leeds.")
    assert ends(learned) == [("retracted", "reconcile")]
    facts = facts_of(vault)
    old, new = facts["Dana lives in Leeds."], facts["Dana no longer lives in Leeds."]
    assert (old.status, old.superseded_by, old.valid_to) == ("superseded", new.id, "2026-11-03")
    assert (new.valid_from, [(link.type, link.to) for link in new.links]) == ("2026-11-03", [("supersedes", old.id)])
    assert facts["Dana is allergic to nuts."].status == "active"
    taken_back(vault, caller, learned, before)


def said(vault: Vault, trailer: str) -> list[str]:
    return vault.git.run("log", "-1", f"--format=%(trailers:key={trailer},valueonly)").decode().split()


def test_a_contradiction_waits_in_the_same_commit(vault: Vault, caller: Caller, say: Say) -> None:
    say("I was born in Oslo.")
    before = state(vault)
    learned = say("I was born in Bergen.")
    assert ends(learned) == [("proposed", "review")]
    assert state(vault) == before
    (proposal,) = read_proposals(vault).proposals
    assert learned.proposals == (proposal,)
    assert (proposal.kind, proposal.does, proposal.status) == ("conflict", "supersede", "open")
    assert [target.fact for target in proposal.targets] == ["Dana was born in Oslo."]
    assert proposal.fact
    assert (proposal.fact.fact, proposal.fact.source_text) == ("Dana was born in Bergen.", "I was born in Bergen")
    assert proposal.source_event == learned.candidates[0].proposition.event_id
    assert said(vault, "Proposal") == [proposal.id]
    assert vault.git.run("log", "-1", "--format=%s").decode().strip() == (
        "learn(ledger): 0 facts from 1 event, 1 proposal"
    )
    taken_back(vault, caller, learned, before)
    assert read_proposals(vault).proposals == ()


def test_what_waits_is_not_proposed_again(vault: Vault, caller: Caller, say: Say) -> None:
    say("I was born in Oslo.", "I was born in Bergen.")
    assert ends(say("Well, I was born in Bergen.")) == [("noop", "review")]
    (vault.root / "ledger" / "learned.json").write_text('{"days": {}, "mentions": {}}\n')
    again = learn(vault, caller)
    assert {candidate.outcome for candidate in again.candidates} == {"noop"}
    assert len(read_proposals(vault).proposals) == 1


def test_a_sure_fact_is_not_replaced_by_a_less_sure_one(vault: Vault, caller: Caller, say: Say) -> None:
    say("I live in Leeds.", *["I live in Leeds."] * 3)
    assert (next(iter(facts_of(vault).values())).confidence or 0) > 0.9
    assert ends(say("I live in Porto.")) == [("proposed", "review")]
    assert ends(say("I moved to Rome on 5 November 2026.")) == [("updated", "reconcile")]


def test_a_long_event_gives_more_up_to_four_times() -> None:
    terms = RoundLimits(8, 0.9)
    lengths = (0, 1999, 2000, 4776, 8527, 100_000)
    items = [terms.max_facts_of(Event("e", "2026-11-20T10:00:00Z", "user", "x" * length)) for length in lengths]
    assert items == [8, 8, 16, 24, 32, 32]


def test_a_fact_named_by_its_id_may_be_changed_by_the_user(vault: Vault, caller: Caller, say: Say) -> None:
    record = {"fact": "Lena lives in Ghent.", "subject": "Lena", "predicate": "lives_in", "object": "Ghent"}
    remember(vault, [draft_from_record({**record, "entity": "areas/people/lena"}, caller.now)], caller)
    before = state(vault)
    lena = before["Lena lives in Ghent."]
    learned = say(f"Remember that {lena.id} is about Bruges, not Ghent.")
    assert ends(learned) == [("updated", "reconcile")]
    new, closed = learned.candidates[0].fact, facts_of(vault)[lena.fact]
    assert new
    assert (closed.status, closed.superseded_by) == ("superseded", new.id)
    assert closed.subject != new.subject
    taken_back(vault, caller, learned, before)


def test_older_news_stands_aside_and_is_no_witness(vault: Vault, caller: Caller, say: Say) -> None:
    say("I live in Leeds.", "I live in Porto now.")
    before = state(vault)
    ingest(vault, [Message(1, "user", "I live in Rome.", "2026-10-01T10:00:00Z", "Dana")], caller, "old")
    assert ends(learn(vault, caller)) == [("noop", "reconcile")]
    assert state(vault) == before


def test_a_dry_run_proposes_and_writes_nothing(vault: Vault, caller: Caller, say: Say) -> None:
    say("I was born in Oslo.")
    head = vault.head()
    ingested = say("I was born in Bergen.", dry_run=True)
    assert len(ingested.proposals) == 1
    assert read_proposals(vault).proposals == ()
    assert vault.git.run("log", "--format=%s", f"{head.commit}..HEAD").decode().count("\n") == 1, "the ingest only"


def proposed(words: str, event: Event, **more: object) -> Proposition:
    """A proposition about Dana whose evidence is the whole event."""
    hints = (EntityHint("person", "Dana", "speaker"),)
    made = Proposition(words, event.id, (0, len(event.text)), event.text, subject="Dana", entity_hints=hints)
    return made._replace(**more)  # type: ignore[arg-type]


def considered(
    vault: Vault, caller: Caller, found: Callable[[Event], list[Proposition]], most: int = 8
) -> list[LearningCandidate]:
    """What becomes of hand-made propositions about one event, nothing committed."""
    event = Event("evt_1", "2026-11-01T10:00:00Z", "user", "Dana sails on Sundays", "Dana")
    with writing(vault, caller, "test") as work:
        mind = RoundState(work, LearningCursor({}, {}))
        extractor = Extractor("hand", lambda event, catalog, speakers: found(event))
        going = LearningRound(mind, vault.catalog, RoundLimits(most, 0.9, GateLimits()), extractor)
        going.consider(event, ("Dana",))
        return going.candidates


def test_what_an_outsider_says_waits_unless_another_gate_refuses(vault: Vault, caller: Caller) -> None:
    found = considered(
        vault,
        caller,
        lambda event: [
            proposed("Dana sails on Sundays.", event, trust="external"),
            proposed("Dana sails.", event, trust="external"),
            proposed("Dana is sailing right now there.", event, trust="external"),
        ],
    )
    assert [(candidate.outcome, candidate.gate) for candidate in found] == [
        ("proposed", "review"),
        ("refused", "utility"),
        ("refused", "durability"),
    ]


def test_evidence_must_be_in_the_event_and_one_event_gives_only_so_much(vault: Vault, caller: Caller) -> None:
    found = considered(
        vault,
        caller,
        lambda event: [
            proposed("Dana sails on Mondays.", event, source_text="Dana sails on Mondays", span=(0, 21)),
            proposed("Dana sails on Sundays.", event),
            proposed("Dana rows on Fridays.", event),
        ],
        most=2,
    )
    assert [(candidate.outcome, candidate.gate) for candidate in found] == [
        ("refused", "evidence"),
        ("added", "placement"),
        ("refused", "limit"),
    ]


@pytest.mark.parametrize(("trust", "surer"), [("user", True), ("agent", False), ("external", False)])
def test_a_source_of_lower_trust_is_no_witness(vault: Vault, caller: Caller, say: Say, trust: str, surer: bool) -> None:
    say("I'm from Leeds.")
    (known,) = facts_of(vault).values()
    (found,) = considered(vault, caller, lambda event: [proposed("Dana is from Leeds.", event, trust=trust)])
    assert (found.outcome, found.gate) == ("noop", "reconcile")
    assert found.fact
    assert ((found.fact.confidence or 0) > (known.confidence or 0)) is surer


@pytest.mark.parametrize("trust", ["tool"])
def test_a_source_of_low_trust_never_replaces_a_persons_word(
    vault: Vault, caller: Caller, say: Say, trust: str
) -> None:
    say("I'm vegan.")
    news = {"predicate": "diet", "object": "vegetarian", "trust": trust}
    (found,) = considered(vault, caller, lambda event: [proposed("Dana is vegetarian.", event, **news)])
    assert (found.outcome, found.gate) == ("proposed", "review")
    assert facts_of(vault)["Dana is vegan."].is_current


def test_a_learned_fact_passes_the_check_of_every_fact(vault: Vault, caller: Caller) -> None:
    (found,) = considered(vault, caller, lambda event: [proposed("Dana sails on Sun\u001b[31mdays.", event)])
    assert (found.outcome, found.gate) == ("refused", "statement")


def test_a_correction_says_anew_who_somebody_is(vault: Vault, say: Say) -> None:
    say("My son is Max.", "I was born in Oslo.", "I'm allergic to nuts.", "My daughter is Ida.")
    say("No, my son is Marc.", "Sorry, that's wrong! I was born in Bergen.", "Actually, I'm allergic to cats.")
    say("No, my daughter Isa is a doctor.", "My son is Ben.")
    known = facts_of(vault)
    gone = {
        fact.fact: known[each].fact for fact in known.values() for each in known if known[each].id == fact.superseded_by
    }
    assert gone == {
        "Max is Dana's son.": "Marc is Dana's son.",
        "Dana was born in Oslo.": "Dana was born in Bergen.",
    }
    assert known["Max is Dana's son."].valid_from == known["Max is Dana's son."].valid_to
    assert known["Marc is Dana's son."].valid_from is None


def test_a_correction_of_a_value_wins_or_waits_or_is_named(vault: Vault, caller: Caller, say: Say) -> None:
    assert ends(say("Sorry, I meant Bergen, not Oslo.")) == [("refused", "reconcile")]
    say("I live in Oslo.")
    assert ends(say("Sorry, I meant Bergen, not Oslo.")) == [("updated", "reconcile")]
    facts = facts_of(vault)
    assert facts["Dana lives in Bergen."].is_current
    assert not facts["Dana lives in Oslo."].is_current
    say("I was born in Bergen.")
    assert ends(say("I meant Narvik, not Bergen.")) == [("proposed", "review")]


def test_a_mention_in_talk_counts_as_an_access(vault: Vault, caller: Caller) -> None:
    first = [Message(1, "user", "I am allergic to peanuts.", "2026-11-20T08:00:00Z")]
    ingest(vault, first, caller, "chat")
    fact = learn(vault, caller).candidates[0].fact
    assert fact is not None
    again = [Message(1, "user", "I am allergic to peanuts.", "2026-11-21T08:00:00Z")]
    ingest(vault, again, caller, "chat")
    learn(vault, caller, dry_run=True)
    assert unfolded_accesses(vault) == b""
    learn(vault, caller)
    assert count_accesses(unfolded_accesses(vault)) == {fact.id: (1, "2026-11-21T08:00:00Z")}
    learn(vault, caller)
    assert count_accesses(unfolded_accesses(vault))[fact.id].count == 1


def test_the_words_of_a_fact_in_talk_count_as_an_access_without_a_reader(clawmem: Command) -> None:
    assert clawmem("remember", "Olga plays the oboe.").code == 0
    said = [
        {"role": "user", "content": "Mind this. Olga plays the oboe!"},
        {"role": "user", "content": "Olga plays the oboe.", "timestamp": "2020-01-01T10:00:00Z"},
        {"role": "tool", "content": "Olga plays the oboe."},
        {"role": "user", "content": "Olga plays the oboe well."},
    ]
    assert clawmem("ingest", "-", given="\n".join(map(json.dumps, said))).code == 0
    for _ in range(2):
        assert clawmem("heartbeat").code == 0
        assert json.loads(clawmem("--json", "list").out)["data"]["facts"][0]["access_count"] == 1


def test_what_is_to_be_forgotten_is_hidden_and_waits(vault: Vault, caller: Caller, say: Say) -> None:
    assert ends(say("Forget my phone number.")) == [("refused", "reconcile")]
    say("My phone number is 0151 2345678.", "I live in Leeds.", "I work at the library in Leeds.")
    say("Forget that I live in Leeds.")
    assert not facts_of(vault)["Dana lives in Leeds."].is_current
    assert facts_of(vault)["Dana works at the library in Leeds."].is_current
