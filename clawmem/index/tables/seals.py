"""Checksums of rows. SQLite does not notice a byte that the disk altered within a page; the seal of a row does."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from clawmem.model.records.seal import checksum

if TYPE_CHECKING:
    from clawmem.index.tables.store import Index


class RowDamaged(sqlite3.DatabaseError):
    """A row of the index is not what was written; the index must be rebuilt."""


def check_row(n: int, entity: str, line: str, number: int) -> None:
    """Raise RowDamaged if the row of a fact does not match its seal."""
    if checksum(n, entity, line) != number:
        raise RowDamaged(f"row {n} of the index is damaged")


def event_seal(n: int, event_id: str, day: str, line: str) -> int:
    """Return the seal of an event's row."""
    return checksum(n, event_id, day, line)


def check_event(n: int, event_id: str, day: str, line: str, number: int) -> None:
    """Raise RowDamaged if the row of an event does not match its seal."""
    if event_seal(n, event_id, day, line) != number:
        raise RowDamaged(f"row {n} of the events in the index is damaged")


def check_outside(fact_id: str, stake: str, number: int) -> None:
    """Raise RowDamaged if the row of a fact from outside does not match its seal."""
    if checksum(fact_id, stake) != number:
        raise RowDamaged(f"the row of {fact_id} among the facts from outside is damaged")


def note_seal(n: int, path: str, place: int, day: str | None, owner: str, text: str) -> int:
    """Return the seal of a note line's row."""
    return checksum(n, path, place, day, owner, text)


def check_note(n: int, path: str, place: int, day: str | None, owner: str, text: str, number: int) -> None:
    """Raise RowDamaged if the row of a note line does not match its seal."""
    if note_seal(n, path, place, day, owner, text) != number:
        raise RowDamaged(f"row {n} of the notes in the index is damaged")


def check_entity(name: str, title: str, kind: str, aliases: str, number: int) -> None:
    """Raise RowDamaged if the row of an entity does not match its seal."""
    if checksum(name, title, kind, aliases) != number:
        raise RowDamaged(f"the row of {name} in the index is damaged")


def check_alias(alias: str, name: str, number: int) -> None:
    """Raise RowDamaged if the row of an alias does not match its seal."""
    if checksum(alias, name) != number:
        raise RowDamaged(f"a row with an alias of {name} in the index is damaged")


def check_dispute(path: str, target: str, says: str, number: int) -> None:
    """Raise RowDamaged if the row of a disputed fact does not match its seal."""
    if checksum(path, target, says) != number:
        raise RowDamaged(f"a row about {path} in the index is damaged")


def check_broken(path: str, problem: str, number: int) -> None:
    """Raise RowDamaged if the row of an unreadable file does not match its seal."""
    if checksum(path, problem) != number:
        raise RowDamaged(f"a row about {path} in the index is damaged")


def is_intact(index: Index) -> bool:
    """Return whether SQLite finds its file valid and every row matches its seal. Reads everything."""
    try:
        for row in index.database.execute("SELECT n, entity, line, seal FROM fact"):
            check_row(*row)
        check_total(index)
        check_passages(index)
        return bool(index.database.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except Exception:  # noqa: BLE001 - any error means that it is not intact
        return False


def check_total(index: Index) -> None:
    """Raise RowDamaged if rows of facts are missing or superfluous."""
    found = index.database.execute("SELECT count(*), coalesce(sum(seal), 0) FROM fact").fetchone()
    if found != index.database.execute("SELECT facts, seals FROM total").fetchone():
        raise RowDamaged("rows of the index are missing")


def check_passages(index: Index) -> None:
    """Raise RowDamaged if a row of any table other than `fact` does not match its seal."""
    for row in index.database.execute("SELECT n, id, day, line, seal FROM event"):
        check_event(*row)
    for row in index.database.execute("SELECT n, path, place, day, owner, text, seal FROM note"):
        check_note(*row)
    for row in index.database.execute("SELECT name, title, kind, aliases, seal FROM entity"):
        check_entity(*row)
    for row in index.database.execute("SELECT alias, name, seal FROM alias"):
        check_alias(*row)
    for row in index.database.execute("SELECT path, target, says, seal FROM dispute"):
        check_dispute(*row)
    for row in index.database.execute("SELECT path, problem, seal FROM broken"):
        check_broken(*row)
