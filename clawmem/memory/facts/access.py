"""Folding accesses: what the journal counted becomes part of the facts, in one commit that history views skip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.index.search.lookup import by_ids
from clawmem.index.search.unreadable import unreadable_fact_files
from clawmem.memory.writing import items_write, writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.state.journal import (
    FOLDING,
    AccessCount,
    count_accesses,
    record_access,
    take_journal,
    unfolded_accesses,
)
from clawmem.vault.vault import Vault


class FoldResult(NamedTuple):
    """How many facts were accessed, which archived ones that brought back, and the commits, oldest first."""

    facts: int
    restored: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def commit(self) -> str | None:
        """The last commit."""
        return self.commits[-1] if self.commits else None


def fold_accesses(vault: Vault, caller: Caller, dry_run: bool = False) -> FoldResult:
    """Take the access journal into `access_count` and `last_accessed`; an archived fact that was used is active again,
    in a commit of its own that names it. What concerns a file that does not parse waits in the journal."""
    if dry_run:
        return FoldResult(len(count_accesses(unfolded_accesses(vault))))
    if not unfolded_accesses(vault):
        return FoldResult(0)
    with writing(vault, caller, "fold") as work:
        counted = count_accesses(take_journal(vault))
        places = {fact_id: placed.entity for fact_id, placed in by_ids(work.index, counted).items()}
        waiting = {one: counted[one] for one, entity in places.items() if not work.is_whole(entity)}
        if unreadable_fact_files(work.index):
            waiting.update((one, access) for one, access in counted.items() if one not in places)
        shelves = {entity: work.facts(entity) for entity in sorted(set(places.values())) if work.is_whole(entity)}
        if not shelves:
            vault.disk.remove(vault.state / FOLDING)
            return FoldResult(0, notices=(*work.notices, *_put_back(vault, waiting)))
        used = {name: [_used(one, counted.get(one.id)) for one in facts] for name, facts in shelves.items()}
        number = len(places.keys() - waiting)
        words = f"{number} fact{'' if number == 1 else 's'} used"
        changes = [Change(subject_line("access", "facts", words), _writes(used), trailers("access"))]
        woken = [one for facts in used.values() for one in facts if one.id in counted and one.status == ARCHIVED]
        if woken:
            changes.append(_restoration(used, woken))
        changes[-1] = changes[-1]._replace(consumes=(FOLDING,))
        commits = work.commit(changes)
        notices = (*work.notices, *_put_back(vault, waiting))
        return FoldResult(number, tuple(one.id for one in woken), commits, notices)


def _put_back(vault: Vault, waiting: Mapping[str, AccessCount]) -> list[str]:
    problems = [record_access(vault, one.last, [fact_id] * one.count) for fact_id, one in waiting.items()]
    return [problem for problem in problems if problem]


def _writes(shelves: Mapping[str, Sequence[Fact]]) -> dict[str, bytes | None]:
    return {path: data for name, facts in shelves.items() for path, data in items_write(name, facts).items()}


def _restoration(shelves: Mapping[str, Sequence[Fact]], woken: Sequence[Fact]) -> Change:
    ids = {one.id for one in woken}
    places = [name for name, facts in shelves.items() if any(one.id in ids for one in facts)]
    active = {name: [one._replace(status=ACTIVE) if one.id in ids else one for one in shelves[name]] for name in places}
    return Change(
        subject_line("restore", "facts", f"{len(woken)} archived and used again"),
        _writes(active),
        trailers("restore", facts=ids, entities=places),
        body="\n".join(f"- {one.fact}" for one in woken[:100]),
    )


def _used(fact: Fact, access: AccessCount | None) -> Fact:
    if access is None:
        return fact
    return fact._replace(
        access_count=fact.access_count + access.count,
        last_accessed=max(access.last, fact.last_accessed or ""),
    )
