"""Whose words a message holds: another's teach nothing about its sender, and the sender's own are still read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.quality import shipped_catalog
from clawmem.learning.attribution.quoted import (
    announces_fiction,
    fiction_end,
    fiction_start,
    is_by_sender,
    own_sentences,
    quotations,
    unclear_author_signs,
    unclosed_quotations,
)
from clawmem.learning.attribution.sentences import sentences
from clawmem.learning.rules.rules import statements as extract
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()


def told(text: str) -> list[str]:
    found = extract(Event("evt_1", "2026-11-22T10:00:00Z", "user", text), CATALOG, ())
    return [f"{proposition.predicate} {proposition.object}" for proposition in found]


FOREIGN = [
    # a text to work on, after a colon
    "Translate this into French: I live in Madrid.",
    "Please proofread my letter: Dear Sir, I am a doctor from Kenya. I live in Nairobi.",
    "Please rephrase the following paragraph:\n\nI live in Madrid. I work at NASA.\n\nI am a nurse.",
    "Rewrite in a formal tone:\nI live in Madrid.",
    "Correct my grammar: I am a doctor and I live in Nairobi.",
    "I need to translate this: I live in Madrid.",
    "make this sound more professional: i live in madrid and i love dogs",
    "Repeat after me: I love cats.",
    "Say: I live in Madrid.",
    "Here is an example sentence: I work at NASA.",
    "Test sentence: I live in Madrid.",
    "Write a poem: I live on a ship. I love the sea.",
    "Write a story from the perspective of a pirate: I live on a ship.",
    "Draft an email to my landlord: I moved to Bergen in May.",
    "The lyrics: I was born in the USA.",
    "Can you write a song about a sailor? Something like: I live on a ship.",
    # or without one
    "Translate to Norwegian\nI live in Madrid.",
    "Translate to Norwegian - I live in Madrid.",
    "Can you translate this? I live in Madrid.",
    "What does this sentence mean? I live in Madrid.",
    "Please turn the following into a haiku. I live in Madrid. I love rain.",
    "I live in Madrid. How do I say that in French?",
    "I has lived in Oslo since two years. Is this sentence correct?",
    # the speech of another
    "Tom told me: I am allergic to nuts.",
    "My boss said: I live in a castle. I have two dogs.",
    "Tom said, I live in Madrid.",
    "She texted me: we moved to Madrid.",
    "My wife wrote:\n\nI live in Madrid.\n\nI work at NASA.",
    "Marie keeps telling me: we live in Paris.",
    "According to Tom: I live in Madrid.",
    "I asked the doctor and she says: I live in Madrid.",
    "I told Tom a lot and he replied: I live in Madrid.",
    "She forgot to say: I live in Madrid.",
    "I'd like you to say: I live in Madrid.",
    "What would I say: I live in Madrid.",
    "Can I say: I live in Madrid.",
    "Tom's answer: I live in Madrid.",
    "You said: I live in Madrid.",
    "Question from a reader: I am allergic to cats.",
    "The song goes: I was born in Madrid.",
    'Tom said: "Hello. I live in Madrid. I am a nurse."',
    'In the film he goes "I am a doctor. I live in Rome."',
    # pasted mails and chats, and code
    "Tom: I am allergic to nuts.",
    "Tom: I'm allergic to nuts.\nAda: I live in Madrid.\nTom: I work at NASA.",
    "[10:32] Bob Hale: I live in Madrid.",
    "From: Tom\nTo: Mia\nSubject: hi\n\nI live in Madrid.",
    "On Mon, Nov 2, 2026 at 10:00, Tom Hale <t@x.example> wrote:\nI live in Madrid.",
    "```\nI live in Madrid.\n```",
    '"""\nI live in Madrid.\n"""\nTranslate this, please.',
    "I live in Madrid.\n\nTranslate this, please.",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_the_words_of_others_say_nothing_about_the_sender(text: str) -> None:
    assert told(text) == []


OWN = [
    ("Remember this: I live in Oslo.", ["lives_in Oslo"]),
    ("Please note: I'm vegan.", ["diet vegan"]),
    ("Let me rephrase: I live in Bergen now.", ["lives_in Bergen"]),
    ("Update: I moved to Bergen.", ["lives_in Bergen"]),
    ("To summarise: I moved to Bergen.", ["lives_in Bergen"]),
    ("About me: I live in Oslo and I work at Equinor.", ["lives_in Oslo", "works_at Equinor"]),
    ("Background: I am a nurse.", ["job nurse"]),
    ("Dear Assistant: I live in Oslo.", ["lives_in Oslo"]),
    ("Quick update from me: I moved to Bergen.", ["lives_in Bergen"]),
    ("Work: I work at Equinor. Home: I live in Oslo.", ["works_at Equinor", "lives_in Oslo"]),
    ("Two things: I live in Oslo and I'm allergic to nuts.", ["lives_in Oslo", "allergic_to nuts"]),
    ("The letter arrived today: I got a new job at Equinor.", ["works_at Equinor"]),
    ("I sent him a message: I moved to Bergen.", ["lives_in Bergen"]),
    ("I live in Oslo. It's hard to go through something like that.", ["lives_in Oslo"]),
    ("I live in Oslo. Can you translate my letter into French tomorrow?", ["lives_in Oslo"]),
    ("Always proofread my emails.\nI live in Oslo.", ["lives_in Oslo"]),
    ('I call my boat "My little tiger" and I live in Oslo.', ["lives_in Oslo"]),
    ("Act as a dietician. I'm vegan.", ["diet vegan"]),
    ('Translate: "I live in Madrid." Also, I moved to Bergen.', ["lives_in Bergen"]),
    ('Summarise this mail:\n"I live in Madrid. I work at NASA."\nBy the way, I moved to Bergen.', ["lives_in Bergen"]),
    ("My boss said: I live in a castle.\nI live in Oslo.", ["lives_in Oslo"]),
    ("Tom: where do you live?\nMe: I live in Oslo.\nTom: I live in Madrid.", ["lives_in Oslo"]),
    ("> I live in Madrid.\nI live in Oslo.", ["lives_in Oslo"]),
]


@pytest.mark.parametrize(("text", "kept"), OWN)
def test_the_sender_is_still_heard(text: str, kept: list[str]) -> None:
    assert told(text) == kept


@settings(max_examples=60)
@given(st.text(alphabet='aI :."\n-TM,?`', max_size=80))
def test_what_is_own_is_always_a_part_of_the_sentences(text: str) -> None:
    whole = [(sentence.start, sentence.end) for sentence in sentences(text)]
    for piece in own_sentences(text):
        assert text[piece.start : piece.end] == piece.text
        assert any(start <= piece.start and piece.end <= end for start, end in whole)


def test_a_very_long_message_is_read_in_time() -> None:
    text = 'Tom: he said "I am: a: b" this - that\nAda: so: I - "\n' * 4000
    assert list(own_sentences(text)) == []


@pytest.mark.parametrize(
    "head",
    [
        "Forgot to say:",
        "Hi again, forgot to say:",
        "p.s. forgot to say:",
        "Oh and I forgot to mention:",
        "wanted to say:",
        "I meant to add:",
        "I'd say:",
        "Quick update, as I always say:",
        "I must say:",
        "My family:",
    ],
)
def test_a_remark_of_the_sender_introduces_their_own_words(head: str) -> None:
    text = f"{head} I live in Madrid."
    assert is_by_sender(text, len(head) + 1, len(text))


@pytest.mark.parametrize("head", ["I asked the doctor and she says:", "I told Tom a lot and then Tom replied:"])
def test_another_person_speaks_after_the_sender_did(head: str) -> None:
    text = f"{head} I live in Madrid."
    assert not is_by_sender(text, len(head) + 1, len(text))


@pytest.mark.parametrize(("words", "clear"), [("I live in Madrid.", False), ('"I live in Madrid."', True)])
def test_what_stands_below_another_s_words_is_clear_if_these_have_a_closing_mark(words: str, clear: bool) -> None:
    text = f"Tom wrote: {words}\n\nI live in Oslo, and I work there, too."
    assert (unclear_author_signs(text) == []) is clear


QUOTED = [
    ('He said "hello there" twice.', ['"hello there"']),
    ("He said “hello there” twice.", ["“hello there”"]),
    ("Er sagte „guten Tag“ und «bonjour».", ["„guten Tag“", "«bonjour»"]),
    ("She said 'It isn't mine' to Tom's friends.", ["'It isn't mine'"]),
    ("It isn't Tom's, it's the dogs' bowl.", []),
    ('A 27" screen and a 32" one', []),
]


@pytest.mark.parametrize(("text", "found"), QUOTED)
def test_quotations(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in quotations(text)] == found


def test_what_is_never_closed_goes_to_the_end_of_its_line() -> None:
    text = 'One "two" three\nHe said "four five\nsix "seven'
    assert [text[start:end] for start, end in unclosed_quotations(text)] == ['"four five', '"seven']


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
