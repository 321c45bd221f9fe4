"""Where a fact belongs: names, aliases and agents' own places made into one entity name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from clawmem.errors import ClawmemError, InvalidInput, NotFound, PossiblyUnreadable
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import (
    entities,
    entities_ending_in,
    entities_known_as,
    entity_exists,
    entity_in_same_folder,
    entity_names,
)
from clawmem.index.search.unreadable import broken_files
from clawmem.index.tables.store import Index
from clawmem.memory.permission import check_may_read
from clawmem.model.facts.draft import Draft
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import normal
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import (
    SUMMARY,
    Entity,
    check_name,
    check_new_name,
    items_path,
    kind_of,
    name_of_path,
    owner_of,
    summary_path,
    title_of,
)
from clawmem.vault.vault import Vault

_MOST_NEAR = 3


def named_entity(index: Index, text: str, caller: Caller) -> str:
    """The entity that a path it has or had, an alias, a title, the last part of a path or `@/...` (the agent's own)
    stands for, existing or new.

    Raises InvalidInput where the text is no name and no entity goes by it, or several do.
    """
    return _known(index, text, caller) or check_new_name(expanded(text, caller))


def existing_entity(index: Index, text: str, caller: Caller) -> str:
    """Like named_entity, but NotFound, with the names that are near, where there is no such entity yet."""
    known = _known(index, text, caller)
    if known is not None:
        return known
    if "/" in text:
        check_name(expanded(text, caller))
    _refuse_unread(index, text, expanded(text, caller))
    near = _near(index, text, caller)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise NotFound(f"There is no entity '{text}'.", f"{hint}`clawmem entity list` shows all of them.")


def _refuse_unread(index: Index, text: str, name: str) -> None:
    """Raise MaybeUnread where the entity may be one whose files cannot be read: of this name, or any, as a page that
    cannot be read may have the name among its aliases."""
    for path, _ in broken_files(index):
        if (owner := name_of_path(path)) and (owner == name or path.endswith(f"/{SUMMARY}")):
            raise PossiblyUnreadable(f"an entity '{text}'", path)


def entity_asked(vault: Vault, text: str, caller: Caller) -> str:
    """The entity whose facts alone a reader asks for, by any name it has; of a vault of the past by later names, too.

    Raises what existing_entity and `check_may_read` do.
    """
    try:
        found = run_query(vault, lambda index: existing_entity(index, text, caller))
    except NotFound:
        earlier = _earlier_name(vault, vault.present, text, caller) if vault.present else None
        if earlier is None:
            raise
        found = earlier
    check_may_read(caller, found)
    return found


def _known(index: Index, text: str, caller: Caller) -> str | None:
    """The one entity that goes by the text, or None; InvalidInput where several do."""
    name = expanded(text, caller)
    if "/" in name:
        with suppress(InvalidInput):  # an alias may have a slash in it and be no path
            name = check_name(name)
        if (same := entity_in_same_folder(index, name)) is not None:
            return same
    choice = _choice(entities_known_as(index, name), caller)
    if not choice and "/" not in name:
        choice = _choice(entities_ending_in(index, name), caller)
    if len(choice) > 1:
        raise InvalidInput(f"'{text}' may be {', '.join(choice)}.", "Name the one you mean by its path.")
    return choice[0] if choice else None


def _choice(candidates: Sequence[str], caller: Caller) -> list[str]:
    """Those of some entities that are the agent's own, or else the global ones."""
    own = [one for one in candidates if owner_of(one) == caller.agent]
    return own or [one for one in candidates if owner_of(one) is None]


def _near(index: Index, text: str, caller: Caller) -> list[str]:
    """The entities in the caller's view that are called nearly so."""
    from difflib import get_close_matches  # only to help whoever mistyped

    described = {one.name: one for one in entities(index)}
    called: dict[str, str] = {}
    for name in entity_names(index):
        if owner_of(name) in (None, caller.agent):
            others = (described[name].title, *described[name].aliases) if name in described else ()
            called.update(dict.fromkeys((_last_part(one) for one in (*others, name)), name))
    near = get_close_matches(_last_part(text), called, n=_MOST_NEAR)
    return list(dict.fromkeys(called[one] for one in near))


def _last_part(text: str) -> str:
    return normal(text.rstrip("/").rsplit("/", 1)[-1])


def _earlier_name(past: Vault, present: Vault, text: str, caller: Caller) -> str | None:
    """What an entity that goes by the text today was called in the vault of the past, or None."""

    def names(index: Index) -> list[str]:
        found = existing_entity(index, text, caller)
        return [found, *(alias for one in entities(index) if one.name == found for alias in one.aliases)]

    try:
        later = run_query(present, names)
    except ClawmemError:
        return None  # it is in neither, and the caller says so
    return run_query(past, lambda index: next((one for one in later if entity_exists(index, one)), None))


def expanded(text: str, caller: Caller) -> str:
    """`@/rest` as the calling agent's own place."""
    if not text.startswith("@/"):
        return text
    if caller.agent is None:
        raise InvalidInput(f"'{text}' needs an agent.", "Say which with --agent, or write @AGENT/...")
    return f"@{caller.agent}{text[1:]}"


def place_of(index: Index, draft: Draft, caller: Caller, default: str) -> str:
    """The entity for a draft: the one named, else the one its subject is known as, else the default."""
    if draft.entity:
        return named_entity(index, draft.entity, caller)
    if draft.fact.subject:
        candidates = [
            one for one in entities_known_as(index, draft.fact.subject) if owner_of(one) in (None, caller.agent)
        ]
        if len(candidates) == 1:
            return candidates[0]
    return default


def new_entity_files(
    name: str, caller: Caller, title: str | None = None, aliases: tuple[str, ...] = ()
) -> dict[str, bytes | None]:
    """The files of an entity that does not exist yet: its summary, and no facts."""
    from clawmem.model.pages.summary import summary_page  # only where an entity is new

    entity = Entity(name, title or title_of(name), aliases, kind_of(name))
    page = summary_page(entity, day_of(stamp(caller.now)))
    return {summary_path(name): page.encode(), items_path(name): b"[]\n"}
