"""Keeping the index in step with HEAD: from what changed between two commits, or from everything."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import NamedTuple, TypeVar

from clawmem.errors import ClawmemError, Locked
from clawmem.index.tables.store import (
    UNREADABLE,
    Index,
    activate_store,
    create_in_memory,
    create_store,
    delete_store,
    open_store,
)
from clawmem.vault.vault import Vault

FOLDERS = ("life", "agents", "ledger", "daily", "review", "MEMORY.md")
# The index's note that ids stand in several files, empty where none does.
HAS_DUPLICATES = "doubled"
_BATCH = 500
_BUILD_SECONDS = 120.0
_Answer = TypeVar("_Answer")


def run_query(vault: Vault, act: Callable[[Index], _Answer], *, one_state: bool = True) -> _Answer:
    """What an act that only reads makes of the index, once more on a new index where the old one turns out to be
    damaged. All of it sees `one_state`, unless it reads other things as well and takes long: a writer would wait."""
    index = open_index(vault)
    try:
        with index.snapshot() if one_state else nullcontext():
            return act(index)
    except (ClawmemError, OSError):
        raise
    except Exception as problem:
        if not is_index_damage(index, problem):
            raise
        index.close()
        index = rebuild(vault)
        return act(index)
    finally:
        index.close()


def open_index(vault: Vault) -> Index:
    """The index at HEAD, brought up to date or built anew as needed."""
    return _current(vault) or _build(vault, forced=False)


def rebuild(vault: Vault) -> Index:
    """A new index from everything in HEAD."""
    return _build(vault, forced=True)


def apply_commit(vault: Vault, index: Index, contents: Mapping[str, bytes | None], commit: str | None = None) -> None:
    """Take in a change that was just committed, whose final contents the caller has at hand.

    `commit` is its name (HEAD where it is left out). Where another process has moved the index since it was
    opened here, git is asked what changed instead.
    """
    head = commit or vault.head().commit
    if head is None:
        return
    with index.writing():
        if index.head() == index.at:
            _take_in(index, contents)
            index.set_head(head)
            return
    _catch_up(vault, index)


class HeadChange(NamedTuple):
    """A way that HEAD went, and what the files that changed on it hold since (None: they are gone)."""

    old: str
    new: str
    contents: Mapping[str, bytes | None]


def follow_head(vault: Vault, steps: Iterable[HeadChange]) -> bool:
    """Bring the index to HEAD: by the steps whose beginning it stands at, for the rest by git's account. Tells whether
    ids stand in several files."""
    index = open_store(vault)
    if index is not None:
        try:
            for step in steps:
                index.at = step.old
                if index.head() == step.old:
                    apply_commit(vault, index, step.contents, step.new)
                    record_duplicates(index, step.contents)
            with index.writing():
                _look_outside(vault, index)
        except UNREADABLE:
            pass  # a damaged one is met, and built anew, by who opens it
        finally:
            index.close()
    index = open_index(vault)
    try:
        return bool(index.meta(HAS_DUPLICATES))
    finally:
        index.close()


def preload_intake() -> None:
    """Import what taking in a change needs, so that it can be done while git is at work."""
    import clawmem.index.tables.intake  # noqa: F401 - for its side effect of being there


def _current(vault: Vault) -> Index | None:
    index = open_store(vault)
    if index is None:
        return None
    try:
        index.at = index.head()
        head = vault.head().commit
        if head is None or index.at == head or _catch_up(vault, index):
            return index
    except UNREADABLE:
        pass
    index.close()
    return None


def is_index_damage(index: Index, problem: Exception) -> bool:
    """Whether an act failed because of its index: SQLite says so, or a byte of it is not what was written."""
    if isinstance(problem, UNREADABLE):
        return True
    from clawmem.index.tables.seals import is_intact  # reads all of it

    return not is_intact(index.database)


def _catch_up(vault: Vault, index: Index) -> bool:
    """Bring the index to HEAD by git's account of what changed; False where git does not know the index's commit."""
    with index.writing():
        # Read under the lock: another process may have been faster, and a head read before would lead back.
        old, head = index.head(), vault.head().commit
        if head is None or old == head:
            index.at = old
            return True
        changed = vault.changed_paths_or_none(old, head) if old else None
        if changed is None:
            return False
        _take_in_paths(vault, index, head, changed)
        record_duplicates(index, changed)
        _look_outside(vault, index)
        index.set_head(head)
    return True


def refresh_outside_facts(vault: Vault) -> None:
    """Judge anew what came from outside, where what is accepted here has changed."""
    index = open_index(vault)
    try:
        with index.writing():
            _look_outside(vault, index)
    finally:
        index.close()


def _look_outside(vault: Vault, index: Index) -> None:
    from clawmem.index.refresh.outside import update_stakes

    changed = update_stakes(vault, index)
    if changed:
        from clawmem.index.tables.intake import take_in_again

        take_in_again(index, changed)


def _build(vault: Vault, forced: bool) -> Index:
    from clawmem.vault.lock import writer_lock

    try:
        vault.prepare_state()
        with writer_lock(vault.state / "index.lock", _BUILD_SECONDS, "building the index"):
            # Whoever waited for another process's new index takes that one.
            return (None if forced else _current(vault)) or _build_file(vault, forced)
    except (OSError, sqlite3.DatabaseError, Locked) as problem:
        index = create_in_memory(vault, f"it cannot be kept ({problem})")
        forced = forced or isinstance(problem, sqlite3.DatabaseError)
    _fill(vault, index, forced)
    return index


def _build_file(vault: Vault, forced: bool) -> Index:
    import os
    import time

    name = f"{time.time_ns():x}-{os.getpid():x}"
    index = create_store(vault, name)
    try:
        _fill(vault, index, forced)
        activate_store(vault, index, name)
    except BaseException:
        index.close()
        delete_store(vault, name)
        raise
    return index


def _fill(vault: Vault, index: Index, afresh: bool) -> None:
    """Take everything in; `afresh` trusts nothing that was taken in before."""
    head = vault.head().commit
    if head is None:
        return
    if vault.present is not None and not afresh and _fill_from(vault.present, vault, index, head):
        return
    with index.writing():
        _take_in_paths(vault, index, head, vault.files_at(head, *FOLDERS))
        record_duplicates(index)
        _look_outside(vault, index)
        index.set_head(head)


def _fill_from(present: Vault, vault: Vault, index: Index, head: str) -> bool:
    from clawmem.index.refresh.past import copy_present_index  # only for a look at the past

    return copy_present_index(present, index, head, FOLDERS) and _catch_up(vault, index)


def _take_in_paths(vault: Vault, index: Index, head: str, changed: list[str]) -> None:
    from clawmem.index.tables.intake import is_indexed

    paths = [path for path in changed if is_indexed(path)]
    for start in range(0, len(paths), _BATCH):
        _take_in(index, vault.contents_at(head, paths[start : start + _BATCH]))


def record_duplicates(index: Index, paths: Iterable[str] | None = None) -> None:
    """Note whether an id stands in several files, as after a merge or a copy that clawmem did not make: the next writer
    unites them. Only the facts of some files are looked at where these alone changed since nothing was noted."""
    from clawmem.index.tables.doubles import duplicate_ids

    known = None if index.meta(HAS_DUPLICATES) else paths
    index.set_meta(HAS_DUPLICATES, "1" if duplicate_ids(index, known) else "")


def _take_in(index: Index, contents: Mapping[str, bytes | None]) -> None:
    from clawmem.index.tables.intake import take_in  # a search finds the index up to date and needs none of it

    take_in(index, contents)
