"""Who may write where, by the settings: own and shared by default, never another's, and a person everything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.settings.permission import UPKEEP, allowed, forbidden, rights_of
from clawmem.model.settings.settings import DEFAULTS, Settings, settings_from_mapping

OWN = "agents/finance/workspace/projects/budget/items.json"
OTHERS = "agents/legal/workspace/projects/case/items.json"
LIFE = "life/areas/people/jane/items.json"
PATHS = (OWN, OTHERS, LIFE, "ledger/2026-11-21.jsonl", "daily/2026-11-21.md", "review/prop_1a2b3c4d.json",
         "clawmem.yaml", "predicates.yaml", "MEMORY.md", "agents/finance/SOUL.md", "AGENTS.md")  # fmt: skip


def settings(**agents: Any) -> Settings:
    return settings_from_mapping({"agents": agents})


def writes(settings: Settings, agent: str = "finance", purpose: str = "remember") -> set[str]:
    """The paths that the agent may write."""
    rights = rights_of(settings, agent)
    return {path for path in PATHS if forbidden(agent, rights, [path], purpose) is None}


def test_by_default_an_agent_writes_its_own_and_what_all_share() -> None:
    assert writes(DEFAULTS) == set(PATHS) - {OTHERS, "clawmem.yaml", "predicates.yaml", "AGENTS.md"}
    assert OWN not in writes(DEFAULTS, "legal") and OTHERS in writes(DEFAULTS, "legal")


@pytest.mark.parametrize(
    ("places", "more"),
    [
        ("own", {OWN, "agents/finance/SOUL.md"}),
        (["life"], {LIFE}),
        ("records", {"ledger/2026-11-21.jsonl", "daily/2026-11-21.md", "MEMORY.md"}),
        ("areas", {LIFE}),
        ("areas/people/jane", {LIFE}),
        ("areas/people/jan", set()),
        ("@legal", {OTHERS}),
        ("@legal/projects/case", {OTHERS}),
        ("settings", {"clawmem.yaml", "predicates.yaml", "MEMORY.md", "AGENTS.md"}),
        ("own, @legal", {OWN, OTHERS, "agents/finance/SOUL.md"}),
        ("all", set(PATHS)),
    ],
)
def test_places_of_an_agent(places: str | list[str], more: set[str]) -> None:
    # A proposal waits for a person, so any agent may file one.
    assert writes(settings(finance={"write": places})) == more | {"review/prop_1a2b3c4d.json"}


def test_an_own_entry_beats_that_of_every_agent() -> None:
    value = settings(default={"read_only": True}, finance={"read_only": False})
    assert writes(value) == writes(DEFAULTS)
    assert writes(value, "legal") == set()
    assert allowed(rights_of(value, "legal")) == "nothing"


def test_what_is_done_for_the_vault_goes_anywhere_but_not_by_a_reader() -> None:
    assert all(writes(DEFAULTS, purpose=purpose) == set(PATHS) for purpose in UPKEEP)
    assert writes(settings(finance={"read_only": True}), purpose="heartbeat") == set()


@given(st.sampled_from(PATHS), st.sampled_from(["finance", "legal", "other"]))
def test_no_agent_writes_anothers_workspace_by_default(path: str, agent: str) -> None:
    may = path in writes(DEFAULTS, agent)
    assert not may or not path.startswith("agents/") or path.startswith(f"agents/{agent}/")


@pytest.mark.parametrize(
    "wrong",
    [
        {"finance": {"write": "everywhere"}},
        {"finance": {"write": []}},
        {"finance": {"write": "own, ../x"}},
        {"finance": {"write": 3}},
        {"finance": {"writes": "own"}},
        {"finance": {"read_only": "maybe"}},
        {"finance": "read_only"},
        {"Big Agent": {"read_only": True}},
        ["finance"],
    ],
)
def test_what_was_meant_to_forbid_is_never_ignored(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        settings_from_mapping({"agents": wrong})


def test_no_agents_at_all_is_fine() -> None:
    assert settings_from_mapping({"agents": None}).agent_value("finance", "write") == "own, life, records"
    assert settings_from_mapping({"agents": {}}).agent_value("finance", "read_only") is False
