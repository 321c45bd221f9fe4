"""Facts of notes: which statement of a changed note takes the place of which."""

from __future__ import annotations

from clawmem.memory.facts.note_facts import mark_of, note_of, pairs_alike
from clawmem.model.facts.draft import draft_from_record
from tests.conftest import NOW


def test_the_most_similar_statements_are_pairs_and_each_is_in_one() -> None:
    olds = ["The rent is 900 euro.", "Mimi is a cat."]
    news = ["Ada rows on Sundays.", "The rent is 950 euro.", "The rent was 900 euro in May."]
    assert pairs_alike(olds, news) == {1: 0}
    assert pairs_alike([], news) == {}


def test_the_mark_of_a_note_tells_its_words_from_others() -> None:
    record = {"fact": "Mimi is a cat.", "metadata": mark_of("~/notes/Mimi.md", "Mimi is a cat.")}
    fact = draft_from_record(record, NOW).fact
    assert note_of(fact) == "~/notes/Mimi.md" and note_of(fact._replace(metadata=None)) == ""
    assert mark_of("~/notes/Mimi.md", "mimi is a  cat") == fact.metadata
    assert mark_of("~/notes/Mimi.md", "Mimi is a dog.") != fact.metadata
