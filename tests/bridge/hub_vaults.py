"""Vaults, members and facts of an organisation at a real hub, put there as a worker and an operator would."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.index.hub.connect import connect
from clawmem.model.facts.codec import fact_to_record, parse_items_with_lines
from clawmem.model.records.entity import name_of_path
from tests.hub.server import ORG, Database

if TYPE_CHECKING:
    from clawmem.index.hub.connect import HubConnection

READ, PROMOTE, REVIEW = "read", "promote", "review"


class Hub:
    """The organisation `acme` in the database of a test."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def url(self, role: str) -> str:
        """Return the address of the hub for a role."""
        return self.database.url(role)

    def as_owner(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement as the owner of the schema."""
        return self._run("hub_owner", sql, values)

    def as_role(self, role: str, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement as a role."""
        return self._run(role, sql, values)

    def review(self, wanted: bool) -> None:
        """Set whether promotions wait for a person."""
        self.as_owner("UPDATE organisation SET review = %s WHERE org = %s", wanted, ORG)

    def scope(self, *names: str) -> None:
        """Add scopes of teams."""
        for name in names:
            self.as_owner("INSERT INTO scope VALUES (%s, %s, 'team')", ORG, name)

    def member(self, role: str, rights: Mapping[str, Sequence[str]]) -> str:
        """Add a login role with rights by scope, and return its address."""
        with connect(self.database.address()) as owner:
            owner.execute(f'CREATE ROLE "{role}" LOGIN IN ROLE clawmem_member')  # type: ignore[arg-type]
            owner.execute("INSERT INTO account (role_name, org) VALUES (%s, %s)", (role, ORG))
            for scope, may in rights.items():
                owner.execute("INSERT INTO member VALUES (%s, %s, %s, %s)", (ORG, role, scope, [READ, *may]))
        return self.url(role)

    def take_in(self, name: str, scope: str, root: Path) -> None:
        """Make the hub have the commits and the present facts of a vault, as a worker does."""
        commits = _git(root, "rev-list", "--reverse", "HEAD").split()
        author, head = "Ada Person <ada@example.org>", commits[-1]
        with connect(self.database.address()) as owner:
            owner.execute(
                "INSERT INTO vault (org, vault, address, scope) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (ORG, name, str(root), scope),
            )
            owner.execute(
                "UPDATE vault SET head = %s, taken_at = now() WHERE org = %s AND vault = %s", (head, ORG, name)
            )
            owner.execute("DELETE FROM taken_commit WHERE org = %s AND vault = %s", (ORG, name))
            for position, commit in enumerate(commits, 1):
                owner.execute(
                    "INSERT INTO taken_commit VALUES (%s, %s, %s, %s, NULL, now(), %s, 'x')",
                    (ORG, name, commit, position, author),
                )
            for path in sorted((root / "life").rglob("items.json")):
                relative = path.relative_to(root).as_posix()
                for line, fact in parse_items_with_lines(path.read_bytes(), relative):
                    if fact.source.startswith("organisation:"):
                        continue
                    _put(owner, name, scope, relative, line, head, author, fact_to_record(fact))

    def _run(self, role: str, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with connect(self.database.address(role)) as connection:
            done = connection.execute(sql, values)  # type: ignore[arg-type]
            return done.fetchall() if done.description else []


def _put(
    owner: HubConnection, vault: str, scope: str, path: str, line: int, commit: str, author: str, record: dict[str, Any]
) -> None:
    row = {
        "org": ORG,
        "vault": vault,
        "id": record["id"],
        "scope": scope,
        "scopes": [scope],
        "entity": name_of_path(path),
        "claim": record["fact"],
        "category": record["category"],
        "status": record["status"],
        "confidence": record.get("confidence"),
        "trust": record.get("trust"),
        "timestamp": record["timestamp"],
        "source": record["source"],
        "author": author,
        "commit": commit,
        "path": path,
        "line": line,
        "recorded_at": record["timestamp"],
        "record": json.dumps(record),
    }
    changed = ", ".join(f"{name} = excluded.{name}" for name in ("claim", "status", "record", "commit", "line"))
    owner.execute(
        f"INSERT INTO fact ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})"  # type: ignore[arg-type]
        f" ON CONFLICT (org, vault, id) DO UPDATE SET {changed}",
        list(row.values()),
    )


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout
