"""Updating the index to HEAD: from the changes between two commits, or from everything.

Facts with something at stake that came with a commit which is not accepted on this machine are found then, and stored
beside the index, where a rebuilt index finds them: see `model/proposals/quarantine.py`.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from clawmem.errors import ClawmemError, Locked
from clawmem.index.tables.fact_marks import stakes
from clawmem.index.tables.store import (
    UNREADABLE,
    Index,
    activate_store,
    create_in_memory,
    create_store,
    delete_store,
    duplicate_ids,
    open_store,
    put_back,
)
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import indexed_roots
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.quarantine import acceptance_checksum, stake_in
from clawmem.model.records.layout import ACCESS
from clawmem.model.records.strict_json import checksum
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress

FOLDERS = indexed_roots()
# Metadata key: not empty if an id occurs in several files.
HAS_DUPLICATES = "doubled"
_BATCH = 500
_BUILD_SECONDS = 120.0
# Copying a byte of the vault's files costs about a tenth of reading it.
_COPY = 0.1
_Answer = TypeVar("_Answer")


def run_query(vault: Vault, act: Callable[[Index], _Answer], *, one_state: bool = True) -> _Answer:
    """Run a read-only query on the index. If the index turns out to be damaged, rebuild it and run the query again.

    With `one_state` the query sees one state of the index. Switch it off for a query that takes long, because writers
    must wait for it.
    """
    index = open_index(vault)
    try:
        try:
            with index.snapshot() if one_state else nullcontext(), _for_viewer(vault, index):
                answer = act(index)
        except (ClawmemError, OSError):
            raise
        except Exception as problem:
            if not is_index_damage(index, problem):
                raise
            index.close()
            index = rebuild(vault)
            with _for_viewer(vault, index):
                answer = act(index)
    except BaseException:
        index.close()
        raise
    put_back(vault, index)
    return answer


def _for_viewer(vault: Vault, index: Index) -> AbstractContextManager[None]:
    if vault.viewer is None or not (vault.viewer.names or os.path.lexists((vault.present or vault).path(ACCESS))):
        return nullcontext()
    from clawmem.index.tables.rights import for_viewer  # only where somebody may not see everything

    return for_viewer(vault, index)


def open_index(vault: Vault) -> Index:
    """Return the index at HEAD, updated or rebuilt as needed."""
    return _current(vault) or _build(vault, forced=False)


def rebuild(vault: Vault, report: "OnProgress | None" = None) -> Index:
    """Return a new index, built from everything in HEAD. `report` gets the number of files that were read."""
    return _build(vault, forced=True, report=report)


class HeadChange(NamedTuple):
    """A move of HEAD from one commit to another, with the new contents of the changed files (None: deleted).

    `old` is None if it is not known, or the moves do not follow each other: somebody else committed between them."""

    old: str | None
    new: str
    contents: Mapping[str, bytes | None]


def apply_change(vault: Vault, index: Index, change: HeadChange) -> None:
    """Update the index with a change that was just committed and whose final contents the caller has.

    If the index is not at the commit that the change starts from, git is asked what changed instead.
    """
    with index.writing():
        if index.head() == change.old is not None:
            _take_in(index, change.contents)
            index.set_head(change.new)
            return
    _catch_up(vault, index)


def follow_head(vault: Vault, steps: Iterable[HeadChange]) -> bool:
    """Update the index to HEAD, by the given steps or by git. Return whether there are duplicate ids."""
    index = open_store(vault)
    if index is not None:
        try:
            for step in steps:
                apply_change(vault, index, step)
                record_duplicates(index, step.contents)
            with index.writing():
                look_outside(vault, index, index.head())
        except UNREADABLE:
            pass  # `open_index` rebuilds a damaged index
        finally:
            index.close()
    index = open_index(vault)
    try:
        return bool(index.meta(HAS_DUPLICATES))
    finally:
        index.close()


def preload_intake() -> None:
    """Import what indexing a change needs, while git is running."""
    import clawmem.index.tables.intake  # noqa: F401 - imported early, to be loaded when it is needed


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
    """Return whether a query failed because the index is damaged: by SQLite's error, or because a checksum is wrong."""
    if isinstance(problem, UNREADABLE):
        return True
    from clawmem.index.tables.schema import is_intact

    return not is_intact(index)


