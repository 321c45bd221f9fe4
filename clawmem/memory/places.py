"""Where a fact belongs: names, aliases and agents' own places made into one entity name."""

from __future__ import annotations

from clawmem.errors import InvalidInput, NotFound
from clawmem.index.lookup import entity_exists, known_as
from clawmem.index.store import Index
from clawmem.model.caller import Caller
from clawmem.model.dates import day_of, stamp
from clawmem.model.draft import Draft
from clawmem.model.entity import (
    Entity,
    check_name,
    check_new_name,
    items_path,
    kind_of,
    owner_of,
    summary_path,
    title_of,
)


def named_entity(index: Index, text: str, caller: Caller) -> str:
    """The entity that a name, an alias, a title or `@/...` (the agent's own) stands for, existing or new.

    Raises InvalidInput where the text is no name and no entity goes by it.
    """
    name = expanded(text, caller)
    if "/" in name:
        name = check_name(name)
        if entity_exists(index, name):
            return name
    candidates = known_as(index, name)
    own = [one for one in candidates if owner_of(one) == caller.agent]
    choice = own or [one for one in candidates if owner_of(one) is None]
    if len(choice) == 1:
        return choice[0]
    if len(choice) > 1:
        raise InvalidInput(f"'{text}' may be {', '.join(choice)}.", "Name the one you mean by its path.")
    return check_new_name(name)


def existing_entity(index: Index, text: str, caller: Caller) -> str:
    """Like named_entity, but NotFound where there is no such entity yet."""
    try:
        name = named_entity(index, text, caller)
    except InvalidInput as problem:
        if "may be" in problem.message or "/" in text:
            raise
        name = text
    if not entity_exists(index, name):
        raise NotFound(f"There is no entity '{text}'.", "`clawmem entity list` shows all of them.")
    return name


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
        candidates = [one for one in known_as(index, draft.fact.subject) if owner_of(one) in (None, caller.agent)]
        if len(candidates) == 1:
            return candidates[0]
    return default


def new_entity_files(
    name: str, caller: Caller, title: str | None = None, aliases: tuple[str, ...] = ()
) -> dict[str, bytes | None]:
    """The files of an entity that does not exist yet: its summary, and no facts."""
    from clawmem.model.summary import summary_page  # only where an entity is new

    entity = Entity(name, title or title_of(name), aliases, kind_of(name))
    page = summary_page(entity, day_of(stamp(caller.now)))
    return {summary_path(name): page.encode(), items_path(name): b"[]\n"}
