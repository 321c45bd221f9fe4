"""Duplicate ids: ids in more than one file of facts, which only merges and copies by other tools cause."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.index.tables.store import Index
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.records.entity import name_of_path

_DUPLICATES = "SELECT id FROM fact GROUP BY id HAVING count(*) > 1"
_DUPLICATES_OF_ENTITY = (
    "SELECT id FROM fact AS one WHERE entity = ? AND EXISTS (SELECT 1 FROM fact WHERE id = one.id AND n != one.n)"
)


def duplicate_ids(index: Index, paths: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return duplicate ids with their entities. With `paths`, only ids in these files are checked."""
    if paths is None:
        rows = index.database.execute(_DUPLICATES).fetchall()
    else:
        names = {name_of_path(path) for path in paths if file_kind(path) is ITEMS_FILE} - {None}
        rows = [
            row
            for name in sorted(filter(None, names))
            for row in index.database.execute(_DUPLICATES_OF_ENTITY, (name,))
        ]
    return {fact_id: _entities(index, fact_id) for (fact_id,) in rows}


def _entities(index: Index, fact_id: str) -> tuple[str, ...]:
    rows = index.database.execute("SELECT entity FROM fact WHERE id = ? ORDER BY entity", (fact_id,))
    return tuple(entity for (entity,) in rows)
