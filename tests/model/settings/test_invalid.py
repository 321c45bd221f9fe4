"""Settings that do not fit: the others count, and what was meant to forbid is never ignored."""

from __future__ import annotations

from typing import Any

import pytest

from clawmem.errors import InvalidInput, Refused
from clawmem.model.settings.invalid import invalid_messages, read_tolerantly
from clawmem.model.settings.settings import BY_KEY, DEFAULTS, FORMAT, HARMLESS, settings_from_mapping


def test_what_fits_is_read_as_ever() -> None:
    mapping = {"defaults": {"limit": 7}, "agents": {"finance": {"write": "own"}}, "mine": {"own": 1}}
    assert read_tolerantly(mapping) == settings_from_mapping(mapping)
    assert read_tolerantly({}) == DEFAULTS
    assert list(invalid_messages(read_tolerantly(mapping))) == []


def test_a_wrong_value_stops_only_what_needs_it() -> None:
    settings = read_tolerantly({"sync": {"conflict": "banana"}, "defaults": {"limit": 7}})
    assert settings.whole("defaults.limit") == 7
    with pytest.raises(InvalidInput, match=r"sync\.conflict is 'banana'"):
        settings.words("sync.conflict")
    (text,) = invalid_messages(settings)
    assert text.startswith("clawmem.yaml: The setting sync.conflict is 'banana'")
    assert text.endswith("Until it is repaired, everything that needs sync.conflict is refused.")


@pytest.mark.parametrize("key", sorted(HARMLESS))
def test_where_nothing_that_stays_hangs_on_it_the_default_will_do(key: str) -> None:
    settings = read_tolerantly({key: ["banana"]})
    assert settings.get(key) == BY_KEY[key].default
    (text,) = invalid_messages(settings)
    assert text.endswith(f"Until it is repaired, {key} has its default, {BY_KEY[key].default}.")


def test_one_value_in_place_of_a_whole_group_makes_all_of_it_wrong() -> None:
    settings = read_tolerantly({"secrets": "off", "git": {"sign": True}})
    assert settings.flag("git.sign") is True
    with pytest.raises(InvalidInput, match="contains several settings"):
        settings.words("secrets.action")


@pytest.mark.parametrize("agents", [{"scout": {"read_only": "banana"}}, {"scout": {"may": "own"}}, "none"])
def test_wrong_rights_are_nobodys_rights(agents: Any) -> None:
    settings = read_tolerantly({"agents": agents})
    for agent in ("scout", "finance"):
        with pytest.raises(InvalidInput):
            settings.agent_value(agent, "read_only")


def test_a_newer_vault_is_refused_whatever_else_is_wrong() -> None:
    with pytest.raises(Refused, match="format"):
        read_tolerantly({"format": FORMAT + 1, "defaults": {"limit": "many"}})
