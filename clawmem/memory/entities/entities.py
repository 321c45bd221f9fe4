"""Acts on entities: create, list, show, move and archive. A former name always resolves to the new place.

The entity of the user: where `user.name` is set, what is known of `the user` belongs to the person of that name.

Merge two entities that are the same person or thing.

Acts on agents. Each agent has its own pages and a workspace with the layout of the vault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused, SecretFound
from clawmem.index.refresh import run_query
from clawmem.index.search.graph import entities_naming
from clawmem.index.search.lookup import (
    PlacedFact,
    entities,
    entities_known_as,
    entity_exists,
    entity_in_same_folder,
    entity_names,
    fact_counts,
    facts_of,
    forgotten_entities,
    unreadable_notices,
)
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import SPEAKER, check_not_forgotten, expand_own, find_entity, new_entity_files
from clawmem.memory.permission import check_may_read, may_read
from clawmem.memory.quarantine import refuse_order
from clawmem.memory.scope import WriteScope, items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import ACTIVE, Fact, is_revoked
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import check_statement, counted, normal
from clawmem.model.pages.summary import front_matter, own_text, split_front_matter, with_own_text
from clawmem.model.proposals.proposal import APPROVED, Proposal
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import (
    ROOTS,
    Entity,
    check_agent,
    check_new_name,
    folder_of,
    is_entity_name,
    items_path,
    kind_of,
    name_and_other,
    owner_of,
    slug,
    summary_path,
    title_of,
)
from clawmem.model.records.layout import is_owned
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class EntityRow(NamedTuple):
    """An entity in a list, with the number of its facts by status."""

    entity: Entity
    facts: Mapping[str, int]


class EntityList(NamedTuple):
    """All entities, sorted by name."""

    rows: tuple[EntityRow, ...]
    notices: tuple[str, ...] = ()


class EntityDetails(NamedTuple):
    """An entity with the text of its summary, its facts, what current facts of others say of it as related or as their
    subject, and the people whom these name or are of."""

    entity: Entity
    summary: str
    facts: tuple[PlacedFact, ...]
    notices: tuple[str, ...] = ()
    about: tuple[PlacedFact, ...] = ()
    people: tuple[Entity, ...] = ()


class EntityChange(NamedTuple):
    """The name of the entity after a change, its former name (None if new), and the commit."""

    name: str
    former: str | None
    commit: str | None
    notices: tuple[str, ...] = ()


def create_entity(
    vault: Vault, name: str, caller: Caller, title: str | None = None, aliases: tuple[str, ...] = ()
) -> EntityChange:
    """Create an entity without facts. Raise Refused if the name or an alias belongs to another entity."""
    wanted = check_new_name(expand_own(name, caller))
    words = tuple(check_statement(alias, "alias") for alias in aliases)
    heading = check_statement(title, "title") if title else None
    refuse_order(caller, "title", heading)
    refuse_order(caller, "alias", *words)
    with writing(vault, caller, "entity create") as work:
        for text in (wanted, *filter(is_entity_name, map(str.lower, words))):
            _refuse_taken(work.index, text)
        files = new_entity_files(wanted, caller, heading, words)
        commits = work.commit([entity_change(caller, "create", wanted, heading or title_of(wanted), files)])
        return EntityChange(wanted, None, commits[-1], work.notices)


def add_alias(vault: Vault, name: str, alias: str, caller: Caller) -> EntityChange:
    """Give an entity another name. Raise Refused if that is the name of another entity."""
    word = check_statement(alias, "alias")
    refuse_order(caller, "alias", word)
    with writing(vault, caller, "entity alias") as work:
        found = find_entity(work.index, name, caller)
        page = _page(work, found)
        entity = _described(found, page)
        if normal(word) in map(normal, (entity.title, *entity.aliases)):
            return EntityChange(found, None, None, (*work.notices, f"'{word}' is a name of {found} already"))
        others = [other for other in entities_known_as(work.index, word) if owner_of(other) == owner_of(found)]
        if others:
            raise Refused(
                f"'{word}' is a name of {others[0]}.", f"`clawmem entity merge {found} {others[0]}` joins them."
            )
        changed = entity._replace(aliases=(*entity.aliases, word))
        files: dict[str, bytes | None] = {summary_path(found): _with_entity(page, changed, work).encode()}
        commits = work.commit([entity_change(caller, "alias", found, word, files)])
        return EntityChange(found, None, commits[-1], work.notices)


def list_entities(vault: Vault) -> EntityList:
    """Return all entities with the number of their facts by status."""
    return run_query(vault, _list)


def _list(index: Index) -> EntityList:
    numbers = fact_counts(index)
    described = {entity.name: entity for entity in entities(index)}
    rows = (
        EntityRow(described.get(name) or Entity(name, title_of(name), (), kind_of(name)), numbers.get(name, {}))
        for name in sorted({*entity_names(index)} - forgotten_entities(index))
    )
    return EntityList(tuple(rows), (*index.notices, *unreadable_notices(index)))


def show_entity(vault: Vault, name: str, caller: Caller) -> EntityDetails:
    """Return an entity by name, title or alias. Raise NotFound, also for a forgotten one, or NotPermitted for
    another agent's."""
    return run_query(vault, lambda index: _show(vault, index, name, caller))


