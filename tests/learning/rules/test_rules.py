"""Patterns read plain statements, requests and corrections, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.quality import shipped_catalog
from clawmem.learning.rules.language import CODES, language, language_of
from clawmem.learning.rules.rules import statements as extract
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.event import Event

CATALOG = shipped_catalog()
SAID = "2026-05-04T10:00:00Z"


def told(
    text: str, speaker: str | None = None, speakers: tuple[str, ...] = (), role: str = "user"
) -> list[Proposition]:
    return list(extract(Event("evt_1", SAID, role, text, speaker=speaker), CATALOG, speakers))


def statements(text: str) -> list[str]:
    return [proposition.statement for proposition in told(text)]


@pytest.mark.parametrize("code", CODES)
def test_the_examples_of_the_patterns(code: str) -> None:
    examples = {text: wanted for rule in language(code).rules for text, wanted in rule.examples.items()}
    assert {text: statements(text) for text in examples} == examples


@pytest.mark.parametrize("code", CODES)
def test_the_predicates_of_the_patterns_are_in_the_catalog(code: str) -> None:
    named = {rule.predicate for rule in language(code).rules} - {"{relation}"}
    assert (named | set(language(code).relations.values())) <= set(CATALOG.predicates)


@pytest.mark.parametrize(
    ("text", "code"),
    [("I live in Leeds.", "en"), ("Ich wohne in Bremen und arbeite dort.", "de"), ("", "en"), ("日本語", "en")],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language_of(text).code == code


REQUESTS = [
    (
        "please remember that my bike is in the north shed",
        "The user's bike is in the north shed.",
    ),
    (
        "Note: rollbacks need a sign-off from Petra.",
        "The user asked to remember: rollbacks need a sign-off from Petra.",
    ),
    ("Can you remember that I'm vegan?", "The user is vegan."),
    ("Remember that Petra says the build is green.", "The user asked to remember: Petra says the build is green."),
    ("til: sourdough needs a long rest", "The user learned: sourdough needs a long rest."),
    ("Always answer in German.", "The user wants this rule to be followed: always answer in German."),
    (
        "one thing you must remember: never push to main on a Friday",
        "The user wants this rule to be followed: never push to main on a Friday.",
    ),
    ("Important: never log tokens.", "The user wants this rule to be followed: never log tokens."),
    ("don't push without asking me", "The user wants this rule to be followed: don't push without asking the user."),
    (
        "Please stop apologising all the time.",
        "The user wants this rule to be followed: stop apologising all the time.",
    ),
    ("From now on, write the tests first.", "The user wants this rule to be followed: write the tests first."),
    (
        "Ask me before you delete anything.",
        "The user wants this rule to be followed: ask the user before you delete anything.",
    ),
    ("Antworte immer auf Deutsch.", 'The user wants this rule to be followed: "antworte immer auf Deutsch".'),
    ("forget that I live in Leeds", "The user asked to forget: the user lives in Leeds."),
    ("Please forget my phone number.", "The user asked to forget: the user's phone number."),
    ("No, it's Bergen, not Oslo.", "The user corrected 'Oslo' to 'Bergen'."),
    ("Not on 18 March any more, it is on 25 March.", "The user corrected '18 March' to '25 March'."),
]


@pytest.mark.parametrize(("text", "wanted"), REQUESTS)
def test_requests_orders_and_corrections(text: str, wanted: str) -> None:
    assert statements(text) == [wanted]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remember that she can't eat peanuts.", False),
        ("Please remember that on Mondays he can't come.", False),
        ("Remember: when they call, say yes.", False),
        ("Always ask him before you deploy.", False),
        ("From now on, answer her mails in French.", False),
        ("Bitte merk dir, dass sie keine Erdnüsse essen darf.", False),
        ("Merk dir, dass er montags nicht kann.", False),
        ("Merk dir: Ihre Nummer steht im Vertrag.", False),
        ("Remember that Ilkka's sister can't eat peanuts because she is allergic.", True),
        ("Remember that the team wants their standup at nine.", True),
        ("Never email customers before they reply.", True),
        ("Merk dir: Ilkka mag es nicht, wenn sie singen.", True),
        ("Frag mich immer, bevor du Dateien löschst, auch wenn sie leer wirken.", True),
    ],
)
def test_a_pronoun_for_somebody_whom_nothing_names_makes_no_fact(text: str, kept: bool) -> None:
    assert bool(statements(text)) is kept


@pytest.mark.parametrize("text", ["Merk dir, dass mein Sohn Leo heißt.", "Frag mich immer, bevor du etwas löschst."])
def test_what_is_not_put_in_the_third_person_stands_as_it_was_said(text: str) -> None:
    (says,) = statements(text)
    assert says.endswith(('"mein Sohn Leo heißt".', '"frag mich immer, bevor du etwas löschst".')), says


QUIET = [
    # questions, doubts, conditions, wishes, plans
    "Do I live in Leeds?",
    "I think I'm allergic to nuts.",
    "I'm allergic to nuts, I think.",
    "If I live in Leeds, I walk.",
    "I'd use pnpm.",
    "We could use pnpm.",
    "We plan to use pnpm.",
    "we will use pnpm",
    "I'm moving to Leeds in June.",
    "I live in Leeds until June.",
    "I used to live in Leeds.",
    "I almost moved to Leeds.",
    "Maybe I live in Leeds.",
    # other people's words, fiction, pastes
    "She said I'm allergic to nuts.",
    "I'm allergic to nuts, she says.",
    "Imagine I live on Mars.",
    '"I live in Leeds."',
    "> I live in Leeds",
    "In my story, I live in Paris.",
    "My boss wrote: I work at Shell and I hate it.",
    'Translate: "I live in Leeds. I have two kids."',
    "Example: I live in Leeds.",
    "Tom: I live in Leeds.",
    # what only looks like a statement, an order or a request
    "never mind",
    "Never heard of it!",
    "Always a pleasure.",
    "don't worry about it",
    "Please stop.",
    "stop doing that",
    "Don't include the intro here.",
    "From now on do that first.",
    "Never run this again please, it deleted my folder",
    "Ab jetzt mach das zuerst.",
    "Don't write code yet.",
    "remember to buy milk",
    "Do you remember that trip?",
    "Note that this only works on Linux.",
    "forget it",
    "It's hot, not cold.",
    "I moved to Neovim.",
    "The cache is stale.",
    "the build is broken",
    "My wife is German.",
    "my boss is toxic",
    "I work at night.",
    "I live in fear.",
    "call me later",
    "Just kidding, I live in Leeds.",
    "My name is",
    "I work at",
    "I'm allergic to",
    "We use",
    "The default branch is",
]


@pytest.mark.parametrize("text", QUIET)
def test_nothing_else_is_learned(text: str) -> None:
    assert statements(text) == []


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_people_are_read(role: str) -> None:
    assert told("I live in Leeds. Action item: renew the lease. I'll remind you.", role=role) == []


def test_what_is_said_among_people_is_no_order_and_no_project() -> None:
    people = ("Dana", "Lee")
    assert told("Always answer in German. We use pnpm.", "Dana", people) == []
    assert [proposition.statement for proposition in told("I live in Leeds.", "Dana", people)] == [
        "Dana lives in Leeds."
    ]


def test_a_statement_that_is_taken_back_in_the_same_message_is_none() -> None:
    assert statements("I live in Oslo. Scratch that, I live in Bergen.") == ["The user lives in Bergen."]
    assert statements("I'm vegetarian. Oh wait, scratch that.") == []


@pytest.mark.parametrize(
    ("text", "former", "value"),
    [
        ("we use pnpm, not npm", "npm", "pnpm"),
        ("We switched from Jest to Vitest.", "Jest", "Vitest"),
        ("Port is 9090, not 8080.", "8080", "9090"),
        ("Wir nutzen Poetry, nicht pip.", "pip", "Poetry"),
    ],
)
def test_what_was_replaced_is_named(text: str, former: str, value: str) -> None:
    assert [(proposition.former, proposition.object, proposition.ended) for proposition in told(text)] == [
        (former, value, False)
    ]


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I don't have a cat.", "pet", "a cat"),
        ("I no longer live in Leeds.", "lives_in", "Leeds"),
        ("I'm not allergic to nuts.", "allergic_to", "nuts"),
        ("we don't use Redux any more", "uses", "Redux"),
        ("Ich habe keine Katze.", "pet", "Katze"),
    ],
)
def test_a_denial_ends_what_it_denies(text: str, predicate: str, value: str) -> None:
    assert [(proposition.predicate, proposition.object, proposition.ended) for proposition in told(text)] == [
        (predicate, value, True)
    ]


def test_a_correction_is_marked() -> None:
    assert [proposition.corrects for proposition in told("No, I live in Bergen.")] == [True]
    assert [proposition.corrects for proposition in told("Sorry, that's wrong! I live in Bergen.")] == [True]
    assert [proposition.corrects for proposition in told("I live in Bergen.")] == [False]


def test_a_past_date_is_when_it_began_and_a_coming_one_is_none() -> None:
    assert [proposition.valid_from for proposition in told("In March I moved to Split.")] == ["2026-03-01"]
    assert [proposition.valid_from for proposition in told("I moved to Split yesterday.")] == ["2026-05-03"]
    assert told("I live in Split next month.") == []


@settings(max_examples=60)
@given(st.lists(st.sampled_from(
    "I we my the live in use not port is 9090 Leeds moved to from and , . ! ? : \" ' - remember that always no , it's"
    " allergic nuts wife Ana ich wohne nicht immer \n".split(" ")
), max_size=14))  # fmt: skip
def test_evidence_is_exact_and_statements_are_whole(words: list[str]) -> None:
    text = " ".join(words)
    for proposition in told(text):
        assert text[slice(*proposition.span)] == proposition.source_text != ""
        assert proposition.statement.split()[-1].rstrip(".").lower() not in language("en").function_words