def _catch_up(vault: Vault, index: Index) -> bool:
    """Update the index to HEAD with git's list of changes. Return False if git lacks the commit of the index."""
    with index.writing():
        # Read HEAD under the lock: an earlier value could be older than the index of another process.
        old, head = index.head(), vault.head().commit
        if head is None or old == head:
            index.at = old
            return True
        changed = vault.changed_paths_or_none(old, head) if old else None
        if changed is None:
            return False
        _take_in_paths(vault, index, head, changed)
        record_duplicates(index, changed)
        look_outside(vault, index, head)
        index.set_head(head)
    return True


def refresh_outside_facts(vault: Vault) -> None:
    """Check again which facts came from outside, after the accepted authors or keys have changed."""
    index = open_index(vault)
    try:
        with index.writing():
            look_outside(vault, index, index.head())
    finally:
        index.close()


def look_outside(vault: Vault, index: Index, head: str | None) -> None:
    """Bring the facts of an index of `head` to how they are served, as far as they came from outside."""
    from clawmem.index.refresh import update_stakes

    changed = update_stakes(vault, index, head)
    if changed:
        from clawmem.index.tables.intake import take_in_again

        take_in_again(index, changed)


def _build(vault: Vault, forced: bool, report: "OnProgress | None" = None) -> Index:
    from clawmem.vault.disk import writer_lock

    try:
        vault.prepare_state()
        with writer_lock(vault.state / "index.lock", _BUILD_SECONDS, "building the index"):
            # After waiting for another process, use its new index.
            return (None if forced else _current(vault)) or _build_file(vault, forced, report)
    except (OSError, sqlite3.DatabaseError, Locked) as problem:
        index = create_in_memory(vault, f"it cannot be stored ({problem})")
        forced = forced or isinstance(problem, sqlite3.DatabaseError)
    _fill(vault, index, forced, report)
    return index


def _build_file(vault: Vault, forced: bool, report: "OnProgress | None") -> Index:
    import time

    name = f"{time.time_ns():x}-{os.getpid():x}"
    index = create_store(vault, name)
    try:
        _fill(vault, index, forced, report)
        activate_store(vault, index, name)
    except BaseException:
        index.close()
        delete_store(vault, name)
        raise
    return index


def _fill(vault: Vault, index: Index, afresh: bool, report: "OnProgress | None") -> None:
    """Index everything. With `afresh`, nothing that was indexed before is used."""
    head = vault.head().commit
    if head is None:
        return
    present = None if afresh else vault.present
    if present is not None and _copy_present_index(present, index, head) and _catch_up(vault, index):
        return
    with index.writing():
        _take_in_paths(vault, index, head, vault.files_at(head, *FOLDERS), report)
        record_duplicates(index)
        look_outside(vault, index, head)
        index.set_head(head)


def _copy_present_index(present: Vault, index: Index, commit: str) -> bool:
    """Fill the index of a past commit with a copy of the present one, which the caller then updates to the commit.

    Return False if there is no present index, or reading the whole commit is less work.
    """
    if index.engine.name != "fts5":
        return False
    source = open_store(present)
    if source is None:
        return False
    try:
        identity, head = index.meta("identity"), source.head()
        if source.engine.name != "fts5" or head is None or not _worth_it(present, head, commit):
            return False
        source.database.backup(index.database)
        index.set_meta("identity", identity or "")
        return True
    except sqlite3.OperationalError:
        return False  # a writer has locked it for too long
    finally:
        source.close()


def _worth_it(present: Vault, head: str, commit: str) -> bool:
    changed = present.changed_paths_or_none(head, commit)
    if changed is None:
        return False
    now, then = present.blobs_at(head, *FOLDERS), present.blobs_at(commit, *FOLDERS)
    work = sum(side.get(path, ("", 0))[1] for path in changed for side in (now, then))
    return work + _COPY * _bytes(now) < _bytes(then)


def _bytes(blobs: dict[str, tuple[str, int]]) -> int:
    return sum(size for _, size in blobs.values())


