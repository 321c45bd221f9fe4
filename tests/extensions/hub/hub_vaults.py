"""Vaults, members and facts of an organisation at a real hub, put there as a worker and an operator would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clawmem.extensions.hub.postgres.connect import connect
from tests.extensions.hub.postgres.hubs import make_worker, verified, work
from tests.extensions.hub.postgres.server import ORG, Database

READ, PROMOTE, REVIEW = "read", "promote", "review"


class Hub:
    """The organisation `acme` in the database of a test."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self._folder = database, folder
        make_worker(database)

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
            owner.execute(f'CREATE ROLE "{role}" LOGIN IN ROLE clawmem_member')
            owner.execute("INSERT INTO account (role_name, org) VALUES (%s, %s)", (role, ORG))
            for scope, may in rights.items():
                owner.execute("INSERT INTO member VALUES (%s, %s, %s, %s)", (ORG, role, scope, [READ, *may]))
        return self.url(role)

    def take_in(self, name: str, scope: str, root: Path) -> None:
        """Add a vault under a name, if it is new, and let a worker look at every vault."""
        self.as_owner(
            "INSERT INTO vault (org, vault, address, scope) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            ORG,
            name,
            str(root),
            scope,
        )
        work(self.database, self._folder)
        verified(self.database)

    def _run(self, role: str, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with connect(self.database.address(role)) as connection:
            cursor = connection.execute(sql, values)
            return cursor.fetchall() if cursor.description else []
