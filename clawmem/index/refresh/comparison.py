"""Comparing two indexes in everything that a reader can see: rows without their numbers, and every word of every
text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from clawmem.index.refresh.refresh import FOLDERS, look_outside
from clawmem.index.tables.intake import take_in
from clawmem.index.tables.schema import FACT_WORDS, SPOKEN_WORDS
from clawmem.index.tables.store import Index, create_temporary
from clawmem.model.search.passage import SPREAD, row_of
from clawmem.vault.vault import Vault

_BATCH = 500
_ROWS = 10_000
_BYTES_BATCH = 4_000_000
# Filled in by the heartbeat, or different in every index.
_IGNORED = frozenset(("n", "last_n", "seal", "tokens", "exact", "verdict"))
_BITS = (1 << 64) - 1


def build_reference_index(vault: Vault, commit: str) -> Index:
    """Build the correct index of a commit. Every object of it is checked. Runs git."""
    index = create_temporary(vault)
    with index.writing():
        for paths in _batches(vault.blobs_at(commit, *FOLDERS)):
            take_in(index, vault.contents_at(commit, paths))
        look_outside(vault, index, commit)
    return index


def _batches(sizes: Mapping[str, tuple[str, int]]) -> Iterator[list[str]]:
    """Yield the paths in order, in batches limited by number and by bytes."""
    paths, size = list[str](), 0
    for path, (_, bytes_) in sizes.items():
        if paths and (len(paths) == _BATCH or size + bytes_ > _BYTES_BATCH):
            yield paths
            paths, size = [], 0
        paths.append(path)
        size += bytes_
    if paths:
        yield paths


def find_difference(index: Index, other: Index) -> str | None:
    """Return the first difference of two indexes in words, or None. Words need FTS5; `meta` is left out."""
    mine, yours = _tables(index), _tables(other)
    for table in sorted({*mine, *yours}):
        if mine.get(table) != yours.get(table) or _digest(index, table) != _digest(other, table):
            return f"its table of {table} differs"
    if index.engine.name != "fts5" or other.engine.name != "fts5":
        return None
    for table in (FACT_WORDS, SPOKEN_WORDS):
        if _words(index, table) != _words(other, table):
            return f"keyword search has other {table}"
    return None


def _tables(index: Index) -> dict[str, tuple[str, ...]]:
    """Return the compared columns of each table."""
    names = [row[0] for row in index.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    kept = [name for name in names if not name.startswith((FACT_WORDS, SPOKEN_WORDS, "sqlite_")) and name != "meta"]
    tables = {}
    for name in kept:
        columns = [row[1] for row in index.database.execute(f"PRAGMA table_info({name})")]
        tables[name] = tuple(column for column in columns if column not in _IGNORED)
    return {**tables, "total": ("facts",)}


def _digest(index: Index, table: str) -> int:
    columns = ", ".join(f"{table}.{name}" for name in _tables(index)[table])
    query = f"SELECT {columns} FROM {table}"
    if table == "edge":
        query = "SELECT fact.id, fact.entity, kind, target FROM edge LEFT JOIN fact USING (n)"
    return _sum(index.database.execute(query))


def _words(index: Index, table: str) -> int:
    """Return a digest of every occurrence of every word: the text and the position in it."""
    names = _names(index, table)
    database = index.database
    database.execute(f"CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, {table}, instance)")
    try:
        rows = database.execute("SELECT term, doc, offset FROM temp.places")
        return _sum((term, names.get(doc), at) for term, doc, at in rows)
    finally:
        database.execute("DROP TABLE temp.places")


def _names(index: Index, table: str) -> Mapping[int, int]:
    """Return a hash for each text that is the same in any index."""
    execute = index.database.execute
    if table == FACT_WORDS:
        return {n: hash((entity, fact_id)) for n, entity, fact_id in execute("SELECT n, entity, id FROM fact")}
    names = {n: hash((day, event)) for n, day, event in execute("SELECT n, day, id FROM event")}
    names.update((-n, hash((path, place))) for n, path, place in execute("SELECT n, path, place FROM note"))
    pieces = execute(f"SELECT id FROM {table}_docsize")
    return {piece: hash((names.get(row_of(piece)), abs(piece) % SPREAD)) for (piece,) in pieces}


def _sum(rows: Iterable[tuple[object, ...]]) -> int:
    """Return a digest of a set of rows in any order, with constant memory. Duplicate rows count twice."""
    hashes, total, count = map(hash, rows), 0, 0
    while batch := list(islice(hashes, _ROWS)):
        total, count = total + sum(batch), count + len(batch)
    return ((total & _BITS) << 64) | count
