"""Seals of rows: SQLite does not notice a byte that the disk altered within a page, so each row of facts can tell."""

from __future__ import annotations

import sqlite3

from clawmem.model.seal import seal


class RowDamaged(sqlite3.DatabaseError):
    """A row of the index is not what was written; the index must be built anew."""


def check_row(n: int, entity: str, line: str, given: int) -> None:
    """Raise RowDamaged where a fact's row does not have its seal."""
    if seal(n, entity, line) != given:
        raise RowDamaged(f"row {n} of the index is damaged")


def check_total(database: sqlite3.Connection) -> None:
    """Raise RowDamaged where rows of facts are missing, or are there that should not be."""
    found = database.execute("SELECT count(*), coalesce(sum(seal), 0) FROM fact").fetchone()
    if found != database.execute("SELECT facts, seals FROM total").fetchone():
        raise RowDamaged("rows of the index are missing")
