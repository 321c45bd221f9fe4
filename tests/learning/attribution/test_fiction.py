"""What belongs to a story, a play or a writing task is not the sender's truth; what they say beside it is."""

from __future__ import annotations

import pytest

from benchmarks.quality import shipped_catalog
from clawmem.learning.attribution.fiction import announces_fiction, fiction_end, fiction_start
from clawmem.learning.rules.rules import statements as extract
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()


def told(text: str) -> list[str]:
    found = extract(Event("evt_1", "2026-11-22T10:00:00Z", "user", text), CATALOG, ())
    return [f"{proposition.predicate} {proposition.object}" for proposition in found]


MADE_UP = [
    # somebody is played
    "My character is named Brunhild. I am a level 3 bard and I live in a cave.",
    "Our main character's name is Brunhild. I live in a cave.\n\nI work at a forge.",
    "Act as a troll: I live in the Dovre mountains.",
    "Let's role-play. I'm a bard and I live in a cave.",
    "Roleplay: I'm a bard and I live in a cave.",
    "Pretend I'm a bard. I live in a cave.",
    "Let's imagine I live in Lima. I work at NASA.",
    # a text is shown
    "Here's my new fantasy novel. I live in Avalon. I work at a forge.",
    "Check out my latest poem.\nI live in Avalon\nI love the fog",
    "Continue the story. I live in Avalon and I work at a forge.",
    "Once upon a time I lived in Avalon. I work at a forge.",
    "Backstory: I was born in Avalon and I live in a cave.",
    "Character sheet\nRace: elf\nI live in a cave.",
    "In my novel, I live in Avalon and I work at a forge.",
    "Last night in my dream I lived in Avalon and I worked at a forge.",
    "Write a short tale in the first person. I live in Avalon and I love the fog.",
    # a text is to be written
    "Write a motivation letter: I live in Lima and I work at NASA.",
    "Draft a bio for me: I am a baker who lives in Lima and works at NASA.",
    "Help me polish my CV: I am a baker and I live in Lima.",
    "Finish this: I live in an old",
    "Please compose a song in which I live in Lima and I love pelicans.",
    "Write an e-mail to my landlord saying that I live in Lima and I work nights at NASA.",
    "Write a fable about a fox. I live in a den, he says.",
]


@pytest.mark.parametrize("text", MADE_UP)
def test_nothing_made_up_is_learned(text: str) -> None:
    assert told(text) == []


TRUE = [
    ("I'm writing a story about my move to Oslo. I live in Oslo now.", ["lives_in Oslo"]),
    ("My favorite character is Gimli. I live in Oslo.", ["favorite Gimli", "lives_in Oslo"]),
    ("Act as a dietician. I'm vegan.", ["diet vegan"]),
    ("Act as a dietician: I'm vegan, what should I eat?", ["diet vegan"]),
    ("Imagine you are a chef. I'm vegan and I live in Oslo.", ["diet vegan", "lives_in Oslo"]),
    ("Write a poem for my wife. We live in Oslo and I love hiking.", ["lives_in Oslo"]),
    ("Write me a bio. I am a nurse and I live in Oslo.", ["job nurse", "lives_in Oslo"]),
    ("Write a cover letter for me. I work at Equinor.", ["works_at Equinor"]),
    ("To finish: I live in Oslo.", ["lives_in Oslo"]),
    ("Assume I know nothing. I live in Oslo.", ["lives_in Oslo"]),
    ("My character is a bard. I live in a cave. By the way, I live in Oslo.", ["lives_in Oslo"]),
    ("Let's role-play. I live in a cave.\n\nOut of character: I live in Oslo.", ["lives_in Oslo"]),
    ("Proofread this:\n\nI live in Lima.\n\nCan you improve it? I live in Oslo.", ["lives_in Oslo"]),
    ("In my novel, I live in Avalon. I live in Oslo.", ["lives_in Oslo"]),
]


@pytest.mark.parametrize(("text", "kept"), TRUE)
def test_the_truth_beside_it_is_learned(text: str, kept: list[str]) -> None:
    assert told(text) == kept


def test_the_places() -> None:
    assert announces_fiction("Here is my short story")
    assert not announces_fiction("Here is my address")
    within = "Write a song in which I fly"
    assert fiction_start(within) == within.index("I fly")
    assert fiction_start("Write a song because I fly") is None
    text = "I live in a cave. In real life, I rest."
    assert fiction_end(text, 0, len(text)) == text.index("In real")
    assert fiction_end("I live in a cave.", 0, 17) == 17
