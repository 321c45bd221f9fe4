"""Values of one relation: which contradict each other, and which are true at the same time."""

from __future__ import annotations

import pytest

from clawmem.model.facts.stated_value import ADDRESS, COUNTRY, DESCRIBED, NAMED, UNNAMED, are_exclusive, value_class

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
