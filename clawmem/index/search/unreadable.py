"""Committed files that cannot be read: what an answer may lack because of them, and the notices about it.

Every row that is returned is checked against its seal. RowDamaged is raised if it does not match.
"""

from collections.abc import Collection

from clawmem.errors import IncompleteAnswer, PossiblyUnreadable
from clawmem.index.tables.seals import check_broken
from clawmem.index.tables.store import Index
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.records.entity import name_of_path, owner_of


def broken_files(index: Index) -> list[tuple[str, str]]:
    """Return the committed files that cannot be read, with the reason."""
    rows = index.database.execute("SELECT path, problem, seal FROM broken ORDER BY path").fetchall()
    for row in rows:
        check_broken(*row)
    return [(path, problem) for path, problem, _ in rows]


def unreadable_fact_files(index: Index, entity: str | None = None) -> list[str]:
    """Return the committed files of facts, of one entity or of all, that cannot be read."""
    files = ((path, name_of_path(path)) for path, _ in broken_files(index) if file_kind(path) is ITEMS_FILE)
    return [path for path, name in files if name and entity in (None, name)]


def refuse_if_unreadable(index: Index, what: str) -> None:
    """Raise PossiblyUnreadable if there are unreadable facts, so that `what` may be among them."""
    if files := unreadable_fact_files(index):
        raise PossiblyUnreadable(what, files[0])


def unreadable_notices(
    index: Index, entity: str | None = None, owners: Collection[str] | None = None, facts: bool = True
) -> list[str]:
    """Return a sentence for each committed file that cannot be read.

    It is an IncompleteAnswer if the file may contain some of what was asked for: facts of `entity` and of `owners` (''
    is the global memory; None: any). With `facts` off, any file counts.
    """
    notices = []
    for path, problem in broken_files(index):
        name = name_of_path(path)
        asked = entity in (None, name) and (owners is None or (owner_of(name or "") or "") in owners)
        lacking = asked and (not facts or file_kind(path) is ITEMS_FILE)
        sentence = f"not searched: {problem} `clawmem doctor` says how to restore it."
        notices.append(IncompleteAnswer(sentence) if lacking else sentence)
    return notices