def _take_in_paths(
    vault: Vault, index: Index, head: str, changed: list[str], report: "OnProgress | None" = None
) -> None:
    from clawmem.index.tables.intake import is_indexed

    paths = [path for path in changed if is_indexed(path)]
    for start in range(0, len(paths), _BATCH):
        contents = vault.contents_at(head, paths[start : start + _BATCH])
        if report is None:
            _take_in(index, contents)
        else:
            _take_in_reported(index, contents, start, len(paths), report)


def _take_in_reported(
    index: Index, contents: Mapping[str, bytes | None], before: int, total: int, report: "OnProgress"
) -> None:
    from clawmem.model.progress import Progress

    for number, (path, data) in enumerate(contents.items(), before):
        report(Progress("reindex", number, total, "files"))
        _take_in(index, {path: data})
    report(Progress("reindex", before + len(contents), total, "files"))


def record_duplicates(index: Index, paths: Iterable[str] | None = None) -> None:
    """Record whether there are duplicate ids, as after a merge or copy that clawmem did not make. The next writer
    resolves them.

    If nothing was recorded so far, only the facts of `paths` are checked, because only these files have changed.
    """
    known = None if index.meta(HAS_DUPLICATES) else paths
    index.set_meta(HAS_DUPLICATES, "1" if duplicate_ids(index, known) else "")


def _take_in(index: Index, contents: Mapping[str, bytes | None]) -> None:
    from clawmem.index.tables.intake import take_in  # not needed if the index is up to date

    take_in(index, contents)


_KEPT = "outside.json"


def update_stakes(vault: Vault, index: Index, head: str | None) -> set[str]:
    """Check the commits that are new in `head`, the commit that the index describes, and store the result in the index,
    within its open transaction. The index of a past commit gets what is known at the present one.

    Return the ids of the facts whose rows must change.
    """
    here = vault.present or vault
    head = here.head().commit if vault.present else head
    known = _known(here, head)
    at, found = known if known else (None, {})
    if head is not None and at != head:
        found = {**found, **_found(here, at, head)}
        _keep(here, head, found)
    before = stakes(index)
    if before == found:
        return set()
    index.database.execute("DELETE FROM outside")
    rows = ((fact_id, stake, checksum(fact_id, stake)) for fact_id, stake in found.items())
    index.database.executemany("INSERT INTO outside VALUES (?, ?, ?)", rows)
    return {text for text in (*before, *found) if before.get(text) != found.get(text)}


def _found(vault: Vault, old: str | None, new: str) -> dict[str, str]:
    from clawmem.vault.state.own_commits import unaccepted_commits  # not needed by a search

    found = {}
    for commit in unaccepted_commits(vault, old, new):
        before = {(fact.id, stake, fact.fact) for fact, stake in _staked(commit.removed)}
        for fact, stake in _staked(commit.added):
            if (fact.id, stake, fact.fact) not in before:
                found[fact.id] = stake
    return found


def _staked(lines: tuple[str, ...]) -> Iterator[tuple[Fact, str]]:
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            fact = fact_from_record(json.loads(line.rstrip().removesuffix(",")))
        except (ValueError, TypeError, AttributeError, RecursionError, ClawmemError):
            continue  # readers of the file report the error
        stake = stake_in(fact)
        if stake:
            yield fact, stake


def _known(vault: Vault, head: str | None) -> tuple[str, dict[str, str]] | None:
    """Return the last checked commit and the facts found so far, or None to start again."""
    kept = vault.kept(_KEPT)
    try:
        at, by, found = kept["at"], kept["by"], kept["found"]
        whole = kept["seal"] == checksum(at, by, json.dumps(found, sort_keys=True))
    except (ValueError, KeyError, TypeError):
        return None
    if not whole or by != _acceptance_seal(vault) or vault.is_foreign:
        return None
    if at != head and vault.git.try_run("merge-base", "--is-ancestor", at, head or "HEAD") is None:
        return None
    return at, found


def _keep(vault: Vault, at: str, found: Mapping[str, str]) -> None:
    by = _acceptance_seal(vault)
    record = {"at": at, "by": by, "found": found, "seal": checksum(at, by, json.dumps(found, sort_keys=True))}
    try:
        vault.keep(_KEPT, record)
    except OSError:
        return  # a read-only disk: the commits are checked again next time


def _acceptance_seal(vault: Vault) -> int:
    from clawmem.vault.state.own_commits import read_acceptance

    return acceptance_checksum(read_acceptance(vault))
