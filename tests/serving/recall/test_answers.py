"""What answers a question, what is only near, and what is small talk."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Command, Once
from tests.needs import needs_local_model

FACTS = (
    "Ingrid is at the conference until 9 March 2027.",
    "Ingrid signs the contracts.",
    "Ingrid sits on the third floor.",
    "Ingrid works with Paul.",
    "Ingrid prefers short meetings.",
    "Ingrid is allergic to wasps.",
    "I have a call every weekday at 9:15.",
    "The workshop opens at 8.",
    "My wife ate the last plum.",
    "I drive a Volvo.",
)
TALK = (
    ("user", "Could you proofread the flyer?"),
    ("assistant", "Good to know."),
    ("user", "The rats got into the shed again."),
    ("assistant", "Noted."),
    ("user", "It looks better now."),
    ("assistant", "Understood."),
    ("user", "haha, great"),
    ("assistant", "Why did the scarecrow win a prize? He was outstanding in his field."),
)


def hear(clawmem: Callable[..., Any], *talk: tuple[str, str]) -> None:
    """Keep a talk of one session."""
    lines = (json.dumps({"role": role, "content": words, "session": "s1"}) for role, words in talk)
    assert clawmem("ingest", "-", "--format", "jsonl", given="\n".join(lines)).code == 0


@pytest.fixture
def known(clawmem: Command, once: Once) -> Command:
    """A vault with facts and small talk, searched by meaning, too."""

    def build() -> None:
        clawmem("remember", "\n".join(FACTS))
        hear(clawmem, *TALK)
        clawmem("heartbeat")

    once(build)
    return clawmem


@needs_local_model
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When is Ingrid back?", FACTS[0]),
        ("Is somebody allergic to anything?", FACTS[5]),
        ("Who ate the plum?", FACTS[8]),
        ("What did my wife eat?", FACTS[8]),
        ("Which car do I have?", FACTS[9]),
    ],
)
def test_a_fact_close_in_meaning_answers(known: Command, question: str, answer: str) -> None:
    assert answer in known("recall", question).out.partition("\n")[0]


@needs_local_model
def test_small_talk_answers_nothing_and_is_not_near(known: Command) -> None:
    for question in ("bees", "pizza", "What is the alarm code?", "Who teaches Latin?", "When does the museum close?"):
        nothing = known("recall", question)
        assert nothing.out == ""
        assert "Nothing says that." in nothing.err
        for _, words in TALK[1::2][:3]:
            assert words not in nothing.err


def test_a_question_on_food_does_not_find_times(known: Command) -> None:
    for question in ("What do I eat?", "eaten", "ate", "Does she eat fish?"):
        found = known("recall", question).out
        assert "9:15" not in found and "opens at 8" not in found, question


def test_an_earlier_question_alone_answers_nothing(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "Osprey is written in Go.")
    hear(clawmem, ("user", "What does the licence of Osprey cost?"), ("assistant", "I cannot know."))
    nothing = clawmem("recall", "How much is the licence of Osprey?")
    assert nothing.out == ""
    assert "Nothing says that." in nothing.err
    hear(clawmem, ("user", "And the licence of Curlew?"), ("assistant", "900 euros a year."))
    assert "900 euros" in clawmem("recall", "What is the licence of Curlew?").out


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_a_reply_in_other_words_comes_with_its_question(clawmem: Callable[..., Any]) -> None:
    hear(
        clawmem,
        ("assistant", "First: holidays. You close in August. Still so?"),
        ("user", "Yes, the whole month."),
        ("assistant", "Next: invoices. Your template says payment within 30 days. Is this right?"),
        ("user", "Make that a fortnight, the bank got stricter."),
        ("assistant", "Changed. Anything else?"),
        ("user", "The logo could be larger."),
    )
    clawmem("heartbeat")
    found = clawmem("recall", "How long do clients have to pay our invoices?").out.splitlines()
    assert "fortnight" in "".join(found[:2])


def test_a_word_of_the_question_finds_the_name_of_what_it_asks_for(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "The deadline of Heron is 12 December 2026.\nHeron has a red logo.")
    found = [fact["fact"] for fact in clawmem("recall", "when is Heron due?", "--json").data["facts"]]
    assert found[:1] == ["The deadline of Heron is 12 December 2026."]


def test_only_what_is_said_next_on_that_day_is_a_reply(clawmem: Callable[..., Any]) -> None:
    rows = [
        ("Ada", "2026-05-03T18:00:00Z", "Where is the boathouse key, does anybody have the boathouse key?"),
        ("Carl", "2026-06-21T09:00:00Z", "My sister married in Lisbon."),
        ("Ada", "2026-06-22T23:58:00Z", "Who has the spare key of the boathouse?"),
        ("Bob", "2026-06-22T23:59:00Z", "Under the third flowerpot."),
    ]
    lines = [{"role": "user", "speaker": name, "timestamp": at, "text": text} for name, at, text in rows]
    clawmem("ingest", "-", given="\n".join(map(json.dumps, lines)))
    found = clawmem("recall", "spare boathouse key").out
    assert "flowerpot" in found and "Lisbon" not in found
    assert "flowerpot" not in clawmem("recall", "spare boathouse key", "--until", "2026-06-21").out


def test_what_was_told_later_stands_behind_the_day_itself(clawmem: Callable[..., Any]) -> None:
    day = "2026-05-04T{:02}:00:00Z"
    rows = [(day.format(hour), f"Number {hour} of the garden list is done now.") for hour in range(1, 20)]
    rows += [
        (day.format(20), "Dinner at the Lotus was noodles and a plum cake with Ida and Tom."),
        ("2026-05-05T08:00:00Z", "Yesterday dinner was too late for me."),
    ]
    lines = [{"role": "user", "timestamp": at, "text": text, "session": at[:10]} for at, text in rows]
    clawmem("ingest", "-", given="\n".join(map(json.dumps, lines)))
    assert "noodles" in clawmem("recall", "what was for dinner on 4 May 2026").out.splitlines()[0]


@pytest.mark.usefixtures("without_vectors")
def test_a_note_of_a_session_is_found(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "The workshop opens at 8.")
    clawmem("session", "start", "--task", "parser")
    clawmem("session", "note", "The zeppelin grammar accepts decimals.")
    clawmem("heartbeat")
    assert "accepts decimals" in clawmem("recall", "zeppelin grammar").out


def test_another_ending_is_searched_without_a_word_about_it(clawmem: Callable[..., Any]) -> None:
    clawmem("remember", "Wir fliegen im Februar nach Porto.")
    clawmem("remember", "The summaries are short.")
    found = clawmem("recall", "What happens in february?")
    assert "Porto" in found.out
    assert "read as" not in found.err
    assert "read as" not in clawmem("recall", "submarine").err


def test_where_tasks_are_is_named_where_nothing_answers(clawmem: Callable[..., Any]) -> None:
    assert "`clawmem task list` shows tasks." in clawmem("recall", "which tasks remain?").err
    assert "task list" not in clawmem("recall", "which boats remain?").err
    clawmem("task", "add", "Write the migration guide")
    assert "Write the migration guide" in clawmem("recall", "which tasks remain?").out
