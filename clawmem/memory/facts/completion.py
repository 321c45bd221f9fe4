"""What a word that is still being typed may become: ids, entities, agents and categories of the vault."""

from __future__ import annotations

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entity_names
from clawmem.index.tables.contents import categories, facts_with_prefix
from clawmem.vault.vault import Vault

MOST = 100


def fact_candidates(vault: Vault, prefix: str) -> list[tuple[str, str]]:
    """The ids that begin so, each with its statement: those that stand first, newest first, at most 100."""
    return run_query(vault, lambda index: facts_with_prefix(index, prefix, MOST))


def entity_candidates(vault: Vault, prefix: str) -> list[str]:
    """The entities whose name begins so."""
    return [name for name in run_query(vault, entity_names) if name.startswith(prefix)]


def category_candidates(vault: Vault, prefix: str) -> list[str]:
    """The categories in use that begin so and are one word."""
    names = run_query(vault, categories)
    return [name for name in names if name.startswith(prefix) and not any(map(str.isspace, name))]


def agent_candidates(vault: Vault, prefix: str) -> list[str]:
    """The agents that have a folder in the vault and whose id begins so."""
    folder = vault.root / "agents"
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(prefix))
