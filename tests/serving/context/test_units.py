"""Conflicts: values that contradict each other at the same time, also if one is only stated in words."""

from __future__ import annotations

import pytest

from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.context.context import context
from clawmem.vault.vault import Vault

_AGAINST = "! In conflict with the line above"


def _keep(vault: Vault, caller: Caller, text: str, **more: object) -> str:
    return remember(vault, [draft_from_record({"fact": text, **more}, caller.now)], caller).facts[0].fact.id


def _lives(vault: Vault, caller: Caller, text: str, place: str | None, **more: object) -> str:
    return _keep(vault, caller, text, subject="Jane", predicate="lives_in", object=place, **more)


@pytest.mark.parametrize(
    ("text", "place", "against"),
    [
        ("Jane lives in Rome.", None, True),
        ("Jane lives in Paris now.", None, False),
        ("Jane lives in Parisot.", None, True),
        ("Jane moved.", "Rome", True),
        ("Jane moved.", "paris", False),
    ],
)
def test_a_value_that_is_only_said_in_words(
    vault: Vault, caller: Caller, text: str, place: str | None, against: bool
) -> None:
    _lives(vault, caller, "Jane lives in Paris.", "Paris")
    _lives(vault, caller, text, place)
    assert context(vault, caller, 1000).text.count(_AGAINST) == (1 if against else 0)


@pytest.mark.parametrize("place", ["a flat", "Norway", "34 Baker Street"])
def test_what_may_be_true_at_once_is_no_conflict(vault: Vault, caller: Caller, place: str) -> None:
    _lives(vault, caller, "Jane lives in Oslo.", "Oslo")
    _lives(vault, caller, f"Jane lives in {place}.", place)
    assert _AGAINST not in context(vault, caller, 1000).text


def test_a_rival_from_outside_is_told_as_such(vault: Vault, caller: Caller) -> None:
    _lives(vault, caller, "Jane lives in Bergen.", "Bergen", source="web:example.org")
    _lives(vault, caller, "Jane lives in Oslo.", "Oslo")
    (line,) = [
        other_line for other_line in context(vault, caller, 1000).text.splitlines() if other_line.startswith(_AGAINST)
    ]
    assert "Jane lives in Bergen." in line
    assert line.endswith(", from outside, unverified)")


def test_two_values_in_words(vault: Vault, caller: Caller) -> None:
    _lives(vault, caller, "Jane lives in Paris.", None)
    assert _AGAINST not in context(vault, caller, 1000).text
    _lives(vault, caller, "Jane lives in Rome.", None)
    assert context(vault, caller, 1000).text.count(_AGAINST) == 1


def test_what_supersede_left_without_an_object(vault: Vault, caller: Caller) -> None:
    old = _lives(vault, caller, "Jane lives in Oslo.", "Oslo")
    supersede(vault, old, draft_from_record({"fact": "Jane lives in Rome."}, caller.now), caller)
    assert _AGAINST not in context(vault, caller, 1000).text
    _lives(vault, caller, "Jane lives in Paris.", "Paris")
    assert context(vault, caller, 1000).text.count(_AGAINST) == 1


@pytest.mark.parametrize("linked", [True, False])
def test_what_is_over_contradicts_nothing_that_holds(vault: Vault, caller: Caller, linked: bool) -> None:
    name = _lives(vault, caller, "Jane lives in Oslo.", "Oslo", valid_to="2020-01-01")
    other = _lives(vault, caller, "Jane lives in Paris.", "Paris")
    if linked:
        link(vault, name, "contradicts", other, caller)
    text = context(vault, caller, 1000).text
    assert "Oslo" in text
    assert _AGAINST not in text
    assert context(vault, caller, 1000, as_of="2019-01-01").text.count(_AGAINST) == 1


def test_plain_words_that_contradict_each_other_are_marked(vault: Vault, caller: Caller) -> None:
    for text in ("Ben Ott runs the shop; his extension is 412.", "Ben's extension is 421.", "Ben is tall."):
        _keep(vault, caller, text, entity="areas/people/ben-ott")
    text = context(vault, caller, 1000).text
    assert text.count(_AGAINST) == 1
    assert "Ben is tall. (2026-11-21)\n!" not in text


def test_a_city_and_a_state_are_no_conflict(vault: Vault, caller: Caller) -> None:
    for place in ("California", "Los Angeles"):
        _keep(vault, caller, f"Jane is from {place}.", subject="Jane", predicate="from", object=place)
    assert _AGAINST not in context(vault, caller, 1000).text
