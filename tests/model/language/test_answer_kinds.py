"""What a text must have to answer some kinds of questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.language.question import kind_of_answer


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


@pytest.mark.parametrize("question", ["Who is Ann?", "How does Ann bake?", "Where is my phone?", "", "blue?"])
def test_other_questions_ask_for_no_kind(question: str) -> None:
    assert kind_of_answer(question) is None


@given(st.integers(0, 10**6))
def test_any_number_answers_how_many(number: int) -> None:
    kind = kind_of_answer("How many are there?")
    assert kind is not None
    assert kind.search(f"There were {number} of them.")
