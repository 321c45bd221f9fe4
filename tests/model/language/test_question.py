"""Questions taken apart: search words and the days they name."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.language.question import (
    STOPWORDS,
    DaySpan,
    asks,
    asks_for_home,
    asks_former,
    is_private,
    is_put_into_use,
    is_technical,
    kind_of_answer,
    names_subject,
    proper_names,
    search_words,
    tasks_asked,
    time_asked,
)

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)  # a Saturday


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where does Jane live?", ("jane", "live")),
        ("What is Jane's favourite tea?", ("jane", "favourite", "tea")),
        ("JANE jane Jane", ("jane",)),
        ("who is she", ("who", "is", "she")),
        ("What about the e-mail?", ("e", "mail")),
        ("don’t panic", ("panic",)),
        ("Whose lens is it I've got, and who'll want it?", ("lens", "want")),
        ("Zürich 2026", ("zürich", "2026")),
        ("snake_case", ("snake", "case")),
        ("", ()),
        ("?!… --", ()),
    ],
)
def test_the_words_worth_searching_for(question: str, words: tuple[str, ...]) -> None:
    assert search_words(question) == words


def test_what_is_joined_to_a_word_makes_no_name() -> None:
    assert proper_names("Is it here I've put it, or has O'Neill's dog?") == {"o'neill"}


@given(st.text(max_size=80))
def test_words_are_distinct_lower_case_and_of_the_question(question: str) -> None:
    words = search_words(question)
    assert len(set(words)) == len(words)
    assert all(word == word.lower() for word in words)
    if any(word not in STOPWORDS for word in words):
        assert not STOPWORDS & set(words)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What happened on 2026-03-04?", "2026-03-04", "2026-03-04"),
        ("plans for 2026-03", "2026-03-01", "2026-03-31"),
        ("on 4 March 2025", "2025-03-04", "2025-03-04"),
        ("on the 4th of March, 2025", "2025-03-04", "2025-03-04"),
        ("on March 4th, 2025", "2025-03-04", "2025-03-04"),
        ("on Sept 4, 2025", "2025-09-04", "2025-09-04"),
        ("in Sep 2025", "2025-09-01", "2025-09-30"),
        ("in December 2025", "2025-12-01", "2025-12-31"),
        ("in february 2024", "2024-02-01", "2024-02-29"),
        ("during 2024", "2024-01-01", "2024-12-31"),
        ("What did Jane do yesterday?", "2026-11-20", "2026-11-20"),
        ("today", "2026-11-21", "2026-11-21"),
        ("this week", "2026-11-16", "2026-11-22"),
        ("LAST WEEK", "2026-11-09", "2026-11-15"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("3 days ago", "2026-11-18", "2026-11-18"),
        ("two weeks ago", "2026-11-04", "2026-11-10"),
        ("a month ago", "2026-10-01", "2026-10-31"),
        ("in March", "2026-03-01", "2026-03-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("last november", "2025-11-01", "2025-11-30"),
        ("the day before yesterday", "2026-11-19", "2026-11-19"),
        ("What did Ada say last Friday?", "2026-11-20", "2026-11-20"),
        ("who came last weekend", "2026-11-14", "2026-11-15"),
        ("what did we decide seven days ago?", "2026-11-14", "2026-11-14"),
        ("a couple of weeks ago", "2026-11-04", "2026-11-10"),
        ("on Monday", "2026-11-16", "2026-11-16"),
        ("what are we doing on Friday?", "2026-11-27", "2026-11-27"),
        ("can I deploy on Friday?", "2026-11-27", "2026-11-27"),
        ("who is away on Monday?", "2026-11-23", "2026-11-23"),
        ("what is planned for Wednesday?", "2026-11-25", "2026-11-25"),
        ("what happens in January?", "2027-01-01", "2027-01-31"),
        ("which invoice have we paid on Friday?", "2026-11-20", "2026-11-20"),
        ("who came to lunch on Friday, do you know?", "2026-11-20", "2026-11-20"),
        ("what was planned for Wednesday?", "2026-11-18", "2026-11-18"),
        ("what have we decided on Friday?", "2026-11-20", "2026-11-20"),
        ("what happened on Saturday the 7th?", "2026-11-07", "2026-11-07"),
        ("what did I buy on Saturday the 7th of November?", "2026-11-07", "2026-11-07"),
        ("what did I buy on Fri 6 Nov?", "2026-11-06", "2026-11-06"),
        ("what was due by Tuesday, October 13?", "2026-10-13", "2026-10-13"),
        ("what did I note on the 30th", "2026-10-30", "2026-10-30"),
        ("Friday 13th in the garden", "2026-11-13", "2026-11-13"),
        ("What happened last night?", "2026-11-20", "2026-11-20"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("next week", "2026-11-23", "2026-11-29"),
        ("tomorrow", "2026-11-22", "2026-11-22"),
        ("two years ago", "2024-01-01", "2024-12-31"),
        ("on the first of March 2025", "2025-03-01", "2025-03-01"),
        ("the trip of July 2023", "2023-07-01", "2023-07-31"),
        ("yesterday, about the plan of 2026-03", "2026-03-01", "2026-03-31"),
    ],
)
def test_the_days_a_question_names(question: str, first: str, last: str) -> None:
    assert time_asked(question, NOW) == DaySpan(first, last)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Jane live?",
        "What may Jane eat?",
        "route 66",
        "who lives on the 7th floor",
        "on 2026-13-40",
        "on 31 February 2025",
        "99999999999 years ago",
        "9999 years ago",
        "december 9999",
        "this and that",
        "long ago",
        "",
    ],
)
def test_no_time_is_named(question: str) -> None:
    assert time_asked(question, NOW) is None


_PIECES = st.sampled_from(
    "in on last this week month year march may 2025 2025-02 31 0 ago days a three today yesterday 9999 jane".split()
)


@given(st.lists(_PIECES, max_size=8).map(" ".join) | st.text(max_size=60))
def test_any_question_gives_days_in_order_or_none(question: str) -> None:
    span = time_asked(question, NOW)
    assert span is None or date.fromisoformat(span.first) <= date.fromisoformat(span.last)


@given(st.text(max_size=60))
def test_the_shortcut_loses_no_time(question: str) -> None:
    from clawmem.model.language.date_words import days_named

    assert time_asked(question, NOW) == days_named(question, NOW.date())


def test_a_question_without_a_time_compiles_no_date_patterns() -> None:
    code = (
        "import sys; from datetime import datetime; from clawmem.model.language.question import time_asked\n"
        "time_asked('where does Jane live?', datetime.now()); print('clawmem.model.language.date_words' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "False\n"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Where does Ann live?", True),
        ("where does Ann live", True),
        ("Wann kommt Ann", True),
        ("is Ann vegan?", True),
        ("plan the dinner for Ann", False),
        ("copper kettle", False),
        ("", False),
    ],
)
def test_a_question_is_told_from_a_task_and_from_words(text: str, asked: bool) -> None:
    assert asks(text) is asked


def test_names_are_the_capitals_inside_an_english_question() -> None:
    assert proper_names("Which hospital did Tobias work in?") == {"tobias"}
    assert proper_names("When was the Grimma organ of Ann’s built?") == {"grimma", "ann"}
    assert proper_names("Wann wird die Orgel gebaut?") == frozenset()
    assert proper_names("What did I say?") == frozenset()


@given(st.text())
def test_names_are_words_of_the_question_in_lower_case(question: str) -> None:
    assert all(name in question.lower().replace("’", "'") for name in proper_names(question))


def test_the_subject_of_a_question_is_no_everyday_word_or_number() -> None:
    assert [word for word in ("describe", "kind", "2024", "year", "choir", "x") if names_subject(word)] == ["choir"]


def test_the_first_of_something_asks_for_what_held_before() -> None:
    assert asks_former("What was the first deadline?")
    assert asks_former("What was the date initially?")
    assert not asks_former("What is Ann's first name?")


@pytest.mark.parametrize(
    ("question", "answers", "others"),
    [
        ("What colour is the van?", ("The van is dark green.", "A grey van"), ("The van is in the yard.",)),
        ("Which color did Ann choose?", ("Ann chose navy.",), ("Ann had a drawing.",)),
        ("What is Ann's phone number?", ("Call 0341 55 012.",), ("Ann called at 8.", "Ann's number is on the list.")),
        (
            "How old is Ann?",
            ("Ann is 34.", "I turned forty", "Ann was born in May.", "an 8 years old girl"),
            ("24th is fine",),
        ),
        ("How many boats are there?", ("Three boats.", "There are 12.", "A few, no more"), ("Boats lie here.",)),
        (
            "How long has Ann known Ben?",
            ("For 12 years", "since May", "half an hour", "a few busy weeks", "until Easter"),
            ("28 each for Ann", "They pay 300"),
        ),
        ("How heavy is the boat?", ("23 kg a bag", "two tons"), ("5.2 m long",)),
        ("What is the weight of the boat?", ("It weighs 180 kilos.",), ("The weight limit",)),
        (
            "How much do we pay for the boat?",
            ("800 euros", "They pay 300 and a voucher", "61,200 of 88,000", "it is free"),
            ("four stops and a door of 78 cm", "at 10:30", "in 3 weeks"),
        ),
        ("Wie alt ist Ann?", ("Ann ist 34.", "die 5-jährige Ann"), ("Ann kommt am 5. Mai",)),
    ],
)
def test_an_answer_has_what_the_question_asks_for(
    question: str, answers: tuple[str, ...], others: tuple[str, ...]
) -> None:
    kind = kind_of_answer(question)
    assert kind is not None
    assert all(kind.search(text) for text in answers)
    assert not any(kind.search(text) for text in others)


def test_a_time_is_no_name() -> None:
    assert proper_names("Where is Ann in March, at Christmas or on Monday?") == {"ann"}


@pytest.mark.parametrize("question", ["Who is Ann?", "How does Ann bake?", "Where is my phone?", "", "blue?"])
def test_other_questions_ask_for_no_kind(question: str) -> None:
    assert kind_of_answer(question) is None


@given(st.integers(0, 10**6))
def test_any_number_answers_how_many(number: int) -> None:
    kind = kind_of_answer("How many are there?")
    assert kind is not None
    assert kind.search(f"There were {number} of them.")


@pytest.mark.parametrize(
    "task",
    [
        "fix the failing test of the parser",
        "why does load_items() raise?",
        "look at src/app.ts",
        "the pipeline fails, debug it",
        "rename getName in the API",
        "write a migration for the database",
    ],
)
def test_a_task_about_software_is_technical(task: str) -> None:
    assert is_technical(task)


@pytest.mark.parametrize(
    "task", ["plan the dinner", "When did Melanie paint a sunrise?", "book a table for Leo's birthday", "go on", ""]
)
def test_other_tasks_are_not(task: str) -> None:
    assert not is_technical(task)


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("My wife Anna likes tea", True),
        ("Leo is allergic to peanuts", True),
        ("Grandma lives in Graz", True),
        ("Run the linter before each commit", False),
        ("The parent class is in base.py", False),
        ("The son-in-law visits", True),
    ],
)
def test_family_and_health_are_private(text: str, private: bool) -> None:
    assert is_private(text) is private


@pytest.mark.parametrize(
    ("question", "whose"),
    [
        ("What is open?", ""),
        ("what's left to do", ""),
        ("What is still open with Ife Ada?", "ife ada"),
        ("What should I work on next?", ""),
        ("What must Ben do today?", "ben"),
        ("what does ada have to do?", "ada"),
        ("Which tasks are still open?", ""),
        ("my open tasks", ""),
        ("tasks of ada", "ada"),
        ("What does Ada do?", None),
        ("What is open on Sundays?", None),
        ("What should I do about the leak?", None),
        ("Which tasks did Ada finish in May?", None),
        ("What is the task of the pilot?", None),
    ],
)
def test_whose_open_tasks_a_question_asks_for(question: str, whose: str | None) -> None:
    assert tasks_asked(question) == whose


@pytest.mark.parametrize(
    ("text", "in_use"),
    [
        ("The pilot must be live by 13 November.", True),
        ("We go live in May.", True),
        ("The shop is live since May.", True),
        ("Jane lives in Turku, and the shop must be live in May.", False),
        ("I live by the sea.", False),
        ("The shop is live at shop.example.", False),
        ("Tom moved to Oslo.", False),
    ],
)
def test_what_is_put_into_use_lives_nowhere(text: str, in_use: bool) -> None:
    assert is_put_into_use(text) is in_use


@pytest.mark.parametrize(
    ("question", "home"),
    [
        ("Where do I live?", True),
        ("where does Jane live now", True),
        ("When must it be live?", False),
        ("Where?", False),
    ],
)
def test_where_somebody_lives_is_asked_for(question: str, home: bool) -> None:
    assert asks_for_home(question) is home
