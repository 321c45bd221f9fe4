"""Merge two entities that are the same person or thing."""

from __future__ import annotations

from typing import Any

from clawmem.errors import InvalidInput
from clawmem.memory.entities.entities import EntityChange, entity_change, with_other_keys
from clawmem.memory.entities.places import find_entity, new_entity_files
from clawmem.memory.scope import WriteScope, items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.pages.summary import front_matter, own_text, split_front_matter, with_own_text
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import Entity, items_path, kind_of, name_and_other, owner_of, summary_path, title_of
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

_WORDS = ("fact", "subject", "object")


def merge_entities(vault: Vault, name: str, into: str, caller: Caller) -> EntityChange:
    """Move the facts and the text of one entity to another. Its path, title and aliases become aliases of that one.

    If its title tells it from a namesake, its facts get the title of the other, so that both have the same subject.
    Raise NotFound if one of them does not exist, and InvalidInput if they are of different owners.
    """
    with writing(vault, caller, "entity merge") as work:
        old, new = find_entity(work.index, name, caller), find_entity(work.index, into, caller)
        if old == new:
            return EntityChange(new, old, None, (*work.notices, f"both are {new} already"))
        if owner_of(old) != owner_of(new):
            raise InvalidInput(f"{old} and {new} are in different workspaces.", "Move one of them first.")
        moved = len(work.facts(old))
        words = f"merged {old} into it, {counted(moved, 'fact')}"
        commits = work.commit([entity_change(work.caller, "merge", new, words, merge_writes(work, old, new), old)])
        return EntityChange(new, old, commits[-1], work.notices)


def merge_writes(work: WriteScope, old: str, new: str) -> dict[str, bytes | None]:
    """Return the files of two entities of one owner after the first was merged into the other."""
    gone, kept = _page(work, old), _page(work, new)
    before, after = _described(old, gone), _described(new, kept)
    moved = [_renamed(fact, before.title, after.title) for fact in work.facts(old)]
    known = dict.fromkeys((*after.aliases, before.title, *before.aliases, old))
    joint = after._replace(aliases=tuple(one for one in known if one not in (after.title, new)))
    writes = {
        **items_write(new, [*work.facts(new), *moved]),
        summary_path(new): with_own_text(_with_entity(kept, joint, work), own_text(gone)).encode(),
        items_path(old): None,
        summary_path(old): None,
    }
    return {path: data for path, data in writes.items() if data is not None or work.read(path) is not None}


def _page(work: WriteScope, name: str) -> str:
    """Return the summary of an entity, or a new one."""
    path = summary_path(name)
    page = work.text(path)
    refuse_conflict_markers(page, path)
    return page or (new_entity_files(name, work.caller)[path] or b"").decode()


def _described(name: str, page: str) -> Entity:
    known = _keys(name, page)
    aliases = tuple(str(one) for one in known.get("aliases") or ())
    return Entity(name, str(known.get("title") or title_of(name)), aliases, str(known.get("kind") or kind_of(name)))


def _keys(name: str, page: str) -> dict[str, Any]:
    front, _ = split_front_matter(page)
    known = parse_yaml(front, summary_path(name)) if front else {}
    return dict(known) if isinstance(known, dict) else {}


def _with_entity(page: str, entity: Entity, work: WriteScope) -> str:
    """Return the page of an entity with new aliases; other keys and the text stay."""
    known = _keys(entity.name, page)
    created = str(known.get("created") or day_of(stamp(work.caller.now)))
    others = {key: value for key, value in known.items() if key not in ("title", "kind", "aliases", "created")}
    return with_other_keys(front_matter(entity, created), others) + split_front_matter(page)[1]


def _renamed(fact: Fact, former: str, title: str) -> Fact:
    """Return a fact with the title of the entity that stays, in place of one that only told two namesakes apart."""
    if name_and_other(former)[1] is None:
        return fact
    words = {key: value.replace(former, title) for key in _WORDS if (value := getattr(fact, key))}
    return fact._replace(**words)
