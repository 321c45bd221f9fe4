"""Acts on entities: making, showing, moving and archiving them; an old name always leads to the new place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.index.lookup import Placed, counts, entities, entity_exists, entity_names, facts_of
from clawmem.index.refresh import open_index
from clawmem.memory.places import existing_entity, expanded, new_entity_files
from clawmem.memory.writing import Writing, writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change, agent_author, subject_line, trailers
from clawmem.model.codec import refuse_conflict_markers
from clawmem.model.dates import day_of, stamp
from clawmem.model.entity import Entity, check_new_name, folder_of, kind_of, summary_path, title_of
from clawmem.model.layout import is_owned
from clawmem.model.summary import front_matter, split_front_matter
from clawmem.model.text import check_statement
from clawmem.vault.vault import Vault, parse_yaml


class Row(NamedTuple):
    """An entity in a list: its description and its facts by status."""

    entity: Entity
    facts: Mapping[str, int]


class Shown(NamedTuple):
    """An entity whole: its description, the text of its summary, its facts."""

    entity: Entity
    summary: str
    facts: tuple[Placed, ...]


class Changed(NamedTuple):
    """The entity after a change, where it was before (None when new), the commit, asides."""

    name: str
    former: str | None
    commit: str | None
    notices: tuple[str, ...] = ()


def create_entity(
    vault: Vault, name: str, caller: Caller, title: str | None = None, aliases: tuple[str, ...] = ()
) -> Changed:
    """Make an entity with an empty list of facts; Refused where it exists."""
    wanted = check_new_name(expanded(name, caller))
    words = tuple(check_statement(alias, "alias") for alias in aliases)
    heading = check_statement(title, "title") if title else None
    with writing(vault, caller, "entity create") as work:
        if entity_exists(work.index, wanted):
            raise Refused(f"The entity {wanted} exists already.", f"`clawmem entity show {wanted}` shows it.")
        files = new_entity_files(wanted, caller, heading, words)
        commits = work.commit([_change(caller, "create", wanted, heading or title_of(wanted), files)])
        return Changed(wanted, None, commits[-1], work.notices)


def list_entities(vault: Vault) -> tuple[Row, ...]:
    """Every entity with the number of its facts by status."""
    index = open_index(vault)
    try:
        numbers = counts(index)
        described = {entity.name: entity for entity in entities(index)}
        names = entity_names(index)
    finally:
        index.close()
    return tuple(
        Row(described.get(name) or Entity(name, title_of(name), (), kind_of(name)), numbers.get(name, {}))
        for name in names
    )


def show_entity(vault: Vault, name: str, caller: Caller) -> Shown:
    """One entity by name, title or alias."""
    index = open_index(vault)
    try:
        found = existing_entity(index, name, caller)
        described = {entity.name: entity for entity in entities(index)}
        facts = tuple(facts_of(index, found))
    finally:
        index.close()
    entity = described.get(found) or Entity(found, title_of(found), (), kind_of(found))
    return Shown(entity, vault.read_text(summary_path(found)) or "", facts)


def move_entity(vault: Vault, name: str, target: str, caller: Caller, verb: str = "move") -> Changed:
    """Give an entity another place; its former names stay as aliases, and files that are not clawmem's stay too."""
    with writing(vault, caller, f"entity {verb}") as work:
        old = existing_entity(work.index, name, caller)
        new = check_new_name(expanded(target, caller))
        if new == old:
            return Changed(old, old, None, (*work.notices, f"{old} is there already"))
        if entity_exists(work.index, new):
            raise Refused(f"The entity {new} exists already.", "Choose another name for the move.")
        work.facts(old)
        writes = _moved_files(work, old, new)
        commits = work.commit([_change(work.caller, verb, new, f"moved from {old}", writes, old)])
        return Changed(new, old, commits[-1], work.notices)


def archive_entity(vault: Vault, name: str, caller: Caller) -> Changed:
    """Move an entity below `archives/`."""
    index = open_index(vault)
    try:
        old = existing_entity(index, name, caller)
    finally:
        index.close()
    prefix, _, rest = old.rpartition("@")[2].partition("/") if old.startswith("@") else ("", "", old)
    if rest.startswith("archives/"):
        return Changed(old, old, None, (f"{old} is archived already",))
    target = f"archives/{rest.rsplit('/', 1)[-1]}"
    return move_entity(vault, old, f"@{prefix}/{target}" if prefix else target, caller, "archive")


def rename_entity(vault: Vault, name: str, new: str, caller: Caller) -> Changed:
    """Give an entity another last name in the same place."""
    if "/" in new:
        raise InvalidInput(f"'{new}' is a path.", "Give a bare name, or use `clawmem entity move`.")
    index = open_index(vault)
    try:
        old = existing_entity(index, name, caller)
    finally:
        index.close()
    return move_entity(vault, old, f"{old.rsplit('/', 1)[0]}/{new}", caller, "rename")


def _moved_files(work: Writing, old: str, new: str) -> dict[str, bytes | None]:
    before, after = folder_of(old) + "/", folder_of(new) + "/"
    head = work.vault.head().commit
    if head is None:
        raise NotFound(f"There is no entity '{old}'.")
    writes: dict[str, bytes | None] = {}
    for path in work.vault.files_at(head, before):
        if not is_owned(path) or "/" in path.removeprefix(before):
            continue
        content = work.read(path)
        writes[after + path.removeprefix(before)] = content
        writes[path] = None
    page = work.text(summary_path(old))
    refuse_conflict_markers(page, summary_path(old))
    writes[summary_path(new)] = _renamed_page(page, old, new, day_of(stamp(work.caller.now))).encode()
    return writes


def _renamed_page(page: str, old: str, new: str, today: str) -> str:
    front, rest = split_front_matter(page)
    known = parse_yaml(front, summary_path(old)) if front else {}
    known = known if isinstance(known, dict) else {}
    aliases = [str(alias) for alias in known.pop("aliases", None) or () if str(alias) != new]
    title = str(known.pop("title", None) or title_of(old))
    created = str(known.pop("created", None) or today)
    kind = str(known.pop("kind", None) or kind_of(old))
    kind = kind_of(new) if kind == kind_of(old) else kind
    entity = Entity(new, title, tuple(dict.fromkeys([*aliases, old])), kind)
    return _with_other_keys(front_matter(entity, created), known) + rest


def _with_other_keys(front: str, others: Mapping[str, Any]) -> str:
    if not others:
        return front
    import yaml  # only where a person added keys of their own

    added = yaml.safe_dump(dict(others), allow_unicode=True, sort_keys=False)
    return front.removesuffix("---\n") + added + "---\n"


def _change(
    caller: Caller, verb: str, name: str, words: str, writes: Mapping[str, bytes | None], former: str | None = None
) -> Change:
    return Change(
        subject_line(verb, name, words),
        writes,
        trailers(f"entity-{verb}", entities=[name, *([former] if former else [])], agent=caller.agent),
        author=agent_author(caller.agent),
    )
