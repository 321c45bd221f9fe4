"""The entity of the user: where `user.name` is set, what is known of `the user` belongs to the person of that name."""

from __future__ import annotations

from clawmem.errors import InvalidInput
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entities_known_as, entity_exists
from clawmem.index.tables.store import Index
from clawmem.memory.entities.entities import EntityChange, move_entity
from clawmem.memory.entities.joining import merge_entities
from clawmem.model.language.text import normal
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import check_new_name, kind_of, owner_of, slug
from clawmem.vault.vault import Vault

UNNAMED = "areas/people/user"
_PEOPLE = "areas/people"


def name_user_entity(vault: Vault, caller: Caller, dry_run: bool = False) -> EntityChange | None:
    """Move the facts about `the user` to the entity of the user's name; the former name becomes an alias.

    Return None if the user has no name or nothing is known of `the user`. With `dry_run` nothing is written.
    """
    name = vault.settings.words("user.name")
    target = f"{_PEOPLE}/{slug(name)}"
    if not slug(name) or target == UNNAMED or normal(name) == "user":
        return None
    try:
        check_new_name(target)
    except InvalidInput:
        return None
    found = run_query(vault, lambda index: _known(index, name, target))
    if found is None:
        return None
    if dry_run:
        return EntityChange(found or target, UNNAMED, None)
    if found:
        return merge_entities(vault, UNNAMED, found, caller)
    return move_entity(vault, UNNAMED, target, caller)


def _known(index: Index, name: str, target: str) -> str | None:
    """Return the entity of the name, an empty text if there is none yet, or None if there is nothing to move."""
    if not entity_exists(index, UNNAMED):
        return None
    if entity_exists(index, target):
        return target
    people = [one for one in entities_known_as(index, name) if kind_of(one) == "person" and owner_of(one) is None]
    others = [one for one in people if one != UNNAMED]
    return others[0] if len(others) == 1 else ""
