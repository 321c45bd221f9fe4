"""The write scope of acts that change the vault, and the changes that they make to facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from threading import Thread

from clawmem.errors import ClawmemError, Refused
from clawmem.index.refresh import HeadChange, apply_change, preload_intake
from clawmem.index.search.lookup import PlacedFact, broken_files, items_of
from clawmem.index.tables.store import UNREADABLE, Index, delete_index
from clawmem.memory.permission import check_may_write, may_read
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import GUARDRAIL, Fact
from clawmem.model.facts.pulled import PULLED, origin_of
from clawmem.model.history.entry import OF_PAGES
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Author, Change, agent_author, is_about_premises, subject_line, trailers
from clawmem.model.records.entity import ITEMS, items_path, name_of_path
from clawmem.model.settings.permission import UPKEEP
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.git.git import personal_identity
from clawmem.vault.vault import Vault

_PULL = "org-pull"
GUARDRAIL_BYTES = f'"{GUARDRAIL}"'.encode()
# What a session hands in is not refused because of a claim of another one: its new facts wait for review instead.
HANDING_IN = frozenset(("session end", "session checkpoint"))


class WriteScope:
    """One running write. Reads go through the transaction; commits are applied to the index when the scope ends."""

    def __init__(self, vault: Vault, caller: Caller, txn: Transaction, index: Index, purpose: str) -> None:
        self.vault = vault
        self.caller = caller
        self.transaction = txn
        self.index = index
        self._purpose = purpose
        self._unindexed: dict[str, bytes | None] = {}
        # Of the commits that the index lacks: the one before the first, and the last.
        self._old: str | None = None
        self._new: str | None = None
        self.marked: list[PlacedFact] = []
        self._premise_notices: list[str] = []
        # The changes that `join` keeps, where they become one commit; it is made by who opened the scope.
        self.joined: list[Change] | None = None

    @cached_property
    def person(self) -> Author | None:
        """Return the git identity of the person for whom this scope runs; None for an agent, a heartbeat, or a git
        that knows no name."""
        is_person = self.caller.agent is None and not self.caller.unattended
        return personal_identity(self.vault.git) if is_person else None

    def _with_author(self, change: Change) -> Change:
        """Return the change with the person as author, unless it has one, an agent or a heartbeat made it, or its pages
        are clawmem's, whoever asks for them."""
        if change.author or self.caller.agent is not None or self.caller.unattended or self._purpose in OF_PAGES:
            return change
        return change._replace(author=self.person)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return the notices of the transaction and of the index."""
        return (*self.transaction.notices, *self.index.notices, *self._premise_notices)

    def note_premises(self, marked: Sequence[PlacedFact]) -> None:
        """Keep the facts whose record of changed premises was written, and say so to the caller who may read them."""
        from clawmem.memory.facts.gates import marked_notices

        seen = [placed for placed in marked if may_read(self.caller, placed.entity)]
        self.marked += seen
        self._premise_notices += marked_notices(seen)

    @property
    def hands_in(self) -> bool:
        """Return whether this scope stores what a session hands in."""
        return self._purpose in HANDING_IN

    def read(self, path: str) -> bytes | None:
        """Return the content of a vault file as the transaction sees it, or None if it does not exist."""
        return self.transaction.read(path)

    def text(self, path: str) -> str:
        """Return a vault file as text, or an empty string if it does not exist."""
        return (self.transaction.read(path) or b"").decode("utf-8-sig", errors="replace")

    def facts(self, entity: str) -> list[Fact]:
        """Return the facts of an entity in file order. Raise Unreadable if its file does not parse."""
        path = items_path(entity)
        data = self.transaction.read(path)
        if data is None:
            return []
        if data == items_of(self.index, entity):
            self.transaction.read_set.mark_verified(path)
        return list(parse_items(data, path))

    def latest(self, placed: PlacedFact) -> PlacedFact:
        """Return a fact as its file has it by now."""
        now = (fact for fact in self.facts(placed.entity) if fact.id == placed.fact.id)
        return placed._replace(fact=next(now, placed.fact))

    def items_with(self, changed: Iterable[PlacedFact]) -> dict[str, bytes | None]:
        """Return the writes that put changed facts in the place of those of the same ids, and new ones at the end."""
        shelves: dict[str, dict[str, Fact]] = {}
        for fact, entity in changed:
            shelves.setdefault(entity, {})[fact.id] = fact
        writes: dict[str, bytes | None] = {}
        for entity, new in shelves.items():
            facts = [new.get(fact.id, fact) for fact in self.facts(entity)]
            known = {fact.id for fact in facts}
            writes |= items_write(entity, [*facts, *(fact for fact in new.values() if fact.id not in known)])
        return writes

    def is_readable(self, entity: str) -> bool:
        """Return whether the `items.json` of the entity can be read. Writers leave unreadable files unchanged."""
        return items_path(entity) not in self.transaction.unreadable

    def unreadable_files(self, kind: str = "") -> dict[str, ClawmemError]:
        """Return the committed entity files that cannot be read, each with an error that says how to restore it.

        `kind` limits the result to one file name, for example `items.json`. A page that is generated from all facts
        must not be regenerated while one of these files is unreadable."""
        paths = [path for path, _ in broken_files(self.index) if name_of_path(path) and path.endswith(kind)]
        if not paths:
            return {}
        from clawmem.vault.edits.hand_edits import unreadable_files

        return unreadable_files(self.vault, paths)

    def commit(self, changes: Sequence[Change], purpose: str | None = None) -> tuple[str, ...]:
        """Commit the changes and return the commit hashes, oldest first. The index is updated when the scope ends.

        `purpose` replaces the purpose of the scope in the permission check and in the lock note."""
        if self.caller.agent:
            paths = [path for change in changes for path in change.writes]
            check_may_write(self.vault, self.caller, paths, purpose or self._purpose)
        self._check_claims(changes, purpose or self._purpose)
        self._check_pulled(changes, purpose or self._purpose)
        # A commit takes about ten milliseconds. The modules that the index needs are imported in that time.
        ready = Thread(target=preload_intake)
        ready.start()
        if any(is_about_premises(change) for change in changes):
            from clawmem.memory.facts.premise_records import with_records  # not for what `remember` writes

            changes = with_records(self, changes)
        changes = self._with_guardrail_pages(changes, purpose or self._purpose)
        changes = [self._with_author(change) for change in changes]
        names = self.transaction.commit(changes, purpose)
        ready.join()
        for path in (path for change in changes for path in change.writes):
            self._unindexed[path] = self.transaction.read(path)
        if names:
            began, self._new = self._new, names[-1]
            self._old = self._old if began == (base := self.transaction.base) else None if began else base
        return names

    def join(self, change: Change, purpose: str) -> str:
        """Commit a change of generated pages and return the commit; an empty text where it is kept for a commit with
        others."""
        if self.joined is None:
            return self.commit([change], purpose)[-1]
        self.joined.append(change)
        return ""

    def _check_claims(self, changes: Sequence[Change], purpose: str) -> None:
        if purpose in UPKEEP or self.caller.unattended or not any((self.vault.root / "agents").glob("*/claims.json")):
            return
        from clawmem.memory.leases import check_claims  # only where a session has claimed something

        check_claims(self, [path for change in changes for path in change.writes], purpose in HANDING_IN)

    def _check_pulled(self, changes: Sequence[Change], purpose: str) -> None:
        folder = f"life/{PULLED}/"
        if purpose in UPKEEP or not any(path.startswith(folder) for change in changes for path in change.writes):
            return
        check_pulled(self, changes, purpose)

    def _with_guardrail_pages(self, changes: Sequence[Change], purpose: str) -> Sequence[Change]:
        """Return the changes with the pages of guardrails as each of them leaves them. Raise NotPermitted if an agent
        changes a guardrail."""
        if not any(self._has_guardrail(path, data) for change in changes for path, data in change.writes.items()):
            return changes
        from clawmem.memory.pages.guardrails import check_agent, with_pages  # few changes are of guardrails

        if self.caller.agent and purpose not in UPKEEP:
            check_agent(self, changes, self._unindexed)
        return with_pages(self, changes, self._unindexed)

    def _has_guardrail(self, path: str, data: bytes | None) -> bool:
        if not path.endswith(ITEMS):
            return False
        return GUARDRAIL_BYTES in (data or b"") or GUARDRAIL_BYTES in (self.transaction.read(path) or b"")

    def update_index(self) -> None:
        """Apply the commits to the index. If the index cannot be written, the next reader rebuilds it."""
        if self._new is None:
            return
        try:
            apply_change(self.vault, self.index, HeadChange(self._old, self._new, self._unindexed))
        except (*UNREADABLE, OSError) as problem:
            self.transaction.notices.append(f"the index will be rebuilt: {problem}")
            delete_index(self.vault)
        self._unindexed, self._old, self._new = {}, None, None

    def flush(self) -> None:
        """Update the index and release the committed contents. This bounds the memory of an act with many commits."""
        self.update_index()
        self.transaction.read_set.release()


def items_write(entity: str, facts: Sequence[Fact]) -> dict[str, bytes | None]:
    """Return the write that stores these facts in the `items.json` of the entity."""
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
    """Return the change that a verb makes to some facts. Its trailers let plain git find the facts."""
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


def check_pulled(work: WriteScope, changes: Sequence[Change], purpose: str) -> None:
    """Raise Refused if a change alters, moves or removes a pulled fact. How often it was used may change."""
    if purpose == _PULL:
        return
    for change in changes:
        for path, data in change.writes.items():
            if path.endswith(ITEMS):
                _compare(_pulled(work.read(path), path), _pulled(data, path))


def _compare(before: dict[str, Fact], after: dict[str, Fact]) -> None:
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            raise Refused(
                f"{name} is a fact of the organisation, which is read-only here.",
                "Its own vault changes it; `clawmem org pull` brings the change. State a fact of your own beside it.",
            )


def _pulled(data: bytes | None, path: str) -> dict[str, Fact]:
    facts = parse_items(data, path) if data is not None else ()
    return {fact.id: fact._replace(access_count=0, last_accessed=None) for fact in facts if origin_of(fact) is not None}
