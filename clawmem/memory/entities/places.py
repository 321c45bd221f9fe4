"""Resolve names, titles, aliases and `@/` paths to entity names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound, PossiblyUnreadable
from clawmem.index.refresh import run_query
from clawmem.index.search.listing import projects_in_use
from clawmem.index.search.lookup import (
    broken_files,
    entities,
    entities_called,
    entities_ending_in,
    entities_known_as,
    entity_exists,
    entity_in_same_folder,
    entity_names,
    facts_of,
    forgotten_entities,
    people_beginning,
    people_by_first_name,
)
from clawmem.index.tables.store import Index
from clawmem.memory.permission import check_may_read
from clawmem.memory.scope import WriteScope, items_write
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import project_name, project_of_page
from clawmem.model.kinds import SUMMARY_PAGE, file_kind
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import (
    Entity,
    check_name,
    check_new_name,
    is_candidate_place,
    items_path,
    kind_of,
    name_of_path,
    owner_of,
    slug,
    summary_path,
    title_of,
)
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.facts.draft import Draft  # its patterns take milliseconds to compile

_MAX_SUGGESTIONS = 3
_LONGEST_NAME = 4
SPEAKER = frozenset(("i", "me", "myself", "user", "the user"))
OF_SELF = re.compile(r"(?:I|My|Me|I['’](?:m|ve|d|ll))\b(?! ?[:=(/])")
# What a first name does in a sentence about the person: a word at the beginning alone may be another thing.
_FIRST_NAME = re.compile(
    r"(?P<name>[A-ZÀ-Þ][\w-]+)(?:['’]s| (?:is|was|has|will|can|may|might|"
    r"[a-z]{2,}(?:s|ed)(?! (?:are|is|was|were|have|has|can|must|will|should|may)\b)))\b"
)


def resolve_entity(index: Index, text: str, caller: Caller) -> str:
    """Return the entity for a text; the entity may be new.

    The text is a current or former path, an alias, a title, the last part of a path, or `@/...` in the workspace of
    the calling agent. Raise InvalidInput if it matches several entities, or none and is not a valid name.
    """
    return _find_known(index, text, caller) or check_new_name(expand_own(text, caller))


def find_entity(index: Index, text: str, caller: Caller) -> str:
    """Like resolve_entity, but raise NotFound with similar names if the entity does not exist."""
    known = _find_known(index, text, caller)
    if known is not None:
        return known
    if "/" in text:
        check_name(expand_own(text, caller))
    _refuse_unread(index, text, expand_own(text, caller))
    near = _similar_names(index, text, caller)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise NotFound(f"There is no entity '{text}'.", f"{hint}`clawmem entity list` shows all of them.")


def people_called(vault: Vault, name: str, caller: Caller) -> list[str]:
    """Return the people that a caller sees whose name is this one or begins with it."""

    def named(index: Index) -> list[str]:
        word = normal(name)
        whole = [entity for entity in entities_known_as(index, word) if kind_of(entity) == "person"]
        begun = people_beginning(index, [word]).get(word, set())
        return _visible_candidates(sorted({*whole, *begun}), caller)

    return run_query(vault, named)


def _refuse_unread(index: Index, text: str, name: str) -> None:
    """Raise PossiblyUnreadable if the entity may be in unreadable files. An unreadable page may contain any alias."""
    for path, _ in broken_files(index):
        if (owner := name_of_path(path)) and (owner == name or file_kind(path) is SUMMARY_PAGE):
            raise PossiblyUnreadable(f"an entity '{text}'", path)


def find_readable_entity(vault: Vault, text: str, caller: Caller) -> str:
    """Return the entity that a reader names, after a permission check.

    In a vault of the past, a later name of the entity works too. Raise like find_entity and check_may_read.
    """
    try:
        found = run_query(vault, lambda index: find_entity(index, text, caller))
    except NotFound:
        earlier = _former_name(vault, vault.present, text, caller) if vault.present else None
        if earlier is None:
            raise
        found = earlier
    check_may_read(caller, found)
    return found


def _find_known(index: Index, text: str, caller: Caller) -> str | None:
    """Return the entity for the text, or None. Raise InvalidInput if there are several."""
    name = "user" if normal(text) in SPEAKER else expand_own(text, caller)
    if "/" in name:
        with suppress(InvalidInput):  # an alias with a slash is not always a path
            name = check_name(name)
        if (same := entity_in_same_folder(index, name)) is not None:
            return same
    choice = _visible_candidates(entities_known_as(index, name), caller)
    if not choice and "/" not in name:
        choice = _visible_candidates(entities_ending_in(index, name), caller)
        choice = choice or _visible_candidates([*people_by_first_name(index, [normal(name)])], caller)
    if len(choice) > 1:
        raise InvalidInput(f"'{text}' may be {', '.join(choice)}.", "Use the path of the entity.")
    return choice[0] if choice else None


def _visible_candidates(candidates: Sequence[str], caller: Caller) -> list[str]:
    """Return the candidates of the calling agent, or the global ones if it has none."""
    own = [candidate for candidate in candidates if owner_of(candidate) == caller.agent]
    return own or [candidate for candidate in candidates if owner_of(candidate) is None]


def _similar_names(index: Index, text: str, caller: Caller) -> list[str]:
    """Return the visible entities with similar names."""
    from difflib import get_close_matches  # only for hints

    described = {entity.name: entity for entity in entities(index)}
    called: dict[str, str] = {}
    for name in entity_names(index):
        if owner_of(name) in (None, caller.agent):
            others = (described[name].title, *described[name].aliases) if name in described else ()
            called.update(dict.fromkeys((_last_part(other) for other in (*others, name)), name))
    near = get_close_matches(_last_part(text), called, n=_MAX_SUGGESTIONS)
    return list(dict.fromkeys(called[word] for word in near))


def names_of_project(vault: Vault, project: str) -> set[str]:
    """Return the present and former names of the project that has the page `projects/NAME`; none without a page."""

    def names(index: Index) -> set[str]:
        place = f"projects/{slug(project)}"
        found = {place, *entities_known_as(index, place)}
        pages = (entity for entity in entities(index) if entity.name in found)
        texts = (text for entity in pages for text in (entity.name, entity.title, *entity.aliases))
        return {text.removeprefix("projects/") for text in texts}

    return run_query(vault, names)


def page_project(
    index: Index, placed: tuple[str, str], facts: Iterable[Fact], here: str | None, made: Collection[str] = ()
) -> str | None:
    """Return the project that sees a statement that is placed on the page of a project or a company, as entity and
    statement; None if everybody sees it. `facts` are those of the page, `here` is the project in which it was said, and
    `made` are pages that are not in the index yet."""
    of_facts = {fact.project for fact in facts if fact.project}
    page = f"projects/{slug(project_name(here))}" if here else ""
    has_page = page in made or (here is not None and entity_exists(index, page))
    return project_of_page(*placed, of_facts, here, projects_in_use(index), has_page)


def _last_part(text: str) -> str:
    return normal(text.rstrip("/").rsplit("/", 1)[-1])


def _former_name(past: Vault, present: Vault, text: str, caller: Caller) -> str | None:
    """Return the name that an entity had in the vault of the past, or None."""

    def names(index: Index) -> list[str]:
        found = find_entity(index, text, caller)
        return [found, *(alias for entity in entities(index) if entity.name == found for alias in entity.aliases)]

    try:
        later = run_query(present, names)
    except ClawmemError:
        return None  # it is in neither vault: the caller raises
    return run_query(past, lambda index: next((name for name in later if entity_exists(index, name)), None))


def expand_own(text: str, caller: Caller) -> str:
    """Expand `@/rest` to the workspace of the calling agent. Raise InvalidInput if a person calls."""
    if not text.startswith("@/"):
        return text
    if caller.agent is None:
        raise InvalidInput(f"'{text}' needs an agent.", "Give it with --agent, or write @AGENT/...")
    return f"@{caller.agent}{text[1:]}"


def entity_for_draft(index: Index, draft: Draft, caller: Caller, default: str, user: str = "user") -> str:
    """Return the entity for a draft: the named one, else the one with the name of its subject, else the one that its
    sentence is about, known or new, else its own default, else `default`. `I` is the `user`."""
    if draft.entity:
        return resolve_entity(index, draft.entity, caller)

    def known_as(name: str) -> str | None:
        candidates = [text for text in entities_known_as(index, name) if owner_of(text) in (None, caller.agent)]
        return candidates[0] if len(candidates) == 1 else None

    def of_user() -> str:
        people = [text for text in (known_as(user), known_as("user")) if text and kind_of(text) == "person"]
        return people[0] if people else f"areas/people/{slug(user) or 'user'}"

    if draft.fact.subject and (of_subject := known_as(draft.fact.subject)):
        return of_subject
    found = entities_in_statement(index, draft.fact.fact, caller.agent)
    if found and not next(iter(found.values())):
        return next(iter(found))
    from clawmem.model.proposals.para import (  # only for what begins with nothing known
        CLOSE_PERSON,
        entity_name,
        thing_in_front,
    )

    named = thing_in_front(draft.fact.fact)
    if not (named or draft.fact.subject) and OF_SELF.match(draft.fact.fact):
        return of_user()
    if named and not (found and named.title == "user"):
        if named.kind == "person" and normal(named.title) == "user":
            return of_user()
        first = people_by_first_name(index, [normal(named.title)]) if named.kind == "person" else {}
        if CLOSE_PERSON.match(draft.fact.fact):
            first = {person: name for person, name in first.items() if _is_relation(index, person, draft.fact.fact)}
        if place := known_as(named.title) or next(iter(first), None) or entity_name(named):
            return place
    return next(iter(found)) if len(found) == 1 else draft.default or default


def _is_relation(index: Index, person: str, statement: str) -> bool:
    """Return whether somebody is known by a word for a relation that a statement has, as in "my sister Ana"."""
    from clawmem.model.proposals.para import relation_words

    words = relation_words(statement)
    return any(words & relation_words(fact.fact) for fact, _ in facts_of(index, person))


def entities_in_statement(index: Index, statement: str, agent: str | None = None) -> dict[str, int]:
    """Return the known entities that a sentence names, each with its place in the sentence, the one with whose name it
    begins (place 0) first. Entities of other agents are not meant."""
    words = statement.split()
    named = {
        name: start
        for start in range(len(words))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(words)) + 1)
        if words[start][:1].isupper() and (name := _bare(" ".join(words[start:end])))
    }
    found: dict[str, tuple[int, int]] = {}
    for entity, name in entities_called(index, [*named]).items():
        # "User accounts" is not about the user.
        of_user = name != "user" or normal(words[0]) == "the"
        if owner_of(entity) in (None, agent) and of_user:
            found[entity] = (named[name] if name != "user" else 0, -len(name))
    if first := _FIRST_NAME.match(statement):
        for entity in people_by_first_name(index, [normal(first["name"])]):
            if owner_of(entity) in (None, agent) and first["name"].lower() not in STOPWORDS:
                found.setdefault(entity, (0, 0))
    return {entity: start for entity, (start, _) in sorted(found.items(), key=lambda item: item[1])}


def _bare(name: str) -> str:
    """Return a name as titles are compared, without an article, a possessive or a stop."""
    return re.sub(r"['’]s$", "", normal(name).rstrip(".,;:!?")).removeprefix("the ")


def new_entity_files(
    name: str, caller: Caller, title: str | None = None, aliases: tuple[str, ...] = ()
) -> dict[str, bytes | None]:
    """Return the files of a new entity: its summary and an empty `items.json`."""
    from clawmem.model.pages.summary import summary_page  # only where an entity is new

    entity = Entity(name, title or title_of(name), aliases, kind_of(name))
    page = summary_page(entity, day_of(stamp(caller.now)))
    return {summary_path(name): page.encode(), items_path(name): b"[]\n"}


class FactMove(NamedTuple):
    """A changed fact, the entity that it stands in (None for a new fact), its target, and the title of a new target."""

    fact: Fact
    source: str | None
    target: str
    title: str | None = None


def move_writes(work: WriteScope, moves: Iterable[FactMove]) -> dict[str, bytes | None]:
    """Return the files in which each fact stands in its target, and no longer in another entity.

    A target that does not exist is created. A place of candidates without facts is removed.
    """
    facts: dict[str, dict[str, Fact]] = {}
    writes: dict[str, bytes | None] = {}

    def of(entity: str) -> dict[str, Fact]:
        if entity not in facts:
            facts[entity] = {fact.id: fact for fact in work.facts(entity)}
        return facts[entity]

    for move in moves:
        if move.source and move.source != move.target:
            of(move.source).pop(move.fact.id, None)
        if move.target != move.source and not entity_exists(work.index, move.target):
            writes.update(new_entity_files(move.target, work.caller, move.title))
        of(move.target)[move.fact.id] = move.fact
    for entity, left in facts.items():
        empty = not left and is_candidate_place(entity)
        writes.update({items_path(entity): None} if empty else items_write(entity, list(left.values())))
    return writes


def check_not_forgotten(index: Index, name: str) -> None:
    """Raise NotFound for an entity of which all was to be forgotten, as if there were none."""
    if name in forgotten_entities(index):
        raise NotFound(f"There is no entity '{name}'.", "`clawmem entity list` shows all of them.")
