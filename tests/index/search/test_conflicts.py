"""Words of a question that differ in one letter from a word of the memory."""

from __future__ import annotations

import pytest

from tests.conftest import Command

TEXTS = (
    "Jonathan Whitfield plays the accordion.",
    "The greenhouse needs new panes.",
    "A planet is on the poster.",
    "Priya's birthday is on 4 May.",
)


@pytest.fixture
def stored(clawmem: Command) -> Command:
    for text in TEXTS:
        clawmem("remember", text)
    return clawmem


@pytest.mark.parametrize("engine", ["fts5", "whoosh"])
@pytest.mark.parametrize(
    ("question", "text", "read_as"),
    [
        ("acordion", TEXTS[0], "no text has 'acordion', read as 'accordion'"),
        ("Who is Whitfeild?", TEXTS[0], "no text has 'whitfeild', read as 'whitfield'"),
        ("greenhuose", TEXTS[1], "no text has 'greenhuose', read as 'greenhouse'"),
        ("When was pirya born?", TEXTS[3], "no text has 'pirya', read as 'priya'"),
        ("the birthdy", TEXTS[3], "no text has 'birthdy', read as 'birthday'"),
        ("accord", TEXTS[0], "no text has 'accord', read as 'accordion'"),
    ],
)
def test_a_slip_of_one_letter_finds(stored: Command, engine: str, question: str, text: str, read_as: str) -> None:
    stored("config", "set", "index.keyword", engine)
    answer = stored("recall", question, "--json")
    assert [fact["fact"] for fact in answer.data["facts"]][:1] == [text]
    assert read_as in answer.json["notices"]
    context = stored("context", question, "--budget", "200").out
    assert text in context
    assert read_as in context


@pytest.mark.parametrize("question", ["Where is the plane?", "Who is Whetfold?", "What about the accordion?"])
def test_other_words_are_read_as_they_are(stored: Command, question: str) -> None:
    assert not [notice for notice in stored("recall", question, "--json").json["notices"] if "read as" in notice]
