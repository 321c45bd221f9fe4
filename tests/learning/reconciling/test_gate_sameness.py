"""What says the same, and what only looks alike."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.gate import adds_nothing, denies, ends, is_contained, is_more_detailed, is_similar

KNOWN = ["Django 5.1 and Celery", "Redis for the queue"]


@pytest.mark.parametrize(
    ("new", "nothing"),
    [
        ("Django 5.1", True),
        ("Django v5.1 for the backend", True),
        ("Celery", True),
        ("Django 4.2", False),
        ("Redis for sessions", False),
        ("Redis for the queue", True),
        ("Kafka", False),
        ("a good notebook", False),
        ("Redis with queue", True),
        ("Celery databases", True),
        ("Celery App", True),
        ("Django 5", True),
        ("Django 5.1, lamp, paper and desk", True),
        ("Django 5.1, lamp, paper, desk and chair", False),
    ],
)
def test_a_tool_named_again_adds_nothing(new: str, nothing: bool) -> None:
    assert adds_nothing(new, KNOWN) is nothing


def test_the_richer_list_holds_the_poorer() -> None:
    assert is_more_detailed("Django 5.1, Celery and Flower", "Django and Celery")
    assert not is_more_detailed("Django 5.1", "Django and Celery")
    assert not is_more_detailed("Redis for sessions", "Redis for the queue")
    assert not is_more_detailed("Django and a notebook", "a notebook")


@pytest.mark.parametrize(
    ("new", "old", "within"),
    [
        ("Ana plays chess.", "Ana plays chess with her uncle.", True),
        ("Ana plays chess.", "Ana used to play chess.", False),
        ("Ana plays chess.", "Ana does not play chess.", False),
        ("Ana ran 5 miles.", "Ana ran 6 miles.", False),
        ("Ana added a login page.", "Ana has implemented a login page with Vue.", True),
        ("Ana adopted a dog.", "Ana is planning to adopt a dog.", False),
        ("Ana plays chess.", "Plays chess.", True),
        ("Ana plays.", "Ana plays chess.", False),
        ("Ana jogged in parks.", "Ana jogs in the park daily.", True),
        ("Ana studies law.", "Ana likes to study law.", True),
        ("Ana is baking bread.", "Ana bakes bread daily.", True),
        ("Ana is adding salt.", "Ana adds salt daily.", True),
        ("Ana is calling Bob daily.", "Ana calls Bob daily at six.", True),
        ("Ana sees a bus.", "Ana see a bu.", False),
    ],
)
def test_a_statement_within_another(new: str, old: str, within: bool) -> None:
    assert is_contained(new, old, "Ana") is within


def test_alike_needs_the_same_names_and_numbers() -> None:
    old = "Ana is looking into night classes about garden design."
    assert is_similar("Ana is still looking into classes about garden design.", old, "Ana")
    assert not is_similar("Ana is looking into night classes about garden design in Lyon.", old, "Ana")
    assert not is_similar("Ana is looking into 3 night classes about garden design.", old, "Ana")
    assert not is_similar("Ana is no longer looking into night classes about garden design.", old, "Ana")


@pytest.mark.parametrize(
    ("new", "old", "similar"),
    [
        ("red green blue lamp", "red green blue desk chair", False),  # three words in common
        ("red green blue lamp desk", "red green blue lamp chair", True),
        ("red green blue pink white black lamp desk", "red green blue pink white black chair shelf", True),
        ("red green blue pink white lamp desk", "red green blue pink white chair shelf", False),  # 5 of 7
        ("red green blue pink", "red green blue pink white black chair shelf table", True),
        ("red green blue pink 5", "red green blue pink 5 chair", True),
    ],
)
def test_alike_is_three_quarters_of_the_shorter_and_four_words(new: str, old: str, similar: bool) -> None:
    assert is_similar(f"Ana {new}.", f"Ana {old}.", "Ana") is similar


@pytest.mark.parametrize(
    ("never", "did", "against"),
    [
        (
            "Dana has never written any Flask routes or used HTTP.",
            "Dana has implemented a homepage route in Flask.",
            True,
        ),
        ("Dana has never fixed any bugs.", "Dana has fixed the bug by adding null checks.", True),
        (
            "Dana has never implemented any Bootstrap components before.",
            "Dana is using Bootstrap for their modal component.",
            True,
        ),
        ("Dana has never built a website in Rust.", "Dana built a website with Django (2025).", False),
        ("Dana has never fixed any bugs in the parser.", "Dana has fixed the bug in the lexer.", False),
        ("Dana has never broken a bone.", "Dana broke their arm.", False),
        ("Dana has never fixed any bugs.", "Dana wants to fix the bug.", False),
        ("Dana has never fixed any bugs.", "Dana has never fixed any bugs.", False),
        ("Dana has never smoked.", "Dana has smoked salmon.", False),
        ("Dana fixed a bug.", "Dana fixed the bug.", False),
        ("Dana has never fixed the parser.", "Fixed the parser.", True),
    ],
)
def test_what_never_happened_is_denied_by_what_did(never: str, did: str, against: bool) -> None:
    assert denies(never, did, "Dana") is against


@pytest.mark.parametrize(
    ("ending", "did", "planned", "over"),
    [
        ("Mia stopped drinking coffee.", "Mia drinks coffee every morning.", False, True),
        ("Mia gave up learning Spanish.", "Mia is learning Spanish.", False, True),
        ("Mia does not go to the gym any more.", "Mia goes to the gym on Mondays.", False, True),
        ("Mia no longer plays tennis.", "Mia usually plays tennis.", False, True),
        ("Mia and others cancelled the Japan trip.", "Mia is planning a trip to Japan in April 2027.", True, True),
        ("Mia stopped drinking coffee.", "Mia loves coffee.", False, False),
        ("Mia stopped drinking coffee.", "Mia drinks tea every morning.", False, False),
        ("Mia stopped drinking coffee in the evening.", "Mia drinks coffee every morning.", False, False),
        ("Mia stopped drinking.", "Mia drinks coffee every morning.", False, False),
        ("Mia stopped drinking coffee.", "Mia does not drink coffee.", False, False),
        ("Mia stopped drinking coffee.", "Mia drank coffee with Tom.", False, False),
        ("Mia does not go to the gym.", "Mia goes to the gym on Mondays.", False, False),
        ("Mia cancelled the Japan trip.", "Mia is planning a trip to Peru.", True, False),
        ("Mia cancelled the tennis lesson.", "Mia plays tennis in the lesson.", False, False),
        ("Mia cancelled the Japan trip.", "Mia is planning a trip to Japan in April.", False, False),
        ("Mia stopped smoking.", "Mia smokes.", False, True),
    ],
)
def test_what_was_stopped_is_the_very_thing_that_is_done(ending: str, did: str, planned: bool, over: bool) -> None:
    assert ends(ending, did, "Mia", planned) is over
