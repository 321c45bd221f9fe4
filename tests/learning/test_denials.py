"""A denial is news: it never counts as a restatement of what it denies, however much the words are the same."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from clawmem.learning.reconciling.gate import judge
from clawmem.learning.reconciling.reconcile import reconcile
from clawmem.learning.reconciling.round import Extractor, LearningRound, RoundLimits
from clawmem.learning.reconciling.round_state import NOOP, LearningCandidate, RoundState
from clawmem.learning.rules.rules import statements as extract
from clawmem.memory.facts.remember import remember
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import EntityHint, Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.cursor import LearningCursor
from clawmem.model.records.event import Event
from clawmem.vault.vault import Vault
from tests.conftest import Command

PAIRS = [
    ("I have a cat.", "I don't have a cat."),
    ("I have a cat named Miso.", "I don't have a cat."),
    ("I have a cat.", "I dont have a cat."),
    ("I have a cat.", "I don’t have a cat."),
    ("I have a cat.", "I've never had a cat."),
    ("I live in Leeds.", "I no longer live in Leeds."),
    ("I live in Leeds.", "I never lived in Leeds."),
    ("I work at Brightpath.", "I no longer work at Brightpath."),
    ("I'm vegetarian.", "I'm not vegetarian."),
    ("I'm allergic to peanuts.", "I'm not allergic to peanuts."),
    ("I'm allergic to peanuts.", "I was never allergic to peanuts."),
    ("I like jazz.", "I don't like jazz."),
    ("I hate olives.", "I don't hate olives."),
    ("I prefer tea.", "I don't prefer tea."),
    ("I use Postgres.", "We are no longer using Postgres."),
    ("I play the violin.", "I never play the violin."),
    ("I'm married to Sven.", "I'm not married to Sven."),
    ("I have a sister named Ana.", "I don't have a sister named Ana."),
    ("I have two kids.", "I don't have two kids."),
    ("I have asthma.", "I don't have asthma."),
    ("I'm afraid of dogs.", "I'm not afraid of dogs."),
    ("I'm from Oslo.", "I'm not from Oslo."),
    ("I was born in Oslo.", "I wasn't born in Oslo."),
    ("I eat fish.", "I don't eat fish."),
    ("I always code with tests.", "I always code without tests."),
    ("I have a degree in law.", "I don't have a degree in law."),
    ("I'm into chess.", "I'm not into chess."),
    ("I'm fluent in Danish.", "I'm not fluent in Danish."),
    ("I'm based in Leeds.", "I'm not based in Leeds."),
    ("I have a dog called Rex.", "I don't have a dog called Rex."),
    ("I have a brother.", "I do not have a brother."),
    ("I have diabetes.", "I don't have diabetes."),
    ("I'm a fan of Arsenal.", "I'm not a fan of Arsenal."),
    ("I own a boat.", "I never owned a boat."),
    ("I drink coffee.", "I don't drink coffee."),
    ("I have a house in Kent.", "I don't have a house in Kent."),
    ("I love hiking.", "I don't love hiking."),
    ("I moved to Bergen last year.", "I never moved to Bergen."),
    ("I integrated Stripe into the app.", "I never integrated Stripe into the app."),
]
RESTATED = [
    ("I have a cat.", "I have a cat."),
    ("I have a cat named Miso.", "I have a cat."),
    ("I live in Leeds.", "I'm living in Leeds."),
    ("I'm allergic to peanuts.", "I am allergic to peanuts."),
    ("I have asthma.", "I have asthma."),
    ("I'm from Oslo.", "I am originally from Oslo."),
    ("I'm fluent in Danish.", "I speak Danish."),
    ("I have a sister named Ana.", "I have a sister."),
    ("I don't eat fish.", "I do not eat fish."),
    ("I don't have a cat.", "I do not have a cat."),
]
RULES = Extractor("plain", lambda event, catalog, _: extract(event, catalog, (event.speaker or "",)))
SAID = "2026-11-02T10:00:00Z"
STATED = [
    ("The user likes the old jazz bar in the harbour.", "The user doesn't like the old jazz bar in the harbour."),
    ("The user can play the old church organ.", "The user cannot play the old church organ."),
    ("The user travels with her old passport.", "The user travels without her old passport."),
    ("The user has somebody to walk the dog.", "The user has nobody to walk the dog."),
    ("The user is a member of the rowing club.", "The user isn’t a member of the rowing club."),
    ("The user will move to the new office.", "The user won't move to the new office."),
    ("The user eats meat and fish.", "The user eats neither meat nor fish."),
    ("The user works at Brightpath on Mondays.", "The user hardly works at Brightpath on Mondays."),
]


def news_after(vault: Vault, caller: Caller, pairs: Sequence[tuple[str, str]]) -> list[tuple[LearningCandidate, ...]]:
    """What the second of two sentences came to, for each pair, said by somebody else each."""
    outcomes = []
    with writing(vault, caller, "learn") as work:
        going = LearningRound(RoundState(work, LearningCursor({}, {})), vault.catalog, RoundLimits(8, 0.9), RULES)
        for number, (known, again) in enumerate(pairs):
            speaker = "P" + "".join("abcdefghij"[int(digit)] for digit in f"{number:03}")
            going.consider(Event(f"evt_{number}a", "2026-11-02T10:00:00Z", "user", known, speaker), ())
            before = len(going.candidates)
            going.consider(Event(f"evt_{number}b", "2026-11-03T10:00:00Z", "user", again, speaker), ())
            outcomes.append(tuple(going.candidates[before:]))
    return outcomes


def test_no_denial_is_a_restatement_of_what_it_denies(vault: Vault, caller: Caller) -> None:
    swallowed = [
        pair
        for pair, news in zip(PAIRS, news_after(vault, caller, PAIRS), strict=True)
        if any(candidate.outcome == NOOP for candidate in news)
    ]
    assert swallowed == []


def test_no_statement_is_a_restatement_of_its_denial(vault: Vault, caller: Caller) -> None:
    pairs = [(denial, claim) for claim, denial in PAIRS]
    swallowed = [
        pair
        for pair, news in zip(pairs, news_after(vault, caller, pairs), strict=True)
        if any(candidate.outcome == NOOP for candidate in news)
    ]
    assert swallowed == []


def test_a_denial_ends_what_it_denies_or_waits(vault: Vault, caller: Caller) -> None:
    expected = [
        ("I have a cat.", "I don't have a cat.", "retracted"),
        ("I have a cat named Miso.", "I don't have a cat.", "retracted"),
        ("I'm allergic to peanuts.", "I'm not allergic to peanuts.", "retracted"),
        ("I live in Leeds.", "I no longer live in Leeds.", "retracted"),
        ("I'm from Oslo.", "I'm not from Paris.", "added"),
    ]
    found = news_after(vault, caller, [(claim, denial) for claim, denial, _ in expected])
    assert [[candidate.outcome for candidate in news] for news in found] == [[outcome] for *_, outcome in expected]


def test_a_restatement_still_is_one(vault: Vault, caller: Caller) -> None:
    outcomes = [[candidate.outcome for candidate in news] for news in news_after(vault, caller, RESTATED)]
    assert dict(zip(RESTATED, outcomes, strict=True)) == {pair: [NOOP] for pair in RESTATED}


def _fact(words: str) -> Fact:
    return Fact("fact_00000001", words, "fact", SAID, "events", subject="the user", object="it", predicate="likes")


def _news(words: str, ended: bool = False) -> Proposition:
    return Proposition(words, "evt_1", (0, 1), "x", "the user", "likes", "it", ended=ended)


def test_a_denial_in_any_words_is_no_duplicate(vault: Vault) -> None:
    for claim, denial in [*STATED, *((denial, claim) for claim, denial in STATED)]:
        known = _fact(claim)
        decision = reconcile(_news(denial), [known], vault.catalog)
        assert decision.outcome != NOOP, denial
        assert decision.contradicts == (known.id,), denial
        assert judge(_news(denial), [known], lambda text: None).accepted, denial


def test_a_remembered_denial_is_a_fact_of_its_own(vault: Vault, caller: Caller) -> None:
    drafts = [
        draft_from_record({"fact": words}, caller.now) for claim, denial in STATED for words in (claim, denial, claim)
    ]
    outcomes = [fact.outcome for fact in remember(vault, drafts, caller).facts]
    assert outcomes == ["added", "added", "noop"] * len(STATED)


def test_an_ending_in_the_words_of_what_it_ends_is_no_second_witness(vault: Vault, caller: Caller) -> None:
    """As a model may put it: the statement is that of the known fact, with the mark that it is over."""
    words = "The user works at Brightpath."
    first = Proposition(
        words, "evt_1", (0, 1), "x", "the user", "works_at", "Brightpath",
        entity_hints=(EntityHint("person", "User", "speaker"),),
    )  # fmt: skip
    found = {"evt_1": first, "evt_2": first._replace(event_id="evt_2", ended=True)}
    with writing(vault, caller, "learn") as work:
        going = LearningRound(
            RoundState(work, LearningCursor({}, {})),
            vault.catalog,
            RoundLimits(8, 0.9),
            Extractor("tested", lambda event, *_: (found[event.id],)),
        )
        for event_id in found:
            going.consider(Event(event_id, "2026-11-02T10:00:00Z", "user", "x"), ())
    assert [candidate.outcome for candidate in going.candidates] == ["added", "refused"]


@pytest.mark.parametrize(
    ("known", "correction", "instead"),
    [
        ("The budget of Lynx is 84,000 euros.", "No, that is wrong: the budget of Lynx is 91,000 euros, not 84,000.",
         "The budget of Lynx is 91,000 euros."),
        ("Lynx kostet im Jahr 400 Euro.", "Nein, Lynx kostet im Jahr 500 Euro, nicht 400.",
         "Lynx kostet im Jahr 500 Euro."),
    ],
)  # fmt: skip
def test_a_whole_sentence_that_sets_a_value_right_waits_and_names_what_it_replaces(
    clawmem: Command, known: str, correction: str, instead: str
) -> None:
    clawmem("remember", "Another budget is 12 euros, and 84,000 people live in Ghent, as 400 do.")
    old = clawmem("remember", known, "--json").data["facts"][0]["id"]
    record = {"role": "user", "content": correction, "session": "s1"}
    clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(record))
    clawmem("heartbeat", "--only", "learn")
    (asked,) = clawmem("review", "list", "--json").data["proposals"]
    assert (asked["fact"]["fact"], [target["id"] for target in asked["targets"]]) == (instead, [old])
    assert len(clawmem("list", "--json").data["facts"]) == 2
    assert clawmem("review", "approve", asked["id"]).code == 0
    assert known not in clawmem("list").out and instead in clawmem("list").out


def test_what_sets_nothing_known_right_replaces_nothing(clawmem: Command) -> None:
    clawmem("remember", "The budget of Lynx is 84,000 euros.")
    texts = ("The budget of Lynx is 91,000 euros, not 84,000.", "No, the budget of Otter is 91,000 euros, not 7.",
             "No, the sky is blue, not 84,000.", "No, the budget of Zebra is 91,000 euros, not 84,000.")  # fmt: skip
    records = (json.dumps({"role": "user", "content": text, "session": text}) for text in texts)
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(records))
    clawmem("heartbeat", "--only", "learn")
    assert not [each for each in clawmem("review", "list", "--json").data["proposals"] if each["targets"]]


def test_a_correction_without_a_value_of_its_own_is_of_whom_it_names(clawmem: Command) -> None:
    clawmem("remember", "Jane lives in Oslo.\nBob lives in Oslo.")
    record = {"role": "user", "content": "No, Jane lives in Bergen, not Oslo.", "session": "s1"}
    clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(record))
    clawmem("heartbeat", "--only", "learn")
    (asked,) = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("review", "approve", asked["id"]).code == 0
    facts = {fact["fact"] for fact in clawmem("list", "--json").data["facts"]}
    assert facts == {"Jane lives in Bergen.", "Bob lives in Oslo."}
