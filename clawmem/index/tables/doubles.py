"""Ids that stand in more than one file of facts, which nothing but a merge or a copy by other means brings about."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.index.tables.store import Index
from clawmem.model.records.entity import ITEMS, name_of_path

_DOUBLED = "SELECT id FROM fact GROUP BY id HAVING count(*) > 1"
_AMONG = "SELECT id FROM fact AS one WHERE entity = ? AND EXISTS (SELECT 1 FROM fact WHERE id = one.id AND n != one.n)"


def duplicate_ids(index: Index, paths: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Ids with the entities they stand in, of those that stand in several; only ids of some files where `paths` says
    which."""
    if paths is None:
        rows = index.database.execute(_DOUBLED).fetchall()
    else:
        names = {name_of_path(path) for path in paths if path.endswith(f"/{ITEMS}")} - {None}
        rows = [row for name in sorted(filter(None, names)) for row in index.database.execute(_AMONG, (name,))]
    return {fact_id: _entities(index, fact_id) for (fact_id,) in rows}


def _entities(index: Index, fact_id: str) -> tuple[str, ...]:
    rows = index.database.execute("SELECT entity FROM fact WHERE id = ? ORDER BY entity", (fact_id,))
    return tuple(entity for (entity,) in rows)