def _show(vault: Vault, index: Index, name: str, caller: Caller) -> EntityDetails:
    try:
        found = find_entity(index, name, caller)
    except NotFound:
        if normal(name) not in SPEAKER:
            raise
        found = find_entity(index, vault.settings.words("user.name"), caller)
    check_may_read(caller, found)
    check_not_forgotten(index, found)
    described = {entity.name: entity for entity in entities(index)}
    facts = tuple(placed for placed in facts_of(index, found) if not is_revoked(placed.fact))
    entity = described.get(found) or Entity(found, title_of(found), (), kind_of(found))
    notices = (*index.notices, *unreadable_notices(index, found))
    summary = "" if index.is_restricted else vault.read_text(summary_path(found)) or ""
    about = _about(index, entity, caller)
    current = [placed for placed in (*facts, *about) if placed.fact.is_current]
    people = tuple(_people((each for each in described.values() if each.name != found), current))
    return EntityDetails(entity, summary, facts, notices, about, people)


def _about(index: Index, entity: Entity, caller: Caller) -> tuple[PlacedFact, ...]:
    names = {entity.name, entity.title, *entity.aliases}
    subjects = set(map(normal, names))
    others = sorted(name for name in entities_naming(index, names) - {entity.name} if may_read(caller, name))
    return tuple(
        placed
        for placed in chain.from_iterable(facts_of(index, name) for name in others)
        if placed.fact.status == ACTIVE and not quarantine_rule(placed.fact)
        if names.intersection(placed.fact.related_entities) or normal(placed.fact.subject or "") in subjects
    )


