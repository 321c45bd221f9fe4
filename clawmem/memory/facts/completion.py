"""What a word that is still being typed may become: ids, entities, agents and categories of the vault."""

from __future__ import annotations

import json

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entity_names
from clawmem.model.facts.fact import ACTIVE
from clawmem.vault.vault import Vault

MOST = 100


def fact_candidates(vault: Vault, prefix: str) -> list[tuple[str, str]]:
    """The ids that begin so, each with its statement: those that stand first, newest first, at most 100."""
    wanted = "SELECT id, line FROM fact WHERE id >= ? AND id < ? ORDER BY status != ?, n DESC LIMIT ?"
    bounds = (prefix, prefix + "\U0010ffff", ACTIVE, MOST)
    return run_query(
        vault,
        lambda index: [(one, json.loads(line)["fact"]) for one, line in index.database.execute(wanted, bounds)],
    )


def entity_candidates(vault: Vault, prefix: str) -> list[str]:
    """The entities whose name begins so."""
    return [name for name in run_query(vault, entity_names) if name.startswith(prefix)]


def category_candidates(vault: Vault, prefix: str) -> list[str]:
    """The categories in use that begin so and are one word."""
    wanted = "SELECT DISTINCT category FROM fact ORDER BY 1"
    rows = run_query(vault, lambda index: index.database.execute(wanted).fetchall())
    return [name for (name,) in rows if name.startswith(prefix) and not any(map(str.isspace, name))]


def agent_candidates(vault: Vault, prefix: str) -> list[str]:
    """The agents that have a folder in the vault and whose id begins so."""
    folder = vault.root / "agents"
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(prefix))
