"""Tell people of the same name in different conversations apart, by the people who know them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from clawmem.model.language.text import normal
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.entity import Entity, kind_of, known_to, name_and_other
from clawmem.model.records.event import Event, people_in

# An entity keeps the names of at most this many people who know it.
MOST_KNOWN = 12
_PIPED = "stdin"


class _Acquainted(NamedTuple):
    """A person with the name used for them, and the people who know them, in normal form."""

    title: str
    known_to: frozenset[str]


class Namesakes:
    """The people of a vault by name. `user` is the name of the vault's user, who is one person everywhere."""

    def __init__(self, entities: Iterable[Entity], user: str) -> None:
        self._users = {"user", normal(user)}
        self._anyone: set[str] = set()
        self._known: dict[str, dict[str, _Acquainted]] = {}
        for entity in entities:
            self.add(entity)

    def add(self, entity: Entity) -> None:
        """Add an entity; one that is not a person has no namesakes."""
        if kind_of(entity.name) != "person":
            return
        found: dict[str, set[str]] = {}
        for name, other in map(name_and_other, (entity.title, *entity.aliases)):
            if other:
                found.setdefault(normal(name), set()).add(normal(other))
        for name, others in found.items():
            title = entity.title if name_and_other(entity.title)[1] else _spelled(name, entity)
            self._known.setdefault(name, {})[entity.name] = _Acquainted(title, frozenset(others))
        if not found:
            self._anyone.update(map(normal, (entity.title, *entity.aliases)))

    def title_here(self, name: str, people: Collection[str]) -> str:
        """Return the name of the person who is called so in a conversation of some people.

        It is the name of the entity that one of the others knows, or two of them if the person does not speak. Without
        such an entity, it is the name itself if nobody else has it, or if a person of that name is known without saying
        to whom; else "NAME (known to OTHER)".
        """
        key = normal(name)
        others = {normal(person): person for person in sorted(people) if normal(person) != key}
        if key in self._users or not others:
            return name
        speaks = any(normal(person) == key for person in people)
        known = self._known.get(key, {})
        for acquainted in known.values():
            enough = 1 if speaks else min(2, len(others), len(acquainted.known_to))
            if len(acquainted.known_to & others.keys()) >= enough:
                return acquainted.title
        return known_to(name, next(iter(others.values()))) if known and key not in self._anyone else name

    def here(self, proposition: Proposition, people: Collection[str]) -> Proposition:
        """Return a proposition with the names that tell its people from their namesakes in other conversations."""
        hinted = (entity_hint.title for entity_hint in proposition.entity_hints if entity_hint.kind == "person")
        named = {name: self.title_here(name, people) for name in dict.fromkeys((*people, *hinted))}
        named = {name: title for name, title in named.items() if title != name}
        return _renamed(proposition, named) if named else proposition


def conversation_of(event: Event) -> str:
    """Return what keeps the people of an event apart from others: its source, or its session if it came by a pipe."""
    return event.source if event.source and event.source != _PIPED else f"{_PIPED} {event.session or ''}"


def session_of(event: Event) -> str:
    """Return what the people of an event share who met: its conversation, and its session in it if it has one."""
    return f"{conversation_of(event)}\t{event.session}" if event.session else conversation_of(event)


def people_of(events: Iterable[Event]) -> dict[str, frozenset[str]]:
    """Return the people who speak in each conversation, and in each of its sessions."""
    record: dict[str, list[Event]] = {}
    for event in events:
        for part in dict.fromkeys((conversation_of(event), session_of(event))):
            record.setdefault(part, []).append(event)
    return {name: people_in(each) for name, each in record.items()}


def acquaintances(title: str, people: Collection[str]) -> tuple[str, ...]:
    """Return the aliases of a new person in a session of a conversation: the name as each of the others knows it."""
    name = name_and_other(title)[0]
    others = [person for person in sorted(people) if normal(person) != normal(name)][:MOST_KNOWN]
    aliases = [known_to(name, other) for other in others]
    return tuple(alias for alias in ([name, *aliases] if name != title else aliases) if alias != title)


def _spelled(name: str, entity: Entity) -> str:
    """Return a name that an entity has, in the spelling of its page."""
    return next((alias for alias in (entity.title, *entity.aliases) if normal(alias) == name), entity.title)


def _renamed(proposition: Proposition, named: Mapping[str, str]) -> Proposition:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(named, key=len, reverse=True)))})\b")

    def with_names(text: str) -> str:
        return pattern.sub(lambda match: named[match[0]], text)

    return proposition._replace(
        statement=with_names(proposition.statement),
        subject=with_names(proposition.subject) if proposition.subject else None,
        object=with_names(proposition.object) if proposition.object else None,
        entity_hints=tuple(
            EntityHint(entity_hint.kind, named.get(entity_hint.title, entity_hint.title), entity_hint.role)
            if entity_hint.kind == "person"
            else entity_hint
            for entity_hint in proposition.entity_hints
        ),
    )
