"""The value that plain words state for a relation with one value."""

from __future__ import annotations

import pytest
import yaml

from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.stated_value import (
    ADDRESS,
    COUNTRY,
    DESCRIBED,
    NAMED,
    UNNAMED,
    StatedValue,
    are_exclusive,
    are_rivals,
    single_phrases,
    stated_value,
    value_class,
)

CATALOG = catalog_from_mapping(
    yaml.safe_load("""
lives_in: {phrases: [moved to, is based in], value: place, cardinality: single}
works_at: {phrases: [works for], value: organisation, cardinality: single}
deadline: {value: date, cardinality: single}
likes: {}
""")
)
PHRASES = single_phrases(CATALOG)


def stated(words: str, **keys: str) -> StatedValue | None:
    fact = Fact("fact_1a2b3c4d", words, "fact", "2026-11-21T09:30:00Z", "user")
    return stated_value(fact._replace(**keys), PHRASES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "subject", "value"),
    [
        ("Jane lives in Porto.", "jane", "Porto"),
        ("Jane lives in Lisbon now.", "jane", "Lisbon"),
        ("Jane now lives in Lisbon with her sister", "jane", "Lisbon"),
        ("Jane moved to Lisbon in May", "jane", "Lisbon in May"),
        ("Jane has just moved to Lisbon.", "jane", "Lisbon"),
        ("Since May, Jane is living in Lisbon", "jane", "Lisbon"),
        ("Jane has lived in Lisbon since 2020.", "jane", "Lisbon"),
        ("Jane's new deadline is 4 May.", "jane", "4 May"),
        ("I'm living in Oslo right now.", "the user", "Oslo"),
        ("I live in Oslo these days.", "the user", "Oslo"),
        ("The user lives in Oslo.", "the user", "Oslo"),
        ("The webshop deadline is 3 May 2027.", "webshop", "3 May 2027"),
        ("The webshop's deadline is now 4 May.", "webshop", "4 May"),
    ],
)
def test_a_value_is_read_without_the_words_around_it(words: str, subject: str, value: str) -> None:
    found = stated(words)
    assert found is not None
    assert (found.subject, found.value) == (subject, value)


@pytest.mark.parametrize(
    "words",
    [
        "Jane also lives in Rome.",
        "Jane no longer lives in Oslo.",
        "Jane might live in Oslo.",
        "Jane has lived in Oslo.",
        "Jane likes Oslo.",
        "Lives in Oslo.",
        "The people that Jane met in May lives in Oslo.",
    ],
)
def test_hedges_denials_and_additions_state_no_value(words: str) -> None:
    assert stated(words) is None


def test_a_triple_counts_before_the_words() -> None:
    triple = stated("Jane moved.", subject="Jane", predicate="lives_in", object="Rome now")
    assert triple == StatedValue("jane", "lives_in", "place", "Rome")
    assert stated("Jane lives in Oslo.", predicate="likes") is None


@pytest.mark.parametrize(
    ("text", "other", "rivals"),
    [
        ("Jane lives in Lisbon now.", "Jane lives in Porto.", True),
        ("Jane lives in Leeds, England.", "Jane lives in Leeds.", False),
        ("Jane lives in Oslo.", "Jane lives in Norway.", False),
        ("Jane lives in Oslo.", "Jane lives in a flat.", False),
        ("Jane lives in Oslo.", "Ben lives in Rome.", False),
        ("Jane lives in Oslo.", "Jane works for Acme.", False),
    ],
)
def test_what_cannot_both_be_true(text: str, other: str, rivals: bool) -> None:
    first, second = stated(text), stated(other)
    assert first and second
    assert are_rivals(first, second) is are_rivals(second, first) is rivals


def test_many_asides_are_read_in_no_time() -> None:
    """A pattern took exponential time for these."""
    assert stated(f"Jane lives in Oslo{' (a)' * 40}x") is not None
    assert stated(f"Jane lives in Oslo{' (a)' * 40}") == StatedValue("jane", "lives_in", "place", "Oslo")
    assert stated(f"Jane{' now' * 40} lives in Oslo") == StatedValue("jane", "lives_in", "place", "Oslo")


PLACES = [
    ("Oslo", NAMED),
    ("oslo", NAMED),
    ("the Old Town", NAMED),
    ("Leeds, England", NAMED),
    ("a town called Moss", NAMED),
    ("Norway", COUNTRY),
    ("the United Kingdom", COUNTRY),
    ("South Korea", COUNTRY),
    ("34 Baker Street", ADDRESS),
    ("a flat", DESCRIBED),
    ("an old house in Leeds", DESCRIBED),
    ("the third floor", DESCRIBED),
    ("our Berlin flat", DESCRIBED),
    ("hope that things get better", DESCRIBED),
    ("north of Oslo", DESCRIBED),
]
FIRMS = [
    ("Google", NAMED),
    ("Ulleval hospital", NAMED),
    ("the BBC", NAMED),
    ("the University of Bergen", NAMED),
    ("a company called Initech", NAMED),
    ("a startup", UNNAMED),
    ("the observatory", UNNAMED),
    ("the London office", DESCRIBED),
]


@pytest.mark.parametrize(("value", "sort"), PLACES)
def test_the_sort_of_a_place(value: str, sort: str) -> None:
    assert value_class("place", value) == sort


@pytest.mark.parametrize(("value", "sort"), FIRMS)
def test_the_sort_of_an_organisation(value: str, sort: str) -> None:
    assert value_class("organisation", value) == sort


def test_only_values_of_one_sort_stand_against_each_other() -> None:
    assert are_exclusive("place", "Oslo", "Bergen")
    assert are_exclusive("place", "Norway", "Sweden")
    assert are_exclusive("organisation", "a startup", "a school")
    assert not are_exclusive("place", "Oslo", "Norway")
    assert not are_exclusive("place", "Oslo", "a flat")
    assert not are_exclusive("place", "a flat", "the third floor"), "both may be true"
    assert not are_exclusive("organisation", "Google", "the London office")


def test_of_other_kinds_every_value_stands_against_every_other() -> None:
    assert are_exclusive("text", "a nurse", "Head of Sales")
    assert are_exclusive("date", "2026-12-01", "next week")
