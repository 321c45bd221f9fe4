"""Rows of the hub's tables for tests of what reads them: facts as a worker stores them, without a vault."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import psycopg

from clawmem.model.facts.codec import fact_to_record
from clawmem.model.facts.fact import Fact

ORG = "acme"


def add_scope(hub: psycopg.Connection[Any], scope: str, *vaults: str) -> None:
    """Add a scope of a team with some vaults."""
    hub.execute("INSERT INTO clawmem.scope VALUES (%s, %s, 'team')", (ORG, scope))
    for vault in vaults:
        hub.execute(
            "INSERT INTO clawmem.vault (org, vault, address, scope) VALUES (%s, %s, %s, %s)",
            (ORG, vault, f"/vaults/{vault}", scope),
        )


def add_facts(hub: psycopg.Connection[Any], vault: str, scope: str, placed: Iterable[tuple[str, Fact]]) -> None:
    """Add facts of a vault, each with its entity."""
    rows = [_row(vault, scope, line, entity, fact) for line, (entity, fact) in enumerate(placed, 1)]
    columns = ", ".join(rows[0])
    hub.execute(
        f"INSERT INTO clawmem.fact ({columns}) SELECT {columns}"
        " FROM jsonb_populate_recordset(NULL::clawmem.fact, %s::jsonb)",
        (json.dumps(rows),),
    )


def _row(vault: str, scope: str, line: int, entity: str, fact: Fact) -> Mapping[str, Any]:
    return {
        "org": ORG,
        "vault": vault,
        "id": fact.id,
        "scope": scope,
        "scopes": [scope],
        "entity": entity,
        "claim": fact.fact,
        "category": fact.category,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "status": fact.status,
        "timestamp": fact.timestamp,
        "source": fact.source,
        "tags": [],
        "author": "Jane <jane@example.org>",
        "commit": "c" * 40,
        "path": f"{entity}/items.json",
        "line": line,
        "recorded_at": fact.timestamp,
        "record": fact_to_record(fact),
    }


def add_member(hub: psycopg.Connection[Any], role: str, *scopes: str) -> None:
    """Make a login role that reads some scopes."""
    hub.execute(f'CREATE ROLE "{role}" LOGIN IN ROLE clawmem_member')
    hub.execute("INSERT INTO clawmem.account VALUES (%s, %s)", (role, ORG))
    for scope in scopes:
        hub.execute("INSERT INTO clawmem.member (org, role_name, scope) VALUES (%s, %s, %s)", (ORG, role, scope))
