"""Events and notes are found for a question, alone and beside facts, in words and by their days."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search import events as index_said
from clawmem.index.search.channels import FactFilter
from clawmem.index.vectors.embed import embed_missing
from clawmem.learning.ingest import ingest, ingest_notes, note
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import EVENTS, FACTS, NOTES, RECALL_KINDS, RecallResult
from clawmem.vault.vault import Vault
from tests.needs import needs_local_model

TALK = (
    ("Ana", "Which bridge did you cross last night?"),
    ("Ben", "The old one by the mill, it was icy."),
    ("Ana", "Mine was closed, so I took the ferry."),
    ("Ben", "Lunch tomorrow?"),
)


@pytest.fixture
def told(vault: Vault, caller: Caller) -> Vault:
    """A vault with a short talk, a note and a fact."""
    day = "2026-03-05T10:00:00Z"
    talk = [
        Message(1, "user", text, day, speaker=who, session="s1", external_id=f"m{n}")
        for n, (who, text) in enumerate(TALK)
    ]
    ingest(vault, talk, caller, "chat")
    note(vault, "the mill is being painted", caller)
    remember(vault, [draft_from_record({"fact": "The mill belongs to Ben"}, caller.now)], caller)
    return vault


def ask(vault: Vault, caller: Caller, question: str, *where: str, limit: int = 10) -> RecallResult:
    """What recall gives."""
    return recall(vault, question, caller, FactFilter(owners=("", caller.agent or "")), limit, where)


def texts(result: RecallResult) -> list[str]:
    """The texts of the events found."""
    return [one.event.text for one in result.heard]


def test_the_answer_is_found_after_its_question_even_in_other_words(told: Vault, caller: Caller) -> None:
    found = ask(told, caller, "What bridge did Ben cross?", EVENTS)
    assert texts(found)[0] == TALK[1][1]
    assert found.found == ()
    assert found.channels["keyword"].ran
    assert not found.channels["time"].ran
    assert not found.channels["time"].unable


def test_each_place_is_searched_only_where_asked(told: Vault, caller: Caller) -> None:
    assert ask(told, caller, "mill", FACTS).heard == ()
    notes = ask(told, caller, "mill", NOTES)
    assert [(one.path, one.text) for one in notes.noted] == [("daily/2026-11-21.md", "the mill is being painted")]
    every = ask(told, caller, "mill", *RECALL_KINDS)
    assert [len(part) > 0 for part in (every.found, every.heard, every.noted)] == [True, True, True]
    assert every.channels["keyword"].hits >= 3


def test_a_note_that_became_an_event_is_given_once(told: Vault, caller: Caller) -> None:
    ingest_notes(told, caller)
    assert "the mill is being painted" in texts(ask(told, caller, "mill painted", EVENTS))
    every = ask(told, caller, "mill painted", *RECALL_KINDS)
    assert "the mill is being painted" not in texts(every)
    assert len(every.noted) == 1


def test_events_of_a_named_day_are_found_without_their_words(told: Vault, caller: Caller) -> None:
    found = ask(told, caller, "What happened on 2026-03-05?", EVENTS)
    assert set(texts(found)) == {text for _, text in TALK}
    assert all("time" in one.channels for one in found.heard)


def test_an_agents_notes_are_its_own(told: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="finance")
    note(told, "the mill costs too much", agent)
    assert len(ask(told, agent, "mill", NOTES).noted) == 2
    assert len(ask(told, caller, "mill", NOTES).noted) == 1


def test_what_an_agent_noted_stays_its_own_as_an_event(told: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="finance")
    note(told, "the mill costs too much", agent)
    ingest(told, [Message(1, "user", "the mill is loud", "2026-03-05T10:00:00Z")], agent, "chat")
    ingest_notes(told, caller)
    assert "the mill costs too much" in texts(ask(told, agent, "mill", EVENTS))
    for_all = texts(ask(told, caller, "mill", EVENTS))
    assert "the mill costs too much" not in for_all
    # Whoever took it in: it was said to all.
    assert {"the mill is loud", "the mill is being painted"} <= set(for_all)
    day = f"what happened on {caller.now:%Y-%m-%d}?"
    assert "the mill costs too much" in context(told, agent, 2_000, day).text
    assert "the mill costs too much" not in context(told, caller, 2_000, day).text


def test_what_came_out_of_the_memory_is_no_answer(vault: Vault, caller: Caller) -> None:
    day = "2026-03-05T10:00:00Z"
    ingest(
        vault,
        [Message(1, "user", "the kiln broke", day, recalled=True), Message(1, "user", "and now?", day)],
        caller,
        "x",
    )
    assert texts(ask(vault, caller, "kiln", EVENTS)) == []


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_meaning_finds_what_no_word_does_and_does_not_decide_where_words_are_sure(vault: Vault, caller: Caller) -> None:
    bank, beaver = "The bank raised its fees.", "A beaver lives by our river."
    said = [bank, beaver, *(f"Nothing to see at window {n}." for n in range(6))]
    day = "2026-03-05T10:00:00Z"
    ingest(vault, [Message(1, "user", text, day, session=text, external_id=text) for text in said], caller, "x")
    embed_missing(vault)
    assert texts(ask(vault, caller, "bank, fees", EVENTS))[0] == bank
    assert texts(ask(vault, caller, "Which animal builds dams?", EVENTS))[0] == beaver


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_a_question_in_other_words_is_not_answered_by_a_word_in_passing(clawmem: Callable[..., Any]) -> None:
    talk = (
        ("Ana", "Morning! Did you sleep?"),
        ("Ben", "Badly. The people upstairs take turns with a drill"),
        ("Ana", "Oh and my landlord wants the deposit by the ninth, nine hundred in cash"),
        ("Ben", "Cash, in this year"),
        ("Ana", "He says the date moves if the bank moves"),
    )
    lines = [{"role": "user", "speaker": who, "content": text, "session": "chat"} for who, text in talk]
    clawmem("ingest", "-", given="\n".join(map(json.dumps, lines)))
    clawmem("remember", "The people from the choir take the tram.")
    clawmem("heartbeat")
    answer = clawmem("recall", "What must Ana pay before people let her take the flat?").out.splitlines()[0]
    assert "nine hundred" in answer


def test_the_word_of_the_user_stands_before_the_advice_of_an_assistant(vault: Vault, caller: Caller) -> None:
    said = [("user", "My loom needs cotton warp"), ("assistant", "A loom needs cotton warp")]
    day = "2026-03-05T10:00:00Z"
    messages = [Message(n, role, text, day, session=f"s{n}", external_id=text) for n, (role, text) in enumerate(said)]
    ingest(vault, messages, caller, "x")
    assert texts(ask(vault, caller, "which warp does the loom need", EVENTS)) == [text for _, text in said]


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_the_meaning_of_a_question_is_that_of_its_words_as_typed(clawmem: Callable[..., Any]) -> None:
    for fact in ("Elastoplast gives me blisters, paper tape only.", "The platter with the crab on it is Ada's."):
        clawmem("remember", fact)
    for line in ("The ferry was late.", "Paid for the roof.", "Two hens are moulting."):
        clawmem("note", line)
    clawmem("heartbeat")
    found = clawmem("recall", "which plaster can a nurse use on me", "--all").out.splitlines()
    assert "Elastoplast" in found[0]


@pytest.mark.usefixtures("without_vectors")
def test_a_text_that_was_taken_in_is_found_and_a_noted_line_only_once(clawmem: Callable[..., Any]) -> None:
    clawmem("ingest", "-", "--source", "meeting notes", given="The caretaker wants the rent in zlotys.")
    assert "rent in zlotys" in clawmem("recall", "zlotys").out
    assert "rent in zlotys" in clawmem("recall", "", "--since", "2020-01-01").out
    clawmem("note", "The kiln is warm.")
    clawmem("heartbeat")
    assert clawmem("recall", "kiln").out.count("kiln is warm") == 1


def test_in_a_large_memory_words_that_nobody_said_still_count_and_common_ones_do_not(
    vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    day, said = "2026-03-05T10:00:00Z", ["apple kiln", "apple pear", *(f"apple number {n}" for n in range(10))]
    ingest(vault, [Message(1, "user", text, day, external_id=text) for text in said], caller, "x")
    index, asked = open_index(vault), {word: (word,) for word in ("apple", "zebra", "kiln", "pear")}
    assert [len(scores) for scores in index_said.word_scores(index, asked).values()] == [
        12,
        0,
        1,
        1,
    ]
    monkeypatch.setattr(index_said, "CHEAP", 3)
    assert [len(scores) for scores in index_said.word_scores(index, asked).values()] == [
        0,
        1,
        1,
    ]
    index.close()


def test_the_limit_holds_for_each_place(vault: Vault, caller: Caller) -> None:
    day = "2026-03-05T10:00:00Z"
    ingest(vault, [Message(1, "user", f"apple number {n}", day, external_id=str(n)) for n in range(30)], caller, "x")
    assert len(ask(vault, caller, "apple", EVENTS, limit=7).heard) == 7


def test_the_command_gives_events_as_json_and_as_lines(clawmem: Callable[..., Any]) -> None:
    lines = [
        {"role": "user", "speaker": who, "content": text, "timestamp": "2026-03-05T10:00:00Z"} for who, text in TALK
    ]
    assert clawmem("ingest", "-", given="\n".join(map(json.dumps, lines))).code == 0
    found = clawmem("recall", "Who took the ferry?", "--in", "events", "--json").json["data"]
    assert found["events"][0]["text"] == TALK[2][1]
    assert found["events"][0]["speaker"] == "Ana"
    assert found["facts"] == []
    plain = clawmem("recall", "Who took the ferry?", "--in", "all", "--explain").out
    assert "2026-03-05  Ana: Mine was closed" in plain
    wrong = clawmem("recall", "ferry", "--in", "dreams")
    assert wrong.code == 2
    assert "Choose from facts, events, notes, summaries, all." in wrong.err


def test_recall_gives_text_for_a_prompt_within_a_budget(clawmem: Callable[..., Any]) -> None:
    for number in range(12):
        clawmem("remember", f"The orchard has {number + 2} rows of apple trees near gate {number}")
    found = clawmem("recall", "apple trees", "--json", "--budget", "150").json["data"]
    assert found["context"]["token_count"] <= 150
    assert "apple trees" in found["context"]["text"]
    assert found["context"]["left_out"]
    plain = clawmem("recall", "apple trees", "--budget", "150").out
    assert plain.startswith("<clawmem-context>")
    assert clawmem("recall", "apple trees", "--json").json["data"]["context"]["token_count"] > 150
    small = clawmem("recall", "apple trees", "--budget", "3")
    assert small.code == 2
    assert "too small" in small.err


def test_equals_come_in_one_order_however_the_index_was_made(vault: Vault, caller: Caller) -> None:
    talk = [
        Message(1, "user", f"Boats matter, said {name}.", f"2026-03-{day:02}T10:00:00Z", session=f"s{day}")
        for day, name in ((7, "Ivo"), (5, "Ada"), (6, "Eva"))
    ]
    for number, message in enumerate(talk):
        ingest(vault, [message], caller, f"chat{number}")
        open_index(vault).close()
    first = texts(ask(vault, caller, "boats", EVENTS, limit=2))
    for path in vault.state.glob("index*"):
        path.unlink()
    assert texts(ask(vault, caller, "boats", EVENTS, limit=2)) == first
    assert [text[-4:-1] for text in first] == ["Ivo", "Eva"]
