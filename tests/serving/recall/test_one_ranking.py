"""Facts, events, notes and summaries come in one order, each thing once; weak hits are weak and left out."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.index.search.channels import FactFilter
from clawmem.learning.ingest import ingest, note
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import LEAST_SCORE, NEAR_SHARE, recall
from clawmem.serving.recall.result import EVENTS, FACTS, NOTES, RECALL_KINDS, RecallHit, RecallResult
from clawmem.vault.git.acceptance import accept
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.needs import needs_local_model
from tests.trees import Tree


def say(vault: Vault, caller: Caller, *talk: tuple[str, str]) -> None:
    """Keep a talk as events."""
    day = "2026-03-05T10:00:00Z"
    items = [
        Message(1, "user", words, day, speaker=who, session="s1", external_id=f"m{n}")
        for n, (who, words) in enumerate(talk)
    ]
    ingest(vault, items, caller, "chat")


def event_id(vault: Vault, caller: Caller, words: str) -> str:
    """The id of the event with this text."""
    heard = recall(vault, words, caller, FactFilter(), 10, (EVENTS,)).heard
    return next(hit.event.id for hit in heard if hit.event.text == words)


def keep(vault: Vault, caller: Caller, text: str, **more: Any) -> None:
    """A remembered fact."""
    remember(vault, [draft_from_record({"fact": text, **more}, caller.now)], caller)


def ask(vault: Vault, caller: Caller, question: str, *where: str, least: float = 0.0) -> RecallResult:
    """What recall gives, everywhere if no place is named."""
    return recall(vault, question, caller, FactFilter(), 10, where or RECALL_KINDS, least=least)


def kinds(result: RecallResult) -> list[str]:
    """The kinds of the hits in their order."""
    return [hit.kind for hit in result.ranking]


def text(other_hit: RecallHit) -> str:
    """What a hit says."""
    hit: Any = other_hit.hit
    return str(hit.fact.fact if other_hit.kind == FACTS else hit.event.text if other_hit.kind == EVENTS else hit.text)


def test_a_fact_stands_for_the_event_that_it_quotes(vault: Vault, caller: Caller) -> None:
    words = "I sold the green boat to Karl."
    say(vault, caller, ("Ana", words), ("Ben", "Lunch tomorrow?"))
    event = event_id(vault, caller, words)
    keep(vault, caller, "Ana sold a vessel.", source_event=event, source_text=words)
    found = ask(vault, caller, "Who sold the green boat to Karl?")
    first = found.ranking[0]
    assert text(first) == "Ana sold a vessel."
    assert first.event is not None
    assert first.event.id == event
    assert event not in [hit.event.id for hit in found.heard]


def test_a_fact_does_not_hide_a_long_event_of_which_it_quotes_little(vault: Vault, caller: Caller) -> None:
    long = f"I sold the boat. {'The winter was long and we stayed indoors. ' * 10}"
    say(vault, caller, ("Ana", long))
    event = event_id(vault, caller, long)
    keep(vault, caller, "Ana sold the boat.", source_event=event, source_text="I sold the boat.")
    assert sorted(kinds(ask(vault, caller, "boat sold"))) == [EVENTS, FACTS]


def test_equal_texts_appear_once_and_of_two_people_twice(vault: Vault, caller: Caller) -> None:
    say(vault, caller, ("Ana", "The mill is closed."), ("Ben", "The mill is closed."), ("Ana", "The mill is closed!"))
    assert kinds(ask(vault, caller, "mill")) == [EVENTS, EVENTS]
    keep(vault, caller, "The mill is closed")
    note(vault, "The mill is closed.", caller)
    assert kinds(ask(vault, caller, "mill")) == [FACTS]
    assert kinds(ask(vault, caller, "mill", NOTES)) == [NOTES]


def test_equal_facts_of_two_entities_are_two(vault: Vault, caller: Caller) -> None:
    for entity in ("areas/people/jane", "areas/people/jane-two"):
        keep(vault, caller, "Jane likes tea.", entity=entity)
    assert kinds(ask(vault, caller, "tea")) == [FACTS, FACTS]


def test_whom_the_question_names_comes_before_who_shares_its_words(vault: Vault, caller: Caller) -> None:
    for hobby in "pottery running camping painting swimming hiking cooking music dancing".split():
        keep(vault, caller, f"Carla enjoys {hobby}.", entity="areas/people/carla", subject="Carla")
    keep(vault, caller, "Carla recommended 'The Red Tent'.", entity="areas/people/carla", subject="Carla")
    keep(vault, caller, "Jon recommended a book about trains.", entity="areas/people/jon", subject="Jon")
    keep(vault, caller, "Theo recommended a book to his book club.", entity="areas/people/theo", subject="Theo")
    found = ask(vault, caller, "What book did Carla recommend?")
    assert text(found.ranking[0]) == "Carla recommended 'The Red Tent'."
    # A fact about somebody else that mentions her is not put behind.
    keep(vault, caller, "Jon read the book that Carla recommended.", entity="areas/people/jon", subject="Jon")
    assert "Jon read the book that Carla recommended." in [
        text(hit) for hit in ask(vault, caller, "What book did Carla recommend?").ranking[:2]
    ]


def test_what_has_only_the_name_is_weak_and_left_out_unless_asked_for(vault: Vault, caller: Caller) -> None:
    chat = [("Carla" if n % 2 else "Melvin", f"Hello Carla, nice number {n}.") for n in range(60)]
    say(vault, caller, *chat)
    question = "Which telescope did Carla inherit from her grandfather?"
    every = ask(vault, caller, question)
    assert len(every.ranking) == 10
    assert all(recall_hit.hit.score < LEAST_SCORE for recall_hit in every.ranking)
    strong = ask(vault, caller, question, least=LEAST_SCORE)
    assert strong.ranking == ()
    assert strong.weak >= 10
    assert ask(vault, caller, "nice number 41", least=LEAST_SCORE).ranking


def test_scores_are_the_sum_of_their_parts_and_in_order(vault: Vault, caller: Caller) -> None:
    say(vault, caller, ("Ana", "The mill burned down."), ("Ben", "Jane saw it, she lives near the mill."))
    keep(vault, caller, "Jane lives in Oslo.", entity="areas/people/jane", subject="Jane", predicate="lives_in")
    keep(vault, caller, "The mill belongs to Ben.")
    note(vault, "Went to the mill with Jane.", caller)
    for question in ("Where does Jane live?", "What was said about the mill?", "Jane at the mill"):
        found = ask(vault, caller, question)
        scores = [recall_hit.hit.score for recall_hit in found.ranking]
        assert scores == sorted(scores, reverse=True)
        for recall_hit in found.ranking:
            parts = sum(recall_hit.hit.channels.values()) + getattr(recall_hit.hit, "prior", 0.0)
            assert parts == pytest.approx(recall_hit.hit.score, abs=1e-3)


def test_the_command_looks_everywhere_and_names_what_else_to_try(clawmem: Callable[..., Any]) -> None:
    line = {"role": "user", "speaker": "Ana", "content": "The ferry was late.", "timestamp": "2026-03-05T10:00:00Z"}
    clawmem("ingest", "-", given=json.dumps(line))
    clawmem("note", "Took the ferry to Oslo.")
    clawmem("remember", "The ferry costs 40 crowns.", "--entity", "resources/ferry")
    found = clawmem("recall", "ferry", "--json").json["data"]
    assert [len(found[kind]) for kind in RECALL_KINDS] == [1, 1, 1, 0]
    assert sorted(other["rank"] for kind in RECALL_KINDS for other in found[kind]) == [1, 2, 3]
    two = clawmem("recall", "ferry", "--in", "facts,notes", "--json").json["data"]
    again = clawmem("recall", "ferry", "--in", "facts", "--in", "notes", "--json").json["data"]
    for found in (two, again):
        assert [len(found[kind]) for kind in RECALL_KINDS] == [1, 0, 1, 0]
    narrowed = clawmem("recall", "ferry", "-e", "resources/ferry", "--json").json["data"]
    assert [len(narrowed[kind]) for kind in RECALL_KINDS] == [1, 0, 0, 0]
    nothing = clawmem("recall", "zeppelin", "--in", "notes").err
    assert "Nothing in notes says that." in nothing
    assert "--in facts,events,summaries" in nothing
    assert len(clawmem("recall", "ferry").out.splitlines()) == 3


def test_a_weak_hit_is_counted_and_shown_with_all(clawmem: Callable[..., Any]) -> None:
    facts = [{"fact": f"Jane tidied shelf {number}.", "entity": "areas/people/jane"} for number in range(40)]
    clawmem("remember", "--jsonl", "-", given="\n".join(map(json.dumps, facts)))
    question = "Which harbour did Jane photograph yesterday evening?"
    weak = clawmem("recall", question)
    assert weak.out == ""
    assert "add --all" in weak.err
    assert len(clawmem("recall", question, "--all").out.splitlines()) == 10


def test_a_question_of_the_user_is_not_only_about_the_user(vault: Vault, caller: Caller) -> None:
    """A fact about the user, as a note teaches one, must not hide what the user asks about."""
    keep(vault, caller, "The user will live in Kiel from May on.", entity="areas/people/user", subject="user")
    keep(vault, caller, "My mother Greta lives in Flensburg.", entity="areas/people/greta", subject="Greta")
    found = ask(vault, caller, "Where does my mother live?", FACTS, least=LEAST_SCORE).found
    assert [hit.fact.fact for hit in found][:1] == ["My mother Greta lives in Flensburg."]


def test_a_fact_shows_the_event_it_comes_from_and_the_note_is_not_shown_again(vault: Vault, caller: Caller) -> None:
    words = "Booked the ferry to Oslo, leaving on 3 April at 10:12."
    say(vault, caller, ("Ana", words))
    event = event_id(vault, caller, words)
    note(vault, words, caller)
    keep(vault, caller, "Ana booked a trip.", source_event=event, source_text="Booked the ferry")
    (first,) = ask(vault, caller, "trip").ranking
    assert first.event is not None
    assert first.event.text == words


def test_a_question_ranks_behind_an_answer_and_a_statement_without_an_end_behind_a_whole_one(
    vault: Vault, caller: Caller
) -> None:
    say(vault, caller, ("Ana", "Any pets at home?"), ("Ben", "Nice."), ("Ben", "There are two pets at home."))
    found = [text(hit) for hit in ask(vault, caller, "pets at home").ranking]
    assert found.index("There are two pets at home.") < found.index("Any pets at home?")
    keep(vault, caller, "Ana lives in a house where")
    keep(vault, caller, "Ana lives in a house in Oslo.")
    assert text(ask(vault, caller, "house Ana lives", FACTS, NOTES).ranking[0]) == "Ana lives in a house in Oslo."


def test_a_line_of_a_page_with_every_word_is_a_full_match(vault: Vault, caller: Caller) -> None:
    say(vault, caller, ("Ana", "Hello."), ("Ana", "Fine."))
    note(vault, "Took the ferry to Oslo.", caller)
    (found,) = ask(vault, caller, "ferry", NOTES).noted
    assert found.score == 1.0


def test_a_fact_that_names_the_day_asked_about_is_found(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Ada is the on-call person in the week of 23 November 2026.")
    keep(vault, caller, "Ben had a call last week.", valid_from="2026-01-01")
    first = ask(vault, caller, "Who takes over on-call next week?", FACTS).ranking[0]
    assert text(first) == "Ada is the on-call person in the week of 23 November 2026."


def test_few_lines_are_shown_where_the_first_hit_wins_and_more_if_asked(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "The ferry to Oslo costs 40 crowns.")
    clawmem("remember", "Oslo is cold.")
    assert len(clawmem("recall", "what does the ferry to Oslo cost?").out.splitlines()) == 1
    assert len(clawmem("recall", "what does the ferry to Oslo cost?", "--all").out.splitlines()) == 2
    assert len(clawmem("recall", "what does the ferry to Oslo cost?", "--limit", "5").out.splitlines()) == 2


def another(newborn: Tree, folders: pytest.TempPathFactory) -> tuple[Vault, Caller]:
    """One more fresh vault, for one example."""
    folder = folders.mktemp("vault")
    (folder / "home").mkdir()
    (folder / "home" / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
    root = newborn.write(folder / "v")
    accept(root / ".git", env)
    return Vault(root, env), Caller(datetime(2026, 3, 5, 12, tzinfo=UTC), random.Random(1).randbytes)


WORDS = st.lists(st.sampled_from("amber basil cedar dune ember fjord grove heron iris jade".split()), max_size=40)


@given(WORDS, WORDS, st.booleans())
@settings(max_examples=5)
def test_adding_a_text_never_hides_another_that_has_as_many_of_the_asked_words(
    newborn: Tree, tmp_path_factory: pytest.TempPathFactory, some: list[str], others: list[str], as_note: bool
) -> None:
    vault, caller = another(newborn, tmp_path_factory)
    first, second = (" ".join(["copper", "kettle", *words]) for words in (some, [*others, "too"]))
    for number, words in enumerate((first, second)):
        if as_note:
            note(vault, words, caller)
        else:
            ingest(vault, [Message(1, "user", words, session=f"s{number}", external_id=str(number))], caller, "chat")
        found = recall(vault, "copper kettle", caller, FactFilter(), 10, RECALL_KINDS, 1, LEAST_SCORE, NEAR_SHARE)
        assert {text(hit) for hit in found.ranking} == {first, second} if number else {first}


@pytest.mark.parametrize("verb", ["remember", "note", "ingest"])
def test_a_word_that_half_of_a_few_texts_have_finds_them_beside_a_rarer_one(
    clawmem: Callable[..., Any], verb: str
) -> None:
    texts = ["Olaf moved to Bergen.", *(f"The release of {name} is in May." for name in ("Kestrel", "Lark", "Swift"))]
    for number, words in enumerate(texts, 1):
        line = json.dumps({"role": "user", "content": words, "session": f"s{number}"})
        clawmem(*((verb, "-", "--format", "jsonl") if verb == "ingest" else (verb, words)), given=line)
        found = clawmem("recall", "why was the release moved?").out
        assert all(other in found for other in texts[:number])


def test_of_two_notes_that_have_the_asked_words_the_newer_is_first(clawmem: Callable[..., Any]) -> None:
    clawmem("note", "Lost my umbrella in the tram")
    clawmem("note", "Found my umbrella in the tram depot")
    found = clawmem("recall", "Where is my umbrella?").out.splitlines()
    assert [line.partition("note: ")[2].split()[0] for line in found] == ["Found", "Lost"]


def test_what_has_only_the_name_of_a_person_is_no_answer(vault: Vault, caller: Caller) -> None:
    talk = (
        ("Ann", "Good morning all."),
        ("Ben", "Agreed"),
        ("Ann", "I bake bread on Sundays."),
        ("Ben", "Nice weather"),
    )
    say(vault, caller, *talk)
    keep(vault, caller, "Tim is Ann's friend.")
    found = recall(vault, "What hobbies does Ann have?", caller, FactFilter(), 10, RECALL_KINDS, least=LEAST_SCORE)
    assert found.ranking == ()
    assert 0 < len(found.nearest) <= 3
    asked = ask(vault, caller, "When does Ann bake?", least=LEAST_SCORE)
    assert text(asked.ranking[0]) == "I bake bread on Sundays."
    flags = [recall_hit.hit.only_named for recall_hit in asked.ranking]
    assert flags == sorted(flags)
    assert ask(vault, caller, "Who is Ann?", least=LEAST_SCORE).ranking  # then the name is what is asked


def test_a_question_that_nothing_answers_is_told_so_with_what_is_near(clawmem: Callable[..., Any]) -> None:
    clawmem("ingest", "-", "--format", "jsonl", given='{"role": "user", "speaker": "Bob", "content": "Agreed"}\n')
    clawmem("note", "The shoe shop closes at six")
    nothing = clawmem("recall", "What is Bob's blood group?")
    assert nothing.out == ""
    assert "Nothing says that." in nothing.err
    assert 1 <= nothing.err.count("near: ") <= 3
    assert clawmem("recall", "What is Bob's blood group?", "--json").data["nearest"]
    context = clawmem("context", "How do I configure nginx as a reverse proxy?").out
    assert "nothing was found for this task" in context
    assert "- " not in context


def test_a_question_about_somebody_of_whom_no_text_speaks_needs_more_of_its_words(
    clawmem: Callable[..., Any],
) -> None:
    for name in ("Olga", "Per", "Kai"):
        clawmem("note", f"{name} started a class in the gym, and then the year was over.")
    assert "class" in clawmem("recall", "Which class did Olga start in the gym?").out
    assert clawmem("recall", "Which class did Whitaker take in Montevideo with his brother?").out == ""


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
@pytest.mark.parametrize("verb", ["remember", "ingest"])
def test_with_vectors_a_question_that_nothing_answers_is_told_so(clawmem: Callable[..., Any], verb: str) -> None:
    said = (
        "I sold the old Volvo for 2300.",
        "My sister had a girl called Mina.",
        "We paint the kitchen in sage.",
        "I started piano lessons in May.",
        "Theo broke his arm on the trampoline.",
        "The heating engineer replaced the pump in the cellar.",
        "We keep invoices for seven years because of the tax office.",
        "I owe Rita forty euros for the tickets.",
    )
    for number, words in enumerate(said):
        line = json.dumps({"role": "user", "content": words, "session": f"s{number}"})
        clawmem(*((verb, "-", "--format", "jsonl") if verb == "ingest" else (verb, words)), given=line)
    clawmem("heartbeat")
    for question in ("how do I configure nginx?", "heron", "dog", "What is the capital of Mongolia?"):
        assert "Nothing says that." in clawmem("recall", question).err
    for question, answer in (
        ("How much money did my vehicle fetch?", "Volvo"),
        ("Welches Instrument lerne ich?", "piano"),
        ("Who had an accident while jumping?", "Theo"),
        ("How long must bills be archived?", "invoices"),
    ):
        found = clawmem("recall", question).out.splitlines()
        assert answer in found[0] and len(found) <= 2


def test_a_context_says_that_the_nearest_facts_are_no_answer(clawmem: Callable[..., Any]) -> None:
    for words in ("Ann lives in Oslo.", "Tim is Ann's friend.", "Tim plays chess.", "Mara works as a baker."):
        clawmem("remember", words)
    found = clawmem("context", "What hobbies does Ann have?").out
    assert "## Nearest, no answer\n- " in found
    assert "Facts for this question" not in found and "Connected" not in found and "chess" not in found
    assert "## Facts for this question\n- Ann lives" in clawmem("context", "Where does Ann live?").out


def test_a_name_is_the_same_with_accents_and_hyphens_and_no_answer_alone(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "Paweł teaches physics at the lyceum.", "--entity", "areas/people/pawel")
    clawmem("remember", "Galka sleeps in the hall.", "--entity", "areas/people/galka")
    clawmem("note", "Paweł repaired the bicycle, next is the fence.")
    nothing = clawmem("recall", "When is Paweł's birthday?")
    assert nothing.out == ""
    assert "Nothing says that." in nothing.err
    assert "near: " in nothing.err
    assert "physics" in clawmem("recall", "What does Paweł teach?").out
    assert "fence" in clawmem("recall", "What is Paweł's next repair?").out


def test_a_message_whose_fact_was_replaced_says_what_holds_now(clawmem: Callable[..., Any]) -> None:
    items = [
        {"role": "user", "content": "Never run the migrations on staging yourself.", "id": "m1"},
        {"role": "assistant", "content": "Right: no migrations on staging by me.", "id": "m1a"},
        {"role": "user", "content": "The rate limit is 40.", "id": "m2"},
        {"role": "system", "content": "You are told that the migrations of staging run at night.", "id": "m3"},
        {"role": "tool", "content": "The migrations on staging are done.", "id": "m4"},
    ]
    lines = "\n".join(json.dumps({"timestamp": "2026-11-02T10:00:00Z", "session": "s1"} | record) for record in items)
    clawmem("ingest", "-", "--format", "jsonl", given=lines)
    events = clawmem("recall", "migrations staging rate limit", "--in", "events", "--all", "--json").data["events"]
    ids = {event["text"]: event["id"] for event in events}
    items = [items[0], *items[2:]]
    old = clawmem("remember", "Agents never run migrations on staging.", "--event", ids[items[0]["content"]], "--json")
    clawmem("supersede", old.data["facts"][0]["id"], "Agents may run migrations on staging.")
    wrong = clawmem("remember", "The limit is 40.", "--event", ids[items[1]["content"]], "--json")
    clawmem("retract", wrong.data["facts"][0]["id"])
    question = "run the migrations on staging"
    for command in (("recall", question), ("context", question), ("recall", question, "--budget", "400")):
        shown = clawmem(*command).out.splitlines()
        for words in ("Never run the migrations", "no migrations on staging by me"):
            line = next(other_line for other_line in shown if words in other_line)
            assert "(no longer: now Agents may run" in line.replace(", no longer", " (no longer")
    assert "no longer: withdrawn" in clawmem("recall", "rate limit", "--in", "events").out
    prompt = clawmem("recall", question, "--json").data["llm_context"]["text"]
    assert "You are told" not in prompt
    assert "are done" not in prompt


def test_the_question_that_was_asked_before_is_no_answer(vault: Vault, caller: Caller) -> None:
    say(vault, caller, ("Ana", "Which port has the test database?"), ("Ana", "The test database has port 5433."))
    found = ask(vault, caller, "which port has the test database", EVENTS)
    assert [text(hit) for hit in found.ranking] == ["The test database has port 5433."]


@pytest.mark.usefixtures("without_vectors")
def test_a_learned_number_stands_behind_another_one_that_was_said_later(clawmem: Callable[..., Any]) -> None:
    def hear(words: str, day: int) -> None:
        line = {"role": "user", "content": words, "timestamp": f"2026-11-{day:02}T10:00:00Z", "session": f"s{day}"}
        clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(line))

    hear("Remember that Kestrel keeps raw messages for 30 days.", 3)
    clawmem("heartbeat")
    question = "How long are raw messages kept?"
    hear("Are raw messages kept for 60 days?", 5)
    hear("The 14 raw messages are gone.", 6)
    assert "30 days" in clawmem("recall", question).out.splitlines()[0]
    hear("raw messages are kept 90 days from now on.", 9)
    now, before, *_ = clawmem("recall", question).out.splitlines()
    assert "90 days" in now and " fact " in before and "30 days" in before


def test_the_name_of_a_predicate_finds_the_facts_that_have_it(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "The report goes out on 3 December.", "--subject", "Kestrel", "--predicate", "has_deadline")
    clawmem("remember", "The buoy is at pier 4.")
    for question in ("has_deadline", "has deadline", "hasDeadline", "deadline"):
        assert ["The report goes out" in line for line in clawmem("recall", question).out.splitlines()] == [True]


def test_a_further_pass_keeps_the_answer_and_finds_what_is_linked_to_it(clawmem: Callable[..., Any]) -> None:
    texts = ("Ana manages Bo.", "Bo works on Kite.", "Kite ships from Rotterdam.")
    places = ("areas/people/ana", "areas/people/bo", "projects/kite")
    ids = [
        clawmem("remember", words, "--entity", place, "--json").data["facts"][0]["id"]
        for words, place in zip(texts, places, strict=True)
    ]
    clawmem("link", ids[0], ids[1])
    clawmem("link", ids[1], ids[2])
    question = "Where does the project of the person that Ana manages ship from?"
    for passes, wanted in (("1", texts[:1]), ("2", texts[:2]), ("3", texts)):
        found = clawmem("recall", question, "--passes", passes).out
        assert all(words in found for words in wanted), passes


def test_a_word_that_is_written_as_it_sounds_finds(clawmem: Callable[..., Any]) -> None:
    for text in ("Priya is allergic to hazelnuts.", "The boiler is new.", "The spruce fell on the shed."):
        clawmem("remember", text)
    for words in ("alergic", "What is Priya alergic to?", "boyler", "boilor", "spruse"):
        found = clawmem("recall", words)
        assert len(found.out.splitlines()) == 1
        assert "read as" in found.err
    assert clawmem("recall", "platter").out == clawmem("recall", "bailiff").out == ""


def test_small_talk_beside_the_answer_is_left_out(clawmem: Callable[..., Any]) -> None:
    talk = ("how do you spell 'occurrence'?", "raw messages are kept 90 days from now on.", "I live in Hamburg.")
    lines = (json.dumps({"role": "user", "content": words, "session": "s1"}) for words in talk)
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(lines))
    assert len(clawmem("recall", "How long are raw messages kept?").out.splitlines()) == 1


@pytest.mark.usefixtures("without_vectors")
@pytest.mark.parametrize(("options", "more", "by_hand"), [
    (("--trust", "external"), {"speaker": "mallory"}, False), ((), {"role": "tool"}, False),
    ((), {"timestamp": "2027-01-01T10:00:00Z"}, False), ((), {}, True), ((), {}, False),
])  # fmt: skip
def test_only_a_person_by_now_says_another_number_than_what_was_learned(
    clawmem: Callable[..., Any], options: tuple[str, ...], more: dict[str, str], by_hand: bool
) -> None:
    def hear(words: str, *options: str, **more: str) -> None:
        line = {"role": "user", "content": words, "timestamp": "2026-11-03T10:00:00Z", "session": words, **more}
        assert clawmem("ingest", "-", "--format", "jsonl", *options, given=json.dumps(line)).code == 0

    known, news = (f"Acme invoices go to account {number} at Sparkasse." for number in (1234, 9999))
    if by_hand:
        (fact,) = clawmem("remember", known, "--json", env={"CLAWMEM_NOW": "2026-11-03T10:00:00Z"}).data["facts"]
        clawmem("edit", fact["id"], "--pin")
    else:
        hear(f"Remember that {known}")
        clawmem("heartbeat")
    hear(news, *options, **{"timestamp": "2026-11-09T10:00:00Z", **more})
    first = clawmem("recall", "Where do Acme invoices go?", "--limit", "1").out
    assert ("9999" in first) == (not (options or more or by_hand)), first


def test_of_a_chain_the_asked_value_is_first_and_each_has_what_replaced_it(clawmem: Callable[..., Any]) -> None:
    days = ("12 November", "19 November", "3 December")
    texts = [f"The release date of Kestrel is {day}." for day in days]
    fact = clawmem("remember", texts[0], "--json").data["facts"][0]["id"]
    for words in texts[1:]:
        clawmem("supersede", fact, words)
        fact = clawmem("recall", words, "--json").data["facts"][0]["id"]
    for question, order in (
        ("What was the original release date?", (0, 1)),
        ("What was the release date at first?", (0, 1)),
        ("What was the release date before?", (1, 0)),
        ("What was the release date before 19 November?", (0, 1)),
        ("What was the release date before 3 December?", (1, 0)),
    ):
        found = clawmem("recall", question).out.splitlines()[:2]
        for line, at in zip(found, order, strict=True):
            assert days[at] in line and line.endswith(f"then: {texts[at + 1]}"), question


def test_what_held_before_is_told_with_its_dates_and_what_holds_now(clawmem: Callable[..., Any]) -> None:
    first = clawmem("remember", "Priya lives in Leeds.", "--valid-from", "2026-01-01", "--json").data["facts"][0]["id"]
    clawmem("supersede", first, "Priya lives in Manchester.", "--reason", "she moved for work")
    wrong = clawmem("remember", "The buoy is at pier 4.", "--json").data["facts"][0]["id"]
    clawmem("retract", wrong, "--reason", "it was the wrong buoy")
    for question in (
        "Where did Priya live before Manchester?",
        "Where did Priya use to live?",
        "Where did Priya live originally?",
        "Was war früher: Priya lives?",
    ):
        old, new, *_ = clawmem("recall", question).out.splitlines()
        assert "Priya lives in Leeds." in old
        assert "since 2026-01-01, until 2026-11-21" in old
        assert old.endswith("then: Priya lives in Manchester.")
        assert "Priya lives in Manchester." in new
        context = clawmem("context", question).out
        assert "## What held before\n- Priya lives in Leeds. (2026-01-01 to 2026-11-21; then: Priya lives in" in context
    assert "Leeds" not in clawmem("recall", "Where does Priya live?").out
    assert "Leeds" not in clawmem("context", "Where does Priya live?").out
    gone = clawmem("recall", "Leeds")
    assert gone.out == ""
    assert f"No longer: {first}  Priya lives in Leeds. (replaced by: Priya lives in Manchester.)" in gone.err
    assert (
        f"No longer: {wrong}  The buoy is at pier 4. (retracted, because it was the wrong buoy)"
        in clawmem("recall", "buoy pier").err
    )


@pytest.mark.usefixtures("without_vectors")
def test_a_reason_is_searched_and_told_with_its_fact(clawmem: Callable[..., Any]) -> None:
    old = clawmem("remember", "The report is made with Typst 0.11.", "--json").data["facts"][0]["id"]
    words = ("The report is made with Typst 0.10.", "--reason", "the upgrade breaks the tables.")
    new = clawmem("supersede", old, *words, "--json").data["facts"][0]["id"]
    clawmem("decision", "add", "Backups go to R2 instead of S3.", "--why", "egress costs")
    clawmem("heartbeat")
    reason = "because the upgrade breaks the tables"
    assert reason in clawmem("recall", "What breaks the tables?").out
    assert reason in clawmem("context", "What breaks the tables?").out
    for verb in ("why", "show"):
        assert reason.removeprefix("because ") in clawmem(verb, new).out
    for question in ("why R2 instead of S3?", "egress costs"):
        assert "because egress costs" in clawmem("recall", question).out
        assert clawmem("context", question).out.count("because egress costs") == 1


def test_what_is_known_of_a_person_is_shown_where_it_is_little(vault: Vault, caller: Caller) -> None:
    say(vault, caller, *(("Mara", f"Priya, eat my share of dish {number}") for number in range(12)))
    say(vault, caller, ("Priya", "See you at lunch."))
    keep(vault, caller, "Priya is vegan.")
    asked = ask(vault, caller, "What does Priya eat?", least=LEAST_SCORE)
    assert len(asked.ranking) == 10
    assert text(asked.ranking[0]) == "Priya is vegan."
    nothing = ask(vault, caller, "What is the blood group of Priya?", least=LEAST_SCORE)
    assert nothing.ranking == ()
    assert text(nothing.nearest[0]) == "Priya is vegan."


def test_what_holds_of_somebody_else_is_no_answer(vault: Vault, caller: Caller) -> None:
    say(vault, caller, ("Henrik", "I will be late today."), ("Priya", "That's fine."))
    keep(vault, caller, "Priya's phone number is 0176 5551234.")
    nothing = ask(vault, caller, "What is Henrik's phone number?", least=LEAST_SCORE)
    assert nothing.ranking == ()
    assert "Priya's phone number" in text(nothing.nearest[0])
    assert text(ask(vault, caller, "What is Priya's phone number?", least=LEAST_SCORE).ranking[0]).startswith("Priya's")
    served = context(vault, caller, 1000, "What is Henrik's phone number?")
    assert "0176" not in served.text
    keep(vault, caller, "Lotte is Henrik's sister.")
    keep(vault, caller, "Lotte's sister plays the cello.")
    linked = ask(vault, caller, "Who is the sister of Henrik's sister?", least=LEAST_SCORE)
    assert "Lotte's sister plays the cello." in [text(hit) for hit in linked.ranking]
    assert not any(recall_hit.hit.only_named for recall_hit in linked.ranking if "Lotte" in text(recall_hit))


def test_what_a_new_vault_says_by_itself_is_no_memory(clawmem: Callable[..., Any]) -> None:
    asked = "What matters most, in a few lines: the first thing an agent reads?"
    assert clawmem("recall", asked, "--all").out == ""
    clawmem("note", "The first thing an agent reads is the map of the harbour")
    assert "harbour" in clawmem("recall", asked).out


UNHEARD = ("earn", "study", "paint", "juggle", "translate", "hospital", "passport", "surname")


@given(st.sampled_from(UNHEARD), st.sampled_from(("Nora", "Tilo", "Ines")))
@settings(max_examples=5)
def test_what_was_never_heard_of_somebody_known_is_unknown(
    newborn: Tree, tmp_path_factory: pytest.TempPathFactory, word: str, name: str
) -> None:
    vault, caller = another(newborn, tmp_path_factory)
    pair = (f"{name} starts on Monday.", f"I met {name} at the harbour.", "The harbour opens at six.")
    messages = [Message(n, "user", entry, session="s", external_id=str(n)) for n, entry in enumerate(pair)]
    ingest(vault, messages, caller, "chat")

    def found(question: str) -> list[str]:
        result = recall(vault, question, caller, FactFilter(), 10, RECALL_KINDS, 1, LEAST_SCORE, NEAR_SHARE)
        return [text(hit) for hit in result.ranking]

    assert found(f"What {word} does {name} have?") == []
    assert found(f"When does {name} start?")[0] == pair[0]
    assert pair[1] in found(f"Where did I meet {name}?")
    assert found(f"{name} {word}")  # no question: words to search for


def test_a_fact_about_whom_a_question_names_answers_in_other_words(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "Jane prefers tea.")
    clawmem("remember", "Tom lives in Oslo.")
    assert "Jane prefers tea." in clawmem("recall", "what does Jane drink?").out
    for question in ("what does Jane earn?", "what does Tom drink?", "which car does Jane drive?"):
        nothing = clawmem("recall", question)
        assert nothing.out == "", question
        assert "Nothing says that." in nothing.err


def test_a_question_for_a_number_or_a_colour_needs_one(clawmem: Callable[..., Any]) -> None:
    clawmem("note", "The blue van of the workshop is at the garage")
    clawmem("note", "The boat of the workshop is at the pier")
    assert "garage" in clawmem("recall", "What colour is the workshop van?").out
    nothing = clawmem("recall", "How many boats has the workshop?")
    assert nothing.out == ""
    assert "Nothing says that." in nothing.err


def test_a_slip_for_a_word_of_talk_is_mended_once_where_only_facts_are_searched(clawmem: Callable[..., Any]) -> None:
    clawmem("note", "The scaffolding stands at the harbour")
    clawmem("remember", "The boat lies in the bay.")
    assert clawmem("recall", "Where was the scafolding before?").code == 0


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_a_fact_that_has_all_names_of_a_question_answers_it(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "In the Quillstack image LibreOffice is pinned at 24.8, because 25.2 garbles footnotes.")
    clawmem("remember", "Quillstack makes accessible files.")
    clawmem("heartbeat")
    found = clawmem("recall", "Which LibreOffice version does Quillstack use, and why not a newer one?")
    assert "pinned at 24.8" in found.out.partition("\n")[0]
    assert clawmem("recall", "Which Nextcloud version does Quillstack use?").out == ""


def test_a_slip_is_mended_once_in_a_context_too(clawmem: Callable[..., Any]) -> None:
    clawmem("note", "The scaffolding stands at the harbour")
    clawmem("remember", "The boat lies in the bay.", "--entity", "areas/boat")
    assert clawmem("context", "Where is the scafolding?", "--entity", "areas/boat").code == 0


def test_what_no_longer_holds_stands_behind_what_holds_also_where_that_is_over(vault: Vault, caller: Caller) -> None:
    text = "Please remember that the movers come on 30 November 2026."
    say(vault, caller, ("Nora", text))
    event = event_id(vault, caller, text)
    keep(vault, caller, "The movers come on 30 November 2026.", source_event=event)
    supersede(
        vault, "movers come", draft_from_record({"fact": "The firm comes on 2 November 2026."}, caller.now), caller
    )
    ranking = ask(vault, caller, "when do the movers come").ranking
    assert [hit.text for hit in ranking] == ["The firm comes on 2 November 2026.", text]


def test_a_context_has_the_fact_that_the_best_message_taught(vault: Vault, caller: Caller) -> None:
    text = "I'm vegetarian. Any ideas for a first dinner up there?"
    say(vault, caller, ("Nora", text), ("Nora", "Good night."))
    [event] = (hit.event.id for hit in ask(vault, caller, "vegetarian", EVENTS).heard if hit.event.text == text)
    keep(vault, caller, "Nora is vegetarian.", source_event=event)
    keep(vault, caller, "The plan of a dinner with eight guests is in the drawer.")
    told = context(vault, caller, 800, "plan a dinner with eight guests").text
    assert "- Nora is vegetarian." in told.partition("## Facts for this question")[2].partition("##")[0], told


MOVE: list[tuple[str, str, dict[str, Any]]] = [
    ("I live in Turku.", "The user lives in Turku.", {"o": "Turku", "p": "lives_in"}),
    (
        "Ilkka and I are moving on 1 December, to Naantali.",
        "The user moves to Naantali with Ilkka on 1 December 2026.",
        {"o": "Naantali", "p": "lives_in", "when": "2026-12-01/", "x": {"#1": "replace"}},
    ),
    (
        "My sister Hanna lives in Tampere.",
        "Hanna, the user's sister, lives in Tampere.",
        {"o": "Tampere", "p": "lives_in", "of": "Hanna", "at": "person:Hanna"},
    ),
    ("The pilot must be live by 13 November.", "The pilot must be live by 13 November 2026.", {"of": "pilot"}),
]


def read_the_move(clawmem: Command) -> None:
    lines = (
        {"role": "user", "timestamp": f"2026-11-02T09:0{n}:00Z", "session": "s", "content": text}
        for n, (text, _, _) in enumerate(MOVE)
    )
    clawmem("ingest", "-", given="\n".join(map(json.dumps, lines)))
    task = re.findall(r"read-\w+", clawmem("learn", "pending", env=THEN).out)[0]
    facts = [{"e": n, "q": text.rstrip("."), "s": says, **more} for n, (text, says, more) in enumerate(MOVE, 1)]
    assert clawmem("learn", "apply", "-", given=json.dumps({"task": task, "facts": facts}), env=THEN).code == 0


THEN = {"CLAWMEM_NOW": "2026-11-03T09:00:00Z"}
TURKU, NAANTALI, TAMPERE, _ = (says for _, says, _ in MOVE)


def test_where_somebody_lives_now_comes_first(clawmem: Command) -> None:
    read_the_move(clawmem)
    for day, words, first in (
        ("2026-12-03", ["where do I live"], [NAANTALI, TURKU, TAMPERE]),
        ("2026-11-10", ["where do I live"], [TURKU]),
        ("2026-11-10", ["where do I live", "--as-of", "2026-12-25"], [NAANTALI, TAMPERE]),
        ("2026-12-03", ["where does Hanna live"], [TAMPERE]),
        ("2026-12-03", ["where did I live before"], [TURKU]),
    ):
        found = clawmem("recall", *words, "--json", env={"CLAWMEM_NOW": f"{day}T09:00:00Z"}).data["facts"]
        said = [fact["fact"] for fact in found]
        assert said[: len(first)] == first, (day, words)
        assert not any("pilot" in text for text in said) or "before" in words[0]
    # Who said what a fact was learned from is the same at any time.
    for more in ([], ["--as-of", "2026-12-25"]):
        shown = clawmem("recall", "where do I live", *more, "--json", env={"CLAWMEM_AGENT": "robin"}).data["facts"]
        assert {fact["who"] for fact in shown} == {"user"}
