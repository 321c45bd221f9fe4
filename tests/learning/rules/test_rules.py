"""Extraction by rules, on dialogue made up for these tests."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.learning.rules.rules import extract
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import Event

CATALOG: Catalog = catalog_from_mapping(
    yaml.safe_load((Path(__file__).parents[3] / "vault-template" / "predicates.yaml").read_text(encoding="utf-8"))
)
SAID = "2024-05-15T10:00:00Z"  # a Wednesday
PEOPLE = ("Dana", "Lee")


def told(text: str, role: str = "user", speaker: str | None = "Dana") -> tuple[Proposition, ...]:
    speakers = PEOPLE if speaker in PEOPLE else ()
    return extract(Event("ev_1", SAID, role, text, speaker=speaker), CATALOG, speakers)


def statements(text: str, role: str = "user", speaker: str | None = "Dana") -> list[str]:
    return [proposition.statement for proposition in told(text, role, speaker)]


AMONG_PEOPLE = [
    ("I'm a nurse at the county hospital.", ["Dana is a nurse at the county hospital."]),
    ("My name is Dana Whitfield.", ["Dana's name is Dana Whitfield."]),
    ("I'm 34 years old.", ["Dana is 34 years old."]),
    ("I turned 40 last week!", ["Dana turned 40 (the week before 2024-05-15)."]),
    ("My birthday is on March 9.", ["Dana's birthday is on March 9."]),
    ("I live in Leeds.", ["Dana lives in Leeds."]),
    ("I live in Leeds with my two brothers.", ["Dana lives in Leeds.", "Dana lives with their two brothers."]),
    ("I'm originally from Sweden.", ["Dana is originally from Sweden."]),
    ("I grew up in Ohio.", ["Dana grew up in Ohio."]),
    ("I was born in Nairobi.", ["Dana was born in Nairobi."]),
    ("I work at Corvid Labs.", ["Dana works at Corvid Labs."]),
    ("i live in leeds and i work at Corvid Labs", ["Dana lives in leeds.", "Dana works at Corvid Labs."]),
    ("as i said, im allergic to bee stings", ["Dana is allergic to bee stings."]),
    ("for i in range(10): print(i)", []),
    ("My dad has Parkinson's.", ["Dana's dad has Parkinson's."]),
    ("I'm on Pacific time.", ["Dana is on Pacific time."]),
    ("I'm on time.", []),
    ("I've taken up pottery.", ["Dana has taken up pottery."]),
    ("I've taken up too much of your time.", []),
    ("I rent a one-bed in York.", ["Dana rents a one-bed in York."]),
    ("My parents still live in Leeds.", ["Dana's parents live in Leeds."]),
    ("My two kids love football.", ["Dana's two kids love football."]),
    ("My blood type is O negative.", ["Dana's blood type is O negative."]),
    ("My car is a 2019 Toyota Corolla.", ["Dana's car is a 2019 Toyota Corolla."]),
    ("My car is broken again.", []),
    ("My weight is a problem.", []),
    ("My friends think I'm crazy.", []),
    ("I work at a mine.", ["Dana works at a mine."]),
    ("My birthday is on a Friday this year.", ["Dana's birthday is on a Friday (2024)."]),
    ("I live in Leeds, my brother lives in York.", ["Dana lives in Leeds.", "Dana's brother lives in York."]),
    ("I live in Leeds, England.", ["Dana lives in Leeds, England."]),
    ("I went to Leeds, Lee.", ["Dana went to Leeds."]),
    ("I work as a carpenter.", ["Dana works as a carpenter."]),
    ("I've been a welder for twelve years.", ["Dana has been a welder for twelve years."]),
    ("I have three kids.", ["Dana has three kids."]),
    ("My husband works at a brewery.", ["Dana's husband works at a brewery."]),
    ("My sister Ana lives in Porto.", ["Ana is Dana's sister.", "Dana's sister Ana lives in Porto."]),
    ("My dog's name is Waffles.", ["Dana's dog's name is Waffles."]),
    ("I have two cats named Pixel and Byte.", ["Dana has two cats named Pixel and Byte."]),
    ("We adopted a puppy named Biscuit last Saturday!", ["Dana's family adopted a puppy named Biscuit (2024-05-11)."]),
    ("I'm allergic to shellfish.", ["Dana is allergic to shellfish."]),
    ("I was diagnosed with asthma in 2019.", ["Dana was diagnosed with asthma in 2019."]),
    ("I'm vegetarian.", ["Dana is vegetarian."]),
    ("I don't eat meat anymore.", ["Dana does not eat meat anymore."]),
    ("I can't stand olives.", ["Dana cannot stand olives."]),
    ("I love hiking in the hills.", ["Dana loves hiking in the hills."]),
    ("I prefer tea over coffee.", ["Dana prefers tea over coffee."]),
    ("I hate flying.", ["Dana hates flying."]),
    ("My favorite color is teal.", ["Dana's favorite color is teal."]),
    ("I'm a big fan of jazz.", ["Dana is a big fan of jazz."]),
    ("I'm passionate about urban gardening.", ["Dana is passionate about urban gardening."]),
    ("I'm scared of heights.", ["Dana is scared of heights."]),
    ("I play the cello.", ["Dana plays the cello."]),
    ("I collect old maps.", ["Dana collects old maps."]),
    ("I speak Portuguese and a bit of German.", ["Dana speaks Portuguese and a bit of German."]),
    ("I'm fluent in Dutch.", ["Dana is fluent in Dutch."]),
    ("I'm learning Korean.", ["Dana is learning Korean."]),
    ("I graduated from Lund in 2015.", ["Dana graduated from Lund in 2015."]),
    ("I drive a Subaru.", ["Dana drives a Subaru."]),
    ("I own a small bakery.", ["Dana owns a small bakery."]),
    ("I usually run every morning before work.", ["Dana usually runs every morning before work."]),
    ("I just signed up for a pottery class yesterday.", ["Dana signed up for a pottery class (2024-05-14)."]),
    ("Just got back from a trip to Oslo yesterday, it was fun!", ["Dana got back from a trip to Oslo (2024-05-14)."]),
    ("I bought a red kayak two weeks ago.", ["Dana bought a red kayak (2 weeks before 2024-05-15)."]),
    ("I got promoted to team lead!", ["Dana got promoted to team lead."]),
    ("I got married last month!", ["Dana got married (April 2024)."]),
    ("I finished my thesis on Friday.", ["Dana finished their thesis (2024-05-10)."]),
    ("I ran my first marathon last weekend.", ["Dana ran their first marathon (the weekend before 2024-05-15)."]),
    ("I won the chess tournament at our club.", ["Dana won the chess tournament at their club."]),
    ("I moved to Lisbon in March.", ["Dana moved to Lisbon in March 2024."]),
    ("In 2018, we bought a house in Leeds.", ["In 2018, Dana's family bought a house in Leeds."]),
    ("After the accident, I sold my motorcycle.", ["After the accident, Dana sold their motorcycle."]),
    ("Last week, I had a dentist appointment.", ["Dana had a dentist appointment (the week before 2024-05-15)."]),
    ("I have a job interview next Tuesday.", ["Dana has a job interview (2024-05-21)."]),
    ("I'm going to Japan next month.", ["Dana is going to Japan (June 2024)."]),
    ("I plan to return on July 20.", ["Dana plans to return on July 20, 2024."]),
    (
        "We're planning a big family reunion next summer.",
        ["Dana's family is planning a big family reunion (summer 2024)."],
    ),
    ("I want to become a park ranger.", ["Dana wants to become a park ranger."]),
    ("I'm saving up for a camper van.", ["Dana is saving up for a camper van."]),
    ("I'm training for a triathlon.", ["Dana is training for a triathlon."]),
    ("I'm writing a novel about lighthouses.", ["Dana is writing a novel about lighthouses."]),
    (
        "I decided to leave the choir because of the commute.",
        ["Dana decided to leave the choir because of the commute."],
    ),
    ("I learned that sourdough needs a long rest.", ["Dana learned that sourdough needs a long rest."]),
    ("I no longer work at Corvid Labs.", ["Dana no longer works at Corvid Labs."]),
    ("I quit my job at Corvid Labs last month.", ["Dana quit their job at Corvid Labs (April 2024)."]),
    ("I used to play drums when I was younger.", ["Dana used to play drums when they were younger."]),
    ("My mom passed away last year.", ["Dana's mom passed away (2023)."]),
    ("I lost my job last month.", ["Dana lost their job (April 2024)."]),
    ("We've been married for nine years.", ["Dana and partner have been married for nine years."]),
    ("I volunteer at the animal shelter.", ["Dana volunteers at the animal shelter."]),
    ("I joined a climbing gym.", ["Dana joined a climbing gym."]),
    ("Hey Lee! I started a welding course.", ["Dana started a welding course."]),
    ("Thanks, Lee! I also teach Spanish.", ["Dana teaches Spanish."]),
    ("I visited the Prado with my aunt yesterday.", ["Dana visited the Prado with their aunt (2024-05-14)."]),
    ("We hiked up Ben Nevis last Sunday, it was breathtaking.", ["Dana and others hiked up Ben Nevis (2024-05-12)."]),
    ("Tom works at Ravensburger.", ["Tom works at Ravensburger."]),
    ("I'm learning Basque, and I moved to Bilbao.", ["Dana is learning Basque.", "Dana moved to Bilbao."]),
    ("I took this amazing sculpture class last spring.", ["Dana took an amazing sculpture class (spring 2023)."]),
    ("I've always wanted to learn sign language.", ["Dana has always wanted to learn sign language."]),
    ("My son broke his arm yesterday.", ["Dana's son broke his arm (2024-05-14)."]),
    ("Note to self: never book the early ferry.", ["Dana learned: never book the early ferry."]),
]

PASSING = [
    "Hey Lee! Good to see you!",
    "How have you been?",
    "Thanks so much, that means a lot to me.",
    "Wow, that's awesome!",
    "Congrats on the new job!",
    "You're such a good friend.",
    "I'm tired.",
    "I'm so swamped today.",
    "I'm really excited!",
    "I'm proud of you.",
    "I can't wait to see it.",
    "I love it!",
    "I love that idea.",
    "I love how you did the colors.",
    "I agree.",
    "I think so too.",
    "I hope you feel better soon.",
    "I wish I had a boat.",
    "If I had a dog, I'd name it Rex.",
    "Maybe I'll try it someday.",
    "I might move to Rome.",
    "I could eat a horse.",
    "Never give up on your dreams!",
    "Always be yourself.",
    "Remember that you're loved.",
    "Believe in yourself, Lee.",
    "It was so much fun.",
    "That must have been tough.",
    "He said \"I hate my job\" and left.",
    "Yeah right, I love Mondays.",
    "I'm off to bed.",
    "I'm good, thanks!",
    "I'm doing okay.",
    "I had a great time.",
    "I had a blast at the party.",
    "We had so much fun!",
    "I know what you mean.",
    "I see.",
    "I get it.",
    "I did it!",
    "I made it!",
    "I bought it yesterday.",
    "I took them there.",
    "This one is my favorite.",
    "I painted this last week.",
    "I want to hear all about it!",
    "I want to say thank you.",
    "I need a nap.",
    "I need some coffee.",
    "I'll let you know.",
    "I'll keep that in mind.",
    "I'll do my best.",
    "Let's catch up soon!",
    "Take care!",
    "Bye, talk to you later!",
    "What do you do for a living?",
    "Do you have any pets?",
    "Have you ever been to Spain?",
    "Nature is so beautiful.",
    "Family is everything.",
    "It's important to take care of yourself.",
    "Life throws surprises at us.",
    "The view was breathtaking.",
    "The colors are gorgeous.",
    "She is so kind.",
    "They brought me a present.",
    "I feel great after that.",
    "I feel like a new person.",
    "I believe in the power of love.",
    "I'm glad you liked it.",
    "I'm happy for you!",
    "I'm lucky to have you.",
    "I'm sorry to hear that.",
    "I'm just kidding, I love snakes.",
    "I'm not sure about the date.",
    "We should go for a walk.",
    "Sounds good!",
    "No worries.",
    "Me too!",
    "Haha, I bet!",
    "",
    "   \n\t ",
    "😀😀😀",
    "...",
]  # fmt: skip

TO_AN_ASSISTANT = [
    (
        "I'm using FastAPI 0.110 and Redis 7 for the backend.",
        ["The user is using FastAPI 0.110 and Redis 7 for the backend."],
    ),
    ("We decided to use Postgres because it scales.", ["The user's team decided to use Postgres because it scales."]),
    ("The deadline is June 3.", ["The deadline is June 3, 2024."]),
    ("The API rate limit is 100 requests per minute.", ["The API rate limit is 100 requests per minute."]),
    ("We use Terraform for infrastructure.", ["The user's team uses Terraform for infrastructure."]),
    ("I switched from MySQL to Postgres because of JSON support.",
     ["The user switched from MySQL to Postgres because of JSON support."]),
    ("I've decided to go with Netlify, can you help me set it up?", ["The user has decided to go with Netlify."]),
    ("I want the export to finish within 5 seconds.", ["The user wants the export to finish within 5 seconds."]),
    ("I prefer small, dependency-free libraries.", ["The user prefers small, dependency-free libraries."]),
    ("I've never deployed this app to a server.", ["The user has never deployed the app to a server."]),
    ("I've reduced the bundle from 900KB to 400KB.", ["The user has reduced the bundle from 900KB to 400KB."]),
    ("I have a deadline of July 1 for the beta.", ["The user has a deadline of July 1, 2024 for the beta."]),
    ("Always include version numbers when I ask about libraries.",
     ["The user wants this rule to be followed: always include version numbers when they ask about libraries."]),
    ("Never deploy on Fridays.", ["The user wants this rule to be followed: never deploy on Fridays."]),
    ("From now on, answer in French.", ["The user wants this rule to be followed: answer in French."]),
    ("Remember that I'm allergic to peanuts.", ["The user is allergic to peanuts."]),
    ("Please remember: the spare key is under the blue pot.",
     ["The user asked to remember: the spare key is under the blue pot."]),
    (
        "Don't forget that my anniversary is on June 12.",
        ["The user asked to remember: their anniversary is on June 12."],
    ),
    ("I'm a data engineer at Corvid Labs.", ["The user is a data engineer at Corvid Labs."]),
    ("I don't work at Corvid Labs anymore.", ["The user does not work at Corvid Labs anymore."]),
    ("My name is Priya.", ["The user's name is Priya."]),
    ("I live in Pune.", ["The user lives in Pune."]),
    ("Hi, I'm Priya, a botanist from Pune.", ["The user is Priya, a botanist from Pune."]),
    ("I'm Canadian.", ["The user is Canadian."]),
]  # fmt: skip

NOTHING_TO_AN_ASSISTANT = [
    "Can you help me write a function?",
    "I'm trying to fix a bug in my login form.",
    "I'm getting an error when I run the tests.",
    "I'm having trouble with the CSS.",
    "I want to make sure it works.",
    "I'd like to see an example.",
    "I've tried restarting it.",
    "What is the best way to cache this?",
    "hmm, what about the tests?",
    "ok cool, thanks!",
    "```python\nI live in Paris\nmy_name = 'Bob'\n```",
    "> I live in Paris",
    "def main(): return 1",
    "I think the API might be slow.",
    "I'm not sure how to proceed.",
    "Should I use Redis?",
]


@pytest.mark.parametrize(("text", "expected"), AMONG_PEOPLE)
def test_durable_things_said_among_people(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


@pytest.mark.parametrize("text", PASSING)
def test_passing_talk_yields_nothing(text: str) -> None:
    assert statements(text) == []


@pytest.mark.parametrize(("text", "expected"), TO_AN_ASSISTANT)
def test_durable_things_said_to_an_assistant(text: str, expected: list[str]) -> None:
    assert statements(text, speaker=None) == expected


@pytest.mark.parametrize("text", NOTHING_TO_AN_ASSISTANT)
def test_working_talk_yields_nothing(text: str) -> None:
    assert statements(text, speaker=None) == []


TRIPLES = [
    ("I live in Leeds because of my brother.", "Dana", "lives_in", "Leeds"),
    ("I work at Corvid Labs since May as a tester.", "Dana", "works_at", "Corvid Labs"),
    ("I moved to Lisbon because of the sun.", "Dana", "lives_in", "Lisbon"),
    ("I'm allergic to shellfish.", "Dana", "allergic_to", "shellfish"),
    ("I was diagnosed with asthma in 2019.", "Dana", "health", "asthma"),
    ("My dog's name is Waffles.", "Dana's dog", "name", "Waffles"),
    ("My sister Ana lives in Porto.", "Ana", "lives_in", "Porto"),
    ("My favorite color is teal.", "Dana's favorite color", "favorite", "teal"),
    ("My birthday is on March 9.", "Dana", "birthday", "on March 9"),
    ("I love hiking.", "Dana", "likes", "hiking"),
    ("I don't like cilantro.", "Dana", "dislikes", "cilantro"),
    ("I'm 34 years old.", "Dana", "age", "34"),
    ("Tom works at Ravensburger.", "Tom", "works_at", "Ravensburger"),
]


@pytest.mark.parametrize(("text", "subject", "predicate", "value"), TRIPLES)
def test_the_triple(text: str, subject: str, predicate: str, value: str) -> None:
    last = told(text)[-1]
    assert (last.subject, last.predicate, last.object) == (subject, predicate, value)


DAYS = [
    ("I bought a kayak yesterday.", "2024-05-14"),
    ("I bought a kayak last Friday.", "2024-05-10"),
    ("I bought a kayak two weeks ago.", "2024-05-01"),
    ("I bought a kayak in 2019.", "2019-01-01"),
    ("I'm going to Rome next month.", None),
    ("I have lived here for years, and my birthday is May 4.", None),
    ("The deadline is 2026-12-01.", None),
    ("I live in Porto since 2020.", "2020-01-01"),
    ("In May I moved to Bergen.", "2024-05-01"),
    ("As of March 2024 I live in Bergen.", "2024-03-01"),
    ("I live in Oslo until June.", None),
    ("We decided to ship on Friday.", None),
    ("On Friday we decided to ship.", "2024-05-10"),
    ("I bought a kayak.", None),
    # What is so now does not begin on the coming day of something that it names, unless it says so.
    ("I'm working on a project with two-week sprints, and the first sprint ends on May 29.", None),
    ("I'm working on Sprint 2 with a deadline of June 20.", None),
    ("I'm getting ready for the scheduled peer review on May 20.", None),
    ("I'm working on the report of March 3.", None),
    ("I finished my review of 2019.", None),
    ("I work at Corvid Labs from June 1.", "2024-06-01"),
    ("From June 1 I live in Bergen.", "2024-06-01"),
    ("I'm starting at Corvid Labs on June 1.", "2024-06-01"),
    ("I'm getting married in June.", "2024-06-01"),
    ("I moved to Bergen in the summer of 2019.", "2019-01-01"),
]


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_dates_are_resolved_against_the_event(text: str, day: str | None) -> None:
    assert [proposition.valid_from for proposition in told(text)] == [day]


def test_endings_and_replacements_are_marked() -> None:
    (ended,) = told("I no longer work at Corvid Labs.")
    assert (ended.ended, ended.predicate, ended.object) == (True, "works_at", "Corvid Labs")
    (switched,) = told("We switched from MySQL to Postgres.")
    assert (switched.former, switched.object, switched.predicate) == ("MySQL", "Postgres", "uses")


def test_hints_say_whom_a_fact_is_about() -> None:
    relation, place = told("My sister Ana lives in Porto.")
    assert relation.entity_hints[0] == EntityHint("person", "Dana", "speaker")
    assert place.entity_hints[0] == EntityHint("person", "Ana", "relation")
    (user,) = told("I live in Pune.", speaker=None)
    assert user.subject == "the user"
    assert user.entity_hints == (EntityHint("person", "User", "speaker"),)


def test_only_promises_advice_and_actions_of_an_assistant_are_read() -> None:
    text = (
        "Caching is a common technique. I recommend using Redis for your sessions. You could also think about tests. "
        "I'll remind you on Friday about the invoice. I live in the cloud.\nNext step: rotate the API keys"
    )
    assert statements(text, role="assistant", speaker=None) == [
        "The assistant recommended using Redis for the user's sessions.",
        "The assistant promised to remind the user on Friday about the invoice (2024-05-17).",
    ]
    assert {proposition.trust for proposition in told(text, role="assistant", speaker=None)} == {"agent"}
    assert statements("Next step: rotate the API keys", role="assistant", speaker=None) == [
        "The assistant noted an action item: rotate the API keys."
    ]


def test_a_named_person_in_the_assistants_seat_is_read_in_full() -> None:
    assert statements("I live in Leeds.", role="assistant", speaker="Lee") == ["Lee lives in Leeds."]


def test_the_system_and_recalled_text_are_never_learned_from() -> None:
    assert statements("The user lives in Leeds. I live in Leeds.", role="system", speaker=None) == []
    event = Event("ev_1", SAID, "user", "I live in Leeds.", recalled=True)
    assert extract(event, CATALOG) == ()


def test_a_tool_is_named_for_what_it_reports() -> None:
    event = Event("ev_1", SAID, "tool", 'The API rate limit is 100 requests per minute.\n{"ok": true}', speaker="quota")
    (report,) = extract(event, CATALOG)
    assert report.statement == "quota reported: The API rate limit is 100 requests per minute."
    assert report.trust == "tool"


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300), st.sampled_from(["user", "assistant", "tool", "system", "note"]))
def test_any_text_is_read_without_error_and_quoted_exactly(text: str, role: str) -> None:
    _check_evidence(text, role)


_WORDS = [
    "I", "I'm", "I’ve", "we", "my", "dog", "moved", "to", "love", "Lisbon", "last", "Friday", "because", ",", ".", "!",
    "?", "\n", "- ", "never", "not", "always", "remember", "that", "when", "is", "a", "the",
    "used", "no", "longer", "going",
        "been", "have", "two", "weeks", "ago", "\"", "(", "you", "Ana", "works", "at", "don't", "switched", "from",
    "decided",
]  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(_WORDS), max_size=25))
def test_any_run_of_words_is_read_without_error_and_quoted_exactly(words: list[str]) -> None:
    _check_evidence(" ".join(words), "user")


def _check_evidence(text: str, role: str) -> None:
    for proposition in extract(Event("ev_1", SAID, role, text, speaker="Dana"), CATALOG, PEOPLE):
        start, end = proposition.span
        assert text[start:end] == proposition.source_text
        assert proposition.source_text
        assert 0 <= proposition.confidence <= 1
        assert 0 <= proposition.importance <= 1


@pytest.mark.parametrize(
    "unit", ["I ", "a", "I moved to Lisbon. ", "my dog ", ", and I ", "hey! ", "'", "two weeks ", '"I ']
)
def test_long_texts_take_time_in_proportion(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert len(told(text)) <= 1


SHARED = [
    ("I live in Oslo and work at Equinor.", ["lives_in Oslo", "works_at Equinor"]),
    ("I moved to Bergen and started at Statoil.", ["lives_in Bergen", "works_at Statoil"]),
    ("I live in Oslo, work at Equinor and have two kids.", ["lives_in Oslo", "works_at Equinor", "child two kids"]),
    ("I'm vegan and allergic to nuts.", ["diet vegan", "allergic_to nuts"]),
    ("My wife is Anna and my son is called Max.", ["spouse Anna", "name Max"]),
    ("My boss is Erik.", ["name Erik"]),
    ("I want to move to Oslo and work at Equinor.", []),
]


@pytest.mark.parametrize(("text", "expected"), SHARED)
def test_clauses_that_share_a_subject_are_facts_of_their_own(text: str, expected: list[str]) -> None:
    found = [one for one in told(text, speaker="Mia") if one.predicate != "wants"]
    assert [f"{one.predicate} {one.object}" for one in found] == expected
    assert all(text[slice(*one.span)] == one.source_text for one in found)
    assert all("Equinor" not in one.statement for one in found if one.predicate == "lives_in")


def test_a_resolution_looks_ahead_and_says_so() -> None:
    (decided,) = told("We decided to ship on Friday.")
    assert (decided.statement, decided.object) == ("Dana's team decided to ship (2024-05-17).", "ship (2024-05-17)")


def test_a_value_and_the_one_it_is_not() -> None:
    (work,) = told("I work at Statoil, not Equinor.")
    assert (work.object, work.former) == ("Statoil", "Equinor")
    (meant,) = told("Sorry, I meant Bergen, not Oslo.")
    assert (meant.category, meant.object, meant.former) == ("correction", "Bergen", "Oslo")
    (far,) = told("I live in Oslo, not far from the harbour.")
    assert far.former is None


@pytest.mark.parametrize(
    ("speakers", "statement", "title"),
    [
        (("Dana",), "The assistant promised to send Dana's slides to Dana on Friday (2024-05-17).", "Dana"),
        ((), "The assistant promised to send the user's slides to the user on Friday (2024-05-17).", "User"),
        (PEOPLE, "The assistant promised to send the user's slides to the user on Friday (2024-05-17).", "User"),
        (("user",), "The assistant promised to send the user's slides to the user on Friday (2024-05-17).", "User"),
    ],
)
def test_an_assistant_speaks_to_the_one_person_there(speakers: tuple[str, ...], statement: str, title: str) -> None:
    event = Event("ev_1", SAID, "assistant", "I'll send your slides to you on Friday.")
    (one,) = extract(event, CATALOG, speakers)
    assert one.statement == statement
    assert one.entity_hints == (EntityHint("person", title, "speaker"),)


def test_we_who_moved_are_no_team() -> None:
    assert statements("We moved to Bergen last month.", speaker=None) == ["The user moved to Bergen (April 2024)."]
    assert statements("We live in Bergen.") == ["Dana lives in Bergen."]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I want the image to be 150x150px and 45KB.", []),
        ("I've decided to limit the results to 5 items.", []),
        ("I want the logo to be green.", ["The user wants the logo to be green."]),
        ("I decided to sell the house.", ["The user decided to sell the house."]),
        (
            "I've decided to limit autocomplete results to 5 to keep it clear.",
            ["The user has decided to limit autocomplete results to 5 to keep it clear."],
        ),
    ],
)
def test_what_is_only_on_the_table_means_nothing_later(text: str, kept: list[str]) -> None:
    assert statements(text, speaker=None) == kept


def test_what_a_preference_is_for_is_no_value_that_it_replaces() -> None:
    (purpose,) = told("I prefer simple tools to keep the app small.")
    assert (purpose.former, purpose.valid_from) == (None, None)
    (rather,) = told("I prefer tea to coffee.")
    assert rather.former == "coffee"
