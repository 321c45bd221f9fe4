"""Candidates for shell completion: ids, entities, agents and categories of the vault."""

from __future__ import annotations

import json

from clawmem.index.refresh.refresh import answered
from clawmem.index.search.lookup import entity_names
from clawmem.model.facts.fact import ACTIVE
from clawmem.vault.vault import Vault

MAX_CANDIDATES = 100


def fact_candidates(vault: Vault, prefix: str) -> list[tuple[str, str]]:
    """Return the fact ids with this prefix, each with its statement: active facts first, newest first, at most 100."""
    wanted = "SELECT id, line FROM fact WHERE id >= ? AND id < ? ORDER BY status != ?, n DESC LIMIT ?"
    bounds = (prefix, prefix + "\U0010ffff", ACTIVE, MAX_CANDIDATES)
    return answered(
        vault,
        lambda index: [(one, json.loads(line)["fact"]) for one, line in index.database.execute(wanted, bounds)],
    )


def entity_candidates(vault: Vault, prefix: str) -> list[str]:
    """Return the entity names with this prefix."""
    return [name for name in answered(vault, entity_names) if name.startswith(prefix)]


def category_candidates(vault: Vault, prefix: str) -> list[str]:
    """Return the categories in use with this prefix that contain no white space."""
    wanted = "SELECT DISTINCT category FROM fact ORDER BY 1"
    rows = answered(vault, lambda index: index.database.execute(wanted).fetchall())
    return [name for (name,) in rows if name.startswith(prefix) and not any(map(str.isspace, name))]


def agent_candidates(vault: Vault, prefix: str) -> list[str]:
    """Return the ids with this prefix of agents that have a folder in the vault."""
    folder = vault.root / "agents"
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(prefix))
