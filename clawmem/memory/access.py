"""Folding accesses: what the journal counted becomes part of the facts, in one commit that history views skip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.index.lookup import by_ids
from clawmem.memory.writing import Writing, items_write, writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change, subject_line, trailers
from clawmem.model.fact import ACTIVE, ARCHIVED, Fact
from clawmem.vault.journal import FOLDING, Access, accesses, set_aside, unfolded
from clawmem.vault.vault import Vault


class Folded(NamedTuple):
    """How many facts were accessed, which archived ones that brought back, and the commit."""

    facts: int
    restored: tuple[str, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def fold_accesses(vault: Vault, caller: Caller, dry_run: bool = False) -> Folded:
    """Take the access journal into `access_count` and `last_accessed`; an archived fact that was used is active again."""
    if dry_run:
        return Folded(len(accesses(unfolded(vault))))
    if not unfolded(vault):
        return Folded(0)
    with writing(vault, caller, "fold") as work:
        counted = accesses(set_aside(vault))
        writes, restored = _writes(work, counted)
        if not writes:
            vault.disk.remove(vault.state / FOLDING)
            return Folded(0, notices=work.notices)
        words = f"{len(counted)} fact{'' if len(counted) == 1 else 's'} used"
        change = Change(subject_line("access", "facts", words), writes, trailers("access"), consumes=(FOLDING,))
        return Folded(len(counted), restored, work.commit([change])[-1], work.notices)


def _writes(work: Writing, counted: Mapping[str, Access]) -> tuple[dict[str, bytes | None], tuple[str, ...]]:
    by_entity: dict[str, list[str]] = defaultdict(list)
    for fact_id, placed in by_ids(work.index, counted).items():
        by_entity[placed.entity].append(fact_id)
    writes: dict[str, bytes | None] = {}
    restored: list[str] = []
    for entity, fact_ids in by_entity.items():
        facts = work.facts(entity)
        restored += [one.id for one in facts if one.id in counted and one.status == ARCHIVED]
        writes.update(items_write(entity, [_used(one, counted.get(one.id)) for one in facts]))
    return writes, tuple(restored)


def _used(fact: Fact, access: Access | None) -> Fact:
    if access is None:
        return fact
    return fact._replace(
        access_count=fact.access_count + access.count,
        last_accessed=max(access.last, fact.last_accessed or ""),
        status=ACTIVE if fact.status == ARCHIVED else fact.status,
    )
