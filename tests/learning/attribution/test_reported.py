"""What somebody else says of the sender is no fact of theirs, to the end of what depends on it."""

from __future__ import annotations

import pytest

from benchmarks.quality import shipped_catalog
from clawmem.learning.attribution.reported import reported_spans
from clawmem.learning.rules.rules import extract
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()


def told(text: str) -> list[str]:
    found = extract(Event("evt_1", "2026-11-22T10:00:00Z", "user", text), CATALOG, ())
    return [f"{one.predicate} {one.object}" for one in found]


FOREIGN = [
    'My aunt said "I live in Lima and I love the sea."',
    'My aunt said "I live in Lima and I love the sea.',
    "My aunt said 'I live in Lima and I love the sea.'",
    "My aunt said ‘I live in Lima and I don't like the sea.’",
    "Mi tía: «I live in Lima and I love the sea.»",
    '"I live in Lima and I love the sea," said my aunt.',
    "I live in Lima and I love the sea, said my aunt.",
    "I live in Lima, my aunt says, and I love the sea.",
    "I live in Lima and I love the sea, she said.",
    "My aunt keeps saying that I hate onions and I love garlic.",
    "My boss thinks I hate onions and I love garlic.",
    "Everybody in the office believes I hate onions and I love garlic.",
    "My aunt asked if I live in Lima and I love the sea.",
    "Her uncle told people I live in Lima and I work at NASA.",
    "My aunt's like, I hate onions and I love garlic.",
    "My aunt was all like I hate onions and I love garlic.",
    "My aunt: I hate onions and I love garlic.",
    "The plumber yesterday: I live in Lima. I love the sea.",
    "My aunt goes, I hate onions and I love garlic.",
    "My aunt told me, I live in Lima and I love the sea.",
    "I dreamt that I lived in Lima and I worked at NASA.",
    "Tell my boss that I live in Lima and I work at NASA.",
    "Suppose I live in Lima and I work at NASA.",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_nothing_is_learned_of_what_depends_on_anothers_word(text: str) -> None:
    assert told(text) == []


OWN = [
    ('My aunt said "I live in Lima and I love the sea" and I love onions.', ["likes onions"]),
    ("My boss thinks I hate onions, but I love garlic.", ["likes garlic"]),
    ("My aunt says I rest too little; I work at Equinor.", ["works_at Equinor"]),
    ("I live in Oslo and my aunt says that I hate onions and I love garlic.", ["lives_in Oslo"]),
    ("My aunt told me that Bergen is wet and I live in Oslo.", ["lives_in Oslo"]),
    ("My boss told me to stay and I live in Oslo.", ["lives_in Oslo"]),
    ("She said yes and I live in Oslo now.", ["lives_in Oslo"]),
    ("On second thought I live in Oslo and I work at Equinor.", ["works_at Equinor"]),
    ("I told my boss that I live in Oslo and I work at Equinor.", ["works_at Equinor"]),
    ("Remember that I hate onions and I love garlic.", ["dislikes onions", "likes garlic"]),
    ("Please note that I live in Oslo and I work at Equinor.", ["lives_in Oslo", "works_at Equinor"]),
    ("My family: I have two kids.", ["child two kids"]),
    ("My aunt: she lives in Lima. I live in Oslo.", ["lives_in Oslo"]),
    ("I live in Oslo, as you said.", ["lives_in Oslo"]),
    ('My screen is 27" wide and I live in Oslo.', ["lives_in Oslo"]),
    ('My favorite game is "Elden Ring 2".', ['favorite "Elden Ring 2"']),
]


@pytest.mark.parametrize(("text", "kept"), OWN)
def test_what_the_sender_says_beside_it_is_learned(text: str, kept: list[str]) -> None:
    assert told(text) == kept


def test_where_the_other_begins_and_ends() -> None:
    sentence = "My boss says I like maps, but I like charts."
    ((start, end),) = reported_spans(sentence)
    assert sentence[start:end] == "I like maps"
    assert reported_spans("I say I like maps.") == []
