"""What every changing act stands on: a transaction, the index at its HEAD, and the entities as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread

from clawmem.errors import ClawmemError, Locked, StorageFailed
from clawmem.index.refresh.refresh import HAS_DUPLICATES, apply_commit, is_index_damage, open_index, preload_intake
from clawmem.index.search.lookup import items_of
from clawmem.index.search.unreadable import broken_files
from clawmem.index.tables.store import UNREADABLE, Index, delete_index
from clawmem.memory.permission import check_may_write, check_may_write_at_all
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import items_path, name_of_path
from clawmem.vault.commit.transaction import Transaction, transaction
from clawmem.vault.git.refs import last_merge_mark
from clawmem.vault.vault import Vault


class WriteScope:
    """An act at work: reads go through the transaction, commits bring the index along."""

    def __init__(self, vault: Vault, caller: Caller, started: Transaction, index: Index, purpose: str) -> None:
        self.vault = vault
        self.caller = caller
        self.started = started
        self.index = index
        self._purpose = purpose
        self._behind: dict[str, bytes | None] = {}
        self._last: str | None = None

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person should hear besides the result."""
        return (*self.started.notices, *self.index.notices)

    def read(self, path: str) -> bytes | None:
        """A file of the vault, through the transaction."""
        return self.started.read(path)

    def text(self, path: str) -> str:
        """A text file of the vault, empty where there is none."""
        return (self.started.read(path) or b"").decode("utf-8-sig", errors="replace")

    def facts(self, entity: str) -> list[Fact]:
        """The facts of an entity, in the order they stand; raises where its file does not parse."""
        path = items_path(entity)
        data = self.started.read(path)
        if data is None:
            return []
        if data == items_of(self.index, entity):
            self.started.read_set.mark_verified(path)
        return list(parse_items(data, path))

    def is_whole(self, entity: str) -> bool:
        """Whether the entity's facts can be read; where not, they are left as they are."""
        return items_path(entity) not in self.started.unreadable

    def unread(self, kind: str = "") -> dict[str, ClawmemError]:
        """The committed files of entities, those of one last name or all, that cannot be read, each with the reason and
        how to bring it back: what is made of all facts must not be made anew without theirs."""
        paths = [path for path, _ in broken_files(self.index) if name_of_path(path) and path.endswith(kind)]
        if not paths:
            return {}
        from clawmem.vault.edits.last_readable import unreadable_files  # few vaults hold such a file

        return unreadable_files(self.vault, paths)

    def commit(self, changes: Sequence[Change], purpose: str | None = None) -> tuple[str, ...]:
        """Commit the changes; returns the commits' names, oldest first. The index follows when the act ends.

        `purpose` is named where it is another one than the act's."""
        if self.caller.agent:
            paths = [path for change in changes for path in change.writes]
            check_may_write(self.vault, self.caller, paths, purpose or self._purpose)
        # git takes ten milliseconds for a commit; what the index needs next is imported meanwhile.
        ready = Thread(target=preload_intake)
        ready.start()
        names = self.started.commit(changes, purpose)
        ready.join()
        for path in (path for change in changes for path in change.writes):
            self._behind[path] = self.started.read(path)
        self._last = names[-1] if names else self._last
        return names

    def bring_index(self) -> None:
        """Take what was committed into the index; one that cannot be written is built anew by the next reader."""
        if not self._behind:
            return
        try:
            apply_commit(self.vault, self.index, self._behind, self._last)
        except (*UNREADABLE, OSError) as problem:
            self.started.notices.append(f"the index will be built anew: {problem}")
            delete_index(self.vault)
        self._behind = {}

    def settle(self) -> None:
        """Bring the index along now and let go of what was committed: for acts of many commits, whose memory would
        grow with each."""
        self.bring_index()
        self.started.read_set.release()


