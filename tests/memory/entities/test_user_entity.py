"""The user is one entity: with `user.name`, what is known of `the user` belongs to the person of that name."""

from __future__ import annotations

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def _people(clawmem: Command) -> dict[str, int]:
    rows = clawmem("entity", "list", "--json").data["entities"]
    return {one["name"]: sum(one["facts"].values()) for one in rows if one["name"].startswith("areas/people/")}


def test_a_name_given_later_takes_over_what_was_known_of_the_user(clawmem: Command) -> None:
    clawmem("note", "Remember that I live in Oslo.")
    clawmem("heartbeat")
    assert _people(clawmem) == {"areas/people/user": 1}
    clawmem("config", "set", "user.name", "Mia Berg")
    clawmem("note", "Remember that I am allergic to peanuts.")
    assert "moved what is known of the user to areas/people/mia-berg\n" in clawmem("heartbeat").out
    assert _people(clawmem) == {"areas/people/mia-berg": 2}
    assert "Mia Berg is allergic to peanuts." in clawmem("list").out
    assert "moved" not in clawmem("heartbeat").out


def test_it_joins_the_person_who_is_known_by_that_name(clawmem: Command) -> None:
    clawmem("note", "Remember that I live in Oslo.")
    clawmem("heartbeat")
    clawmem("remember", "Mia likes tea.", "--entity", "areas/people/mia")
    clawmem("config", "set", "user.name", "Mia")
    assert "\nmoved what is known of the user to areas/people/mia\n" in f"\n{clawmem('heartbeat', '--dry-run').out}"
    clawmem("heartbeat")
    assert _people(clawmem) == {"areas/people/mia": 2}


def test_an_entity_has_the_name_that_its_first_fact_writes(clawmem: Command) -> None:
    clawmem("remember", "Su-ah Kim starts on Monday.", "--entity", "areas/people/su-ah-kim")
    assert clawmem("entity", "show", "su-ah-kim", "--json").data["entity"]["title"] == "Su-ah Kim"
