"""Clauses put so that they begin with what they are about."""

from __future__ import annotations

import pytest

from clawmem.learning.english.sentences import TextSpan
from clawmem.learning.rules.antecedents import object_first, with_antecedent


def last(text: str) -> TextSpan:
    start = text.rindex(". ") + 2
    return TextSpan(text[start:], start, len(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My aunt Vera moved. She is a vet", "My aunt Vera is a vet"),
        ("My aunt Vera moved. She's a vet", "My aunt Vera is a vet"),
        ("My aunt Vera moved. She's been ill", "My aunt Vera has been ill"),
        ("My aunt Vera moved. He is a vet", "He is a vet"),
        ("My aunt Vera met my uncle. She is a vet", "She is a vet"),
        ("It rained. She is a vet", "She is a vet"),
        ("My aunt Vera moved. I am a vet", "I am a vet"),
    ],
)
def test_a_pronoun_is_put_in_words_where_one_person_fits(text: str, expected: str) -> None:
    piece = last(text)
    told = with_antecedent(piece, text)
    assert told.text == expected
    assert (told.start, told.end) == (piece.start, piece.end)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We moved the launch to 3 June", "The launch was moved to 3 June"),
        ("The deadline slipped to 3 June", "The deadline was moved to 3 June"),
        ("My dentist appointment got moved to Friday", "My dentist appointment was moved to Friday"),
        ("The standup has been moved to 10:00", "The standup was moved to 10:00"),
        ("My sister moved to Leeds", "My sister moved to Leeds"),
        ("Our team moved to Berlin in 2019", "Our team moved to Berlin in 2019"),
        ("Sara is my new manager", "My new manager is Sara"),
        ("Tom is my husband", "My husband is Tom"),
        ("She is my sister", "She is my sister"),
        ("Sara is my manager's wife", "Sara is my manager's wife"),
        ("Paris is my favorite city", "Paris is my favorite city"),
        ("I've postponed our standup to Monday", "Our standup was postponed to Monday"),
        ("I moved the sofa to the attic", "I moved the sofa to the attic"),
        ("I moved the meeting to Braga", "I moved the meeting to Braga"),
    ],
)
def test_what_was_moved_comes_first(text: str, expected: str) -> None:
    assert object_first(TextSpan(text, 0, len(text))).text == expected