@contextmanager
def writing(
    vault: Vault, caller: Caller, purpose: str, eager: bool = False, dry_run: bool = False
) -> Iterator[WriteScope]:
    """Take the right to write; edits made by hand are committed first. `eager` is for acts that surely commit.

    A `dry_run` takes no such right and commits nothing, so that it needs neither the lock nor a disk it can write."""
    if caller.agent:
        check_may_write_at_all(vault, caller)
    begun = _rehearsal(vault, caller, purpose) if dry_run else transaction(vault, caller.now, purpose, eager=eager)
    with begun as started:
        if vault.head().commit is None:
            raise Locked("The vault has no first commit yet.", "Run `clawmem init` on it again.")
        # git looks for edits made by hand while the index opens; the index follows where there are some.
        index = open_index(vault)
        if started.adopt().good:
            index.close()
            index = open_index(vault)
        try:
            work = WriteScope(vault, caller, started, index, purpose)
            if not dry_run and (last_merge_mark(vault.git_dir) is not None or (vault.state / "merges-left").exists()):
                _complete(work)
            if not dry_run and index.meta(HAS_DUPLICATES):
                from clawmem.memory.sync.unite import unite  # after merges and copies that clawmem did not make

                unite(work)
            yield work
            work.bring_index()
        except (ClawmemError, OSError):
            raise
        except Exception as problem:
            if not is_index_damage(index, problem):
                raise
            raise _index_failed(vault, problem) from problem
        finally:
            index.close()


@contextmanager
def _rehearsal(vault: Vault, caller: Caller, purpose: str) -> Iterator[Transaction]:
    from clawmem.vault.commit.dry_run import DryRun  # only dry runs

    started = DryRun(vault, caller.now, purpose)
    started.begin()
    yield started


def _complete(work: WriteScope) -> None:
    """Complete what git itself merged here since a writer last looked, and what an earlier command left."""
    from clawmem.vault.history.git_merges import (  # where people merge by hand
        has_new_merges,
        mark_merges_complete,
        new_merges,
        read_unfinished_merges,
    )

    merged = has_new_merges(work.vault)
    if merged or read_unfinished_merges(work.vault):
        from clawmem.memory.sync.complete_merges import complete_merges

        done = complete_merges(work, new_merges(work.vault) if merged else ())
        if done.commits:
            work.bring_index()
        if not done.left:
            mark_merges_complete(work.vault)


def _index_failed(vault: Vault, problem: Exception) -> ClawmemError:
    """The error of an act whose index failed it; a damaged index is put away, and the next command builds a new one."""
    if "locked" in str(problem):
        return Locked("The search index is held by another process.", "Try again.")
    delete_index(vault)
    return StorageFailed(
        f"The search index is damaged ({problem}), so this stopped.",
        "Run the command again: it builds the index anew. What was committed before stays.",
    )


def with_fact(facts: Sequence[Fact], changed: Fact) -> list[Fact]:
    """The facts with one of them replaced by its new state."""
    return [changed if fact.id == changed.id else fact for fact in facts]


def items_write(entity: str, facts: Sequence[Fact]) -> dict[str, bytes | None]:
    """The write that makes an entity's `items.json` hold these facts."""
    return {items_path(entity): render_items(facts)}


def fact_change(
    caller: Caller,
    verb: str,
    entity: str,
    words: str,
    writes: Mapping[str, bytes | None],
    facts: Sequence[Fact],
    *,
    entities: Sequence[str] = (),
    supersedes: Sequence[str] = (),
) -> Change:
    """The change that a verb makes to some facts, with the trailers that let plain git find them."""
    return Change(
        subject=subject_line(verb, entity, words),
        writes=writes,
        trailers=trailers(
            verb,
            facts=[fact.id for fact in facts],
            entities=[entity, *entities],
            agent=caller.agent,
            session=caller.session,
            sources=[fact.source for fact in facts],
            supersedes=supersedes,
            events=[fact.source_event for fact in facts if fact.source_event],
        ),
        author=agent_author(caller.agent),
    )
