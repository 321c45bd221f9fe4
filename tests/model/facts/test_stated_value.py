"""The value that plain words state for a relation with one value."""

from __future__ import annotations

import pytest
import yaml

from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.stated_value import StatedValue, are_rivals, single_phrases, stated_value

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
        ("Jane moved to Lisbon in May", "jane", "Lisbon"),
        ("Jane moved to Lisbon on 3 May 2026.", "jane", "Lisbon"),
        ("Jane moved to Lisbon last year.", "jane", "Lisbon"),
        ("Jane lives in Lisbon in summer.", "jane", "Lisbon in summer"),
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
