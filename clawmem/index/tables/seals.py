"""Seals of rows: SQLite does not notice a byte that the disk altered within a page, so each row that is told can."""

from __future__ import annotations

import sqlite3

from clawmem.model.records.seal import checksum


class RowDamaged(sqlite3.DatabaseError):
    """A row of the index is not what was written; the index must be built anew."""


def check_row(n: int, entity: str, line: str, given: int) -> None:
    """Raise RowDamaged where a fact's row does not have its seal."""
    if checksum(n, entity, line) != given:
        raise RowDamaged(f"row {n} of the index is damaged")


def event_seal(n: int, event_id: str, day: str, line: str) -> int:
    """The seal of an event's row."""
    return checksum(n, event_id, day, line)


def check_event(n: int, event_id: str, day: str, line: str, given: int) -> None:
    """Raise RowDamaged where an event's row does not have its seal."""
    if event_seal(n, event_id, day, line) != given:
        raise RowDamaged(f"row {n} of the events in the index is damaged")


def check_outside(fact_id: str, stake: str, given: int) -> None:
    """Raise RowDamaged where the row of a fact that came from outside does not have its seal."""
    if checksum(fact_id, stake) != given:
        raise RowDamaged(f"the row of {fact_id} among the facts from outside is damaged")


def note_seal(n: int, path: str, place: int, day: str | None, owner: str, text: str) -> int:
    """The seal of the row of a note's line."""
    return checksum(n, path, place, day, owner, text)


def check_note(n: int, path: str, place: int, day: str | None, owner: str, text: str, given: int) -> None:
    """Raise RowDamaged where the row of a note's line does not have its seal."""
    if note_seal(n, path, place, day, owner, text) != given:
        raise RowDamaged(f"row {n} of the notes in the index is damaged")


def check_entity(name: str, title: str, kind: str, aliases: str, given: int) -> None:
    """Raise RowDamaged where an entity's row does not have its seal."""
    if checksum(name, title, kind, aliases) != given:
        raise RowDamaged(f"the row of {name} in the index is damaged")


def check_alias(alias: str, name: str, given: int) -> None:
    """Raise RowDamaged where a row that says what an entity goes by does not have its seal."""
    if checksum(alias, name) != given:
        raise RowDamaged(f"a row of what {name} goes by in the index is damaged")


def check_dispute(path: str, target: str, says: str, given: int) -> None:
    """Raise RowDamaged where a row about a fact in question does not have its seal."""
    if checksum(path, target, says) != given:
        raise RowDamaged(f"a row about {path} in the index is damaged")


def check_broken(path: str, problem: str, given: int) -> None:
    """Raise RowDamaged where a row about a file that cannot be read does not have its seal."""
    if checksum(path, problem) != given:
        raise RowDamaged(f"a row about {path} in the index is damaged")


def is_whole(database: sqlite3.Connection) -> bool:
    """Whether SQLite finds its file in order and every row has its seal. Reads all of it."""
    try:
        for row in database.execute("SELECT n, entity, line, seal FROM fact"):
            check_row(*row)
        check_total(database)
        check_passages(database)
        return bool(database.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except Exception:  # noqa: BLE001 - whatever reading it raises, it is not whole
        return False


def check_total(database: sqlite3.Connection) -> None:
    """Raise RowDamaged where rows of facts are missing, or are there that should not be."""
    found = database.execute("SELECT count(*), coalesce(sum(seal), 0) FROM fact").fetchone()
    if found != database.execute("SELECT facts, seals FROM total").fetchone():
        raise RowDamaged("rows of the index are missing")


def check_passages(database: sqlite3.Connection) -> None:
    """Raise RowDamaged where a row of an event, a note, an entity, an alias, a fact in question or a file that cannot
    be read is not what was written."""
    for row in database.execute("SELECT n, id, day, line, seal FROM event"):
        check_event(*row)
    for row in database.execute("SELECT n, path, place, day, owner, text, seal FROM note"):
        check_note(*row)
    for row in database.execute("SELECT name, title, kind, aliases, seal FROM entity"):
        check_entity(*row)
    for row in database.execute("SELECT alias, name, seal FROM alias"):
        check_alias(*row)
    for row in database.execute("SELECT path, target, says, seal FROM dispute"):
        check_dispute(*row)
    for row in database.execute("SELECT path, problem, seal FROM broken"):
        check_broken(*row)
