"""Folding accesses: what the journal counted becomes part of the facts, in one commit that history views skip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Take the access journal into `access_count` and `last_accessed`; an archived fact that was used is active again,
    in a commit of its own that names it."""
    if dry_run:
        return Folded(len(accesses(unfolded(vault))))
    if not unfolded(vault):
        return Folded(0)
    with writing(vault, caller, "fold") as work:
        counted = accesses(set_aside(vault))
        shelves = _shelves(work, counted)
        if not shelves:
            vault.disk.remove(vault.state / FOLDING)
            return Folded(0, notices=work.notices)
        used = {name: [_used(one, counted.get(one.id)) for one in facts] for name, facts in shelves.items()}
        words = f"{len(counted)} fact{'' if len(counted) == 1 else 's'} used"
        changes = [Change(subject_line("access", "facts", words), _writes(used), trailers("access"))]
        woken = [one for facts in used.values() for one in facts if one.id in counted and one.status == ARCHIVED]
        if woken:
            changes.append(_restoration(used, woken))
        changes[-1] = changes[-1]._replace(consumes=(FOLDING,))
        return Folded(len(counted), tuple(one.id for one in woken), work.commit(changes)[-1], work.notices)


def _shelves(work: Writing, counted: Mapping[str, Access]) -> dict[str, list[Fact]]:
    places = sorted({placed.entity for placed in by_ids(work.index, counted).values()})
    return {entity: work.facts(entity) for entity in places}


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


def _used(fact: Fact, access: Access | None) -> Fact:
    if access is None:
        return fact
    return fact._replace(
        access_count=fact.access_count + access.count,
        last_accessed=max(access.last, fact.last_accessed or ""),
    )
