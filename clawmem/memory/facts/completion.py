"""Candidates for shell completion: ids, entities, agents and categories of the vault."""

from __future__ import annotations

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entity_names
from clawmem.index.tables.contents import categories, facts_with_prefix
from clawmem.vault.vault import Vault

MAX_CANDIDATES = 100


def fact_candidates(vault: Vault, prefix: str) -> list[tuple[str, str]]:
    """Return the fact ids with this prefix, each with its statement: active facts first, newest first, at most 100."""
    return run_query(vault, lambda index: facts_with_prefix(index, prefix, MAX_CANDIDATES))


def entity_candidates(vault: Vault, prefix: str) -> list[str]:
    """Return the entity names with this prefix."""
    return [name for name in run_query(vault, entity_names) if name.startswith(prefix)]


def category_candidates(vault: Vault, prefix: str) -> list[str]:
    """Return the categories in use with this prefix that contain no white space."""
    names = run_query(vault, categories)
    return [name for name in names if name.startswith(prefix) and not any(map(str.isspace, name))]


def agent_candidates(vault: Vault, prefix: str) -> list[str]:
    """Return the ids with this prefix of agents that have a folder in the vault."""
    folder = vault.root / "agents"
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(prefix))
