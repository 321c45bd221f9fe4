"""What a word that is still being typed may become: ids, entities, agents and categories of the vault."""

from __future__ import annotations

import json

from clawmem.index.lookup import entity_names
from clawmem.index.refresh import open_index
from clawmem.model.fact import ACTIVE
from clawmem.vault.vault import Vault

MOST = 100


def fact_candidates(vault: Vault, prefix: str) -> list[tuple[str, str]]:
    """The ids that begin so, each with its statement: those that stand first, newest first, at most 100."""
    index = open_index(vault)
    try:
        rows = index.database.execute(
            "SELECT id, line FROM fact WHERE id >= ? AND id < ? ORDER BY status != ?, n DESC LIMIT ?",
            (prefix, prefix + "\U0010ffff", ACTIVE, MOST),
        ).fetchall()
    finally:
        index.close()
    return [(fact_id, json.loads(line)["fact"]) for fact_id, line in rows]


def entity_candidates(vault: Vault, prefix: str) -> list[str]:
    """The entities whose name begins so."""
    index = open_index(vault)
    try:
        return [name for name in entity_names(index) if name.startswith(prefix)]
    finally:
        index.close()


def category_candidates(vault: Vault, prefix: str) -> list[str]:
    """The categories in use that begin so and are one word."""
    index = open_index(vault)
    try:
        rows = index.database.execute("SELECT DISTINCT category FROM fact ORDER BY 1").fetchall()
    finally:
        index.close()
    return [name for (name,) in rows if name.startswith(prefix) and not any(map(str.isspace, name))]


def agent_candidates(vault: Vault, prefix: str) -> list[str]:
    """The agents that have a folder in the vault and whose id begins so."""
    folder = vault.root / "agents"
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(prefix))
