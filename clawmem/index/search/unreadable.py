"""Committed files that nobody can read: what an answer may lack because of them, and how that is said.

Every row that is told is held against its seal; RowDamaged says that it is not what was written.
"""

from collections.abc import Collection

from clawmem.errors import IncompleteAnswer, PossiblyUnreadable
from clawmem.index.tables.seals import check_broken
from clawmem.index.tables.store import Index
from clawmem.model.records.entity import ITEMS, name_of_path, owner_of


def broken_files(index: Index) -> list[tuple[str, str]]:
    """The committed files that could not be read, and why."""
    rows = index.database.execute("SELECT path, problem, seal FROM broken ORDER BY path").fetchall()
    for row in rows:
        check_broken(*row)
    return [(path, problem) for path, problem, _ in rows]


def unreadable_fact_files(index: Index, entity: str | None = None) -> list[str]:
    """The committed files of facts, of one entity or of all, that could not be read."""
    files = ((path, name_of_path(path)) for path, _ in broken_files(index) if path.endswith(f"/{ITEMS}"))
    return [path for path, name in files if name and entity in (None, name)]


def refuse_if_unreadable(index: Index, what: str) -> None:
    """Raise MaybeUnread where there are facts that could not be read, so that `what` may be among them."""
    if files := unreadable_fact_files(index):
        raise PossiblyUnreadable(what, files[0])


def unreadable_notices(
    index: Index, entity: str | None = None, owners: Collection[str] | None = None, facts: bool = True
) -> list[str]:
    """A sentence for each committed file that could not be read: Lacking where it can hold some of what was asked for,
    facts of an `entity` and of `owners` ('' is the vault's own; None: any), or with `facts` off all there is."""
    told = []
    for path, problem in broken_files(index):
        name = name_of_path(path)
        asked = entity in (None, name) and (owners is None or (owner_of(name or "") or "") in owners)
        lacking = asked and (not facts or path.endswith(f"/{ITEMS}"))
        sentence = f"not searched: {problem} `clawmem doctor` says how to bring it back."
        told.append(IncompleteAnswer(sentence) if lacking else sentence)
    return told