def _people(known: Iterable[Entity], facts: Sequence[PlacedFact]) -> Iterator[Entity]:
    """Yield the people whom some facts name, in words or as related, or are of."""
    named = {name for placed in facts for name in (placed.entity, *placed.fact.related_entities)}
    text = "\n".join(placed.fact.fact for placed in facts)
    for person in known:
        names = {person.name, person.title, *person.aliases}
        is_said = any(name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
        if (person.kind or kind_of(person.name)) == "person" and (is_said or names & named):
            yield person


def move_entity(vault: Vault, name: str, target: str, caller: Caller, verb: str = "move") -> EntityChange:
    """Move an entity. Its former name becomes an alias. Files that clawmem does not manage stay where they are."""
    with writing(vault, caller, f"entity {verb}") as work:
        old = find_entity(work.index, name, caller)
        new = check_new_name(expand_own(target, caller))
        if new == old:
            return EntityChange(old, old, None, (*work.notices, f"{old} is there already"))
        _refuse_taken(work.index, new, old)
        work.facts(old)
        writes, title = _moved_files(work, old, new)
        commits = work.commit([entity_change(work.caller, verb, new, f"moved from {old}", writes, old)])
        kept = _last_part(old) != _last_part(new) and title != title_of(new)
        title_notices = [f"its title is still '{title}': change it in {summary_path(new)}"] if kept else []
        return EntityChange(new, old, commits[-1], (*work.notices, *title_notices))


def archive_entity(vault: Vault, name: str, caller: Caller) -> EntityChange:
    """Move an entity to `archives/`."""
    old = run_query(vault, lambda index: find_entity(index, name, caller))
    prefix, _, rest = old.rpartition("@")[2].partition("/") if old.startswith("@") else ("", "", old)
    if rest.startswith("archives/"):
        return EntityChange(old, old, None, (f"{old} is archived already",))
    target = f"archives/{_last_part(rest)}"
    return move_entity(vault, old, f"@{prefix}/{target}" if prefix else target, caller, "archive")


def on_archive(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Mapping[str, bytes | None]:
    """Return the writes that archive the entity of an approved proposal. Raise Refused if it is not there any more."""
    del facts
    old = proposal.entity or ""
    if proposal.status != APPROVED:
        return {}
    if not entity_exists(work.index, old):
        raise Refused(f"There is no entity {old} any more.", "Reject the proposal.")
    new = f"archives/{_last_part(old)}"
    _refuse_taken(work.index, new, old)
    return _moved_files(work, old, new)[0]


def rename_entity(vault: Vault, name: str, new: str, caller: Caller) -> EntityChange:
    """Change the last part of an entity's path. Raise InvalidInput if `new` is a path."""
    if "/" in new:
        raise InvalidInput(f"'{new}' is a path.", "Give a bare name, or use `clawmem entity move`.")
    if match := find_secret(new):  # before a slug hides it
        raise SecretFound(match.rule, "The name")
    new = slug(new) or new
    old = run_query(vault, lambda index: find_entity(index, name, caller))
    return move_entity(vault, old, f"{old.rsplit('/', 1)[0]}/{new}", caller, "rename")


def _refuse_taken(index: Index, name: str, mover: str | None = None) -> None:
    """Raise Refused if the path is or was that of another entity. `mover` is the entity that moves."""
    same = entity_in_same_folder(index, name)
    if same == name:
        raise Refused(f"The entity {name} already exists.", f"`clawmem entity show {name}` shows it.")
    if same is not None and same != mover:
        raise Refused(
            f"{name} and the entity {same} are the same folder on case-insensitive disks.",
            f"Choose another name, or use {same}.",
        )
    for other in entities_known_as(index, name):
        if other != mover:
            raise Refused(
                f"{name} is an alias of {other}.",
                f"Choose another name, or remove the alias from {summary_path(other)} first.",
            )


def _moved_files(work: WriteScope, old: str, new: str) -> tuple[dict[str, bytes | None], str]:
    """Return the writes that move the files of an entity, and its new title."""
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
    text, title = _renamed_page(page, old, new, day_of(stamp(work.caller.now)))
    writes[summary_path(new)] = text.encode()
    return writes, title


def _renamed_page(page: str, old: str, new: str, today: str) -> tuple[str, str]:
    """Return the page of an entity under its new name, and its title.

    A title that was made from the old name is made from the new name. The old title becomes an alias."""
    front, rest = split_front_matter(page)
    known = parse_yaml(front, summary_path(old)) if front else {}
    known = known if isinstance(known, dict) else {}
    aliases = [str(alias) for alias in known.pop("aliases", None) or () if str(alias) != new]
    former = str(known.pop("title", None) or title_of(old))
    title = title_of(new) if former == title_of(old) else former
    if title != former:
        aliases.append(former)
        rest = rest.replace(f"\n# {former}\n", f"\n# {title}\n", 1)
    created = str(known.pop("created", None) or today)
    kind = str(known.pop("kind", None) or kind_of(old))
    kind = kind_of(new) if kind == kind_of(old) else kind
    others = dict.fromkeys(alias for alias in (*aliases, old) if alias != title)
    entity = Entity(new, title, tuple(others), kind)
    return with_other_keys(front_matter(entity, created), known) + rest, title


def _last_part(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def with_other_keys(front: str, others: Mapping[str, Any]) -> str:
    """Return front matter with the keys that a person added."""
    if not others:
        return front
    import yaml  # only where a person added other keys

    added = yaml.safe_dump(dict(others), allow_unicode=True, sort_keys=False)
    return front.removesuffix("---\n") + added + "---\n"


def entity_change(
    caller: Caller, verb: str, name: str, words: str, writes: Mapping[str, bytes | None], former: str | None = None
) -> Change:
    """Return the change that a verb makes to an entity."""
    return Change(
        subject_line(verb, name, words),
        writes,
        trailers(f"entity-{verb}", entities=[name, *([former] if former else [])], agent=caller.agent),
        author=agent_author(caller.agent),
    )


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
    joint = after._replace(aliases=tuple(text for text in known if text not in (after.title, new)))
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
    aliases = tuple(str(alias) for alias in known.get("aliases") or ())
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
    people = [text for text in entities_known_as(index, name) if kind_of(text) == "person" and owner_of(text) is None]
    others = [person for person in people if person != UNNAMED]
    return others[0] if len(others) == 1 else ""


# The purpose of each page is a comment in it, so it is not part of any answer.
PAGES = {
    "TACIT.md": "How {agent} works: habits and preferences that were learned and accepted.",
    "CONTEXT.md": "What {agent} is working on now.",
    "SOUL.md": "Who {agent} is: its task, its manner, its limits.",
}


class Agent(NamedTuple):
    """An agent: its id, its own entities, and its pages as (name, text)."""

    id: str
    entities: tuple[str, ...]
    pages: tuple[tuple[str, str], ...] = ()


class AgentCreated(NamedTuple):
    """The id of the new agent, and the commit."""

    id: str
    commit: str
    notices: tuple[str, ...] = ()


def create_agent(vault: Vault, agent: str, caller: Caller) -> AgentCreated:
    """Create the pages and the workspace of an agent. Raise Refused if it exists."""
    name = check_agent(agent)
    with writing(vault, caller, "agent create") as work:
        if work.read(f"agents/{name}/SOUL.md") is not None:
            raise Refused(f"The agent {name} already exists.", f"`clawmem agent show {name}` shows it.")
        folder = f"agents/{name}"
        writes: dict[str, bytes | None] = {}
        for page, words in PAGES.items():
            text = f"# {page.removesuffix('.md').capitalize()}\n\n<!-- {words.format(agent=name)} -->\n"
            writes[f"{folder}/{page}"] = text.encode()
        kept = ["daily", "sessions", *(f"workspace/{root}" for root in ROOTS)]
        writes.update({f"{folder}/{place}/.gitkeep": b"" for place in kept})
        subject = subject_line("agent", name, "a workspace of its own")
        commits = work.commit([Change(subject, writes, trailers("agent-create", agent=name))])
        return AgentCreated(name, commits[-1], work.notices)


def list_agents(vault: Vault) -> tuple[Agent, ...]:
    """Return all agents that have pages or entities."""
    names = run_query(vault, entity_names)
    owned: dict[str, list[str]] = {}
    for name in names:
        owner = owner_of(name)
        if owner:
            owned.setdefault(owner, []).append(name)
    folder = vault.root / "agents"
    on_disk = [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
    return tuple(Agent(agent, tuple(owned.get(agent, ()))) for agent in sorted({*owned, *on_disk}))


def show_agent(vault: Vault, agent: str, caller: Caller | None = None) -> Agent:
    """Return an agent with its pages. Raise NotFound, or NotPermitted if the caller is another agent."""
    name = check_agent(agent)
    check_may_read(caller, f"@{name}/pages")
    known = next((agent for agent in list_agents(vault) if agent.id == name), None)
    if known is None:
        raise NotFound(f"There is no agent '{name}'.", f"Create it with `clawmem agent create {name}`.")
    pages = [(page, vault.read_text(f"agents/{name}/{page}")) for page in PAGES]
    return known._replace(pages=tuple((page, text) for page, text in pages if text is not None))
