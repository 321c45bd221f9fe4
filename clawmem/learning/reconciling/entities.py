"""Place a learned fact: in a known entity, in a new entity, or in the daily note."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from clawmem.learning.rules.language import HAS_A, relations
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import (
    HERE,
    OF_PROJECTS,
    EntityHint,
    Proposition,
    entity_name,
    names_in,
    subject_hints,
)
from clawmem.model.records.entity import Entity, kind_of, known_to, name_and_other, owner_of, title_of
from clawmem.model.records.event import Event, people_in

MIN_MENTIONS = 3
MOST_RELATED = 8
_REASONS = {
    "speaker": "is the one who speaks",
    "relation": "is close to the speaker",
    "work": "is a project or employer of the speaker",
    "asked": "was asked for",
    "named": "is what it is about",
    "name": "is a {kind} by its name",
    "fact": "is a {kind} in a known fact",
}
# Roles of the thing that a fact is about. The others only say who speaks or is mentioned.
_ABOUT = frozenset(("about", "asked", "named"))
_KIN = frozenset(("spouse", "partner", "child", "parent", "sibling", "relative", "friend", "colleague"))
# Predicates that name a close person: the relation itself, or the name of "Ada's husband".
RELATION_PREDICATES = _KIN | {"name"}
_WHOSE = re.compile(r"(?P<owner>.+)['’]s (?:[\w-]+ )*?(?P<noun>[\w-]+)")
# Facts that matter for somebody's safety always get an entity.
_VITAL = frozenset(("allergic_to",))
_PART_OF = re.compile(r"['’]s?(?= |$)")
_LONGEST_TITLE = 5
# "the staging host of Tidemark"
_PART = re.compile(r"(?:[Tt]he )?[^\WA-Z][\w. -]* (?:of|for|in|von|de) (?P<whole>[^\Wa-z][^,;]*)")
# "the Atlas launch" is about Atlas; "general relativity" is not about an area called General.
_WITH_PARTS = ("project", "company")


class Placement(NamedTuple):
    """The entity of a fact (None for the daily note), whether to create it, its title, and the reason."""

    entity: str | None
    create: bool
    title: str
    reason: str


class EntityTitles:
    """The known entities by name and title, with and without their kind."""

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        self._names: dict[tuple[str, str], str] = {}
        for name, titles in known.items():
            self.add(name, titles)

    def add(self, name: str, titles: Iterable[str]) -> None:
        """Add an entity under its name, the title derived from its name, and these titles."""
        for title in (name, title_of(name), *titles):
            self._names.setdefault((kind_of(name), normal(title)), name)
            self._names.setdefault(("", normal(title)), name)

    def get(self, kind: str, title: str) -> str | None:
        """Return the entity with this normalised title. An empty `kind` means any kind."""
        return self._names.get((kind, title))

    def of_subject(self, subject: str) -> str | None:
        """Return the entity, not a person, whose title is or begins a subject: Atlas for "the Atlas launch"."""
        items = _PART_OF.sub("", subject).removeprefix("the ").removeprefix("The ").split()
        for last in range(min(len(items), _LONGEST_TITLE), 0, -1):
            found = self._names.get(("", normal(" ".join(items[:last]))))
            whole = last == len(items) or items[last][0].islower()
            if found and whole and owner_of(found) is None and (last == len(items) or kind_of(found) in _WITH_PARTS):
                return found if kind_of(found) != "person" else None
        part = _PART.fullmatch(subject)
        whole_of = self._names.get(("", normal(part["whole"]))) if part else None
        return whole_of if whole_of and owner_of(whole_of) is None and kind_of(whole_of) in _WITH_PARTS else None

    def named_in(self, text: str) -> list[str]:
        """Return the entities of the vault, not of an agent, whose titles a text contains, in the order of the text."""
        found = (self._names.get(("", name)) for name in names_in(text))
        return [name for name in dict.fromkeys(found) if name and owner_of(name) is None]

    def __contains__(self, title: object) -> bool:
        return ("", title) in self._names


def place(
    proposition: Proposition,
    titles: EntityTitles,
    mentions: Mapping[str, int] | None = None,
    relations: Callable[[], Mapping[str, str]] = dict,
    kinds: Callable[[], Mapping[str, str]] = dict,
) -> Placement:
    """Decide where the fact of a proposition goes: to the thing that it is about, else to the person.

    `mentions` counts the mentions of each normalised title so far; with MIN_MENTIONS of them a title becomes an
    entity. `relations` returns the people close to the speaker, as `close_people` does, and `kinds` the kinds of the
    things that known facts name, as `kinds_of_objects` does.
    """
    stated = [hint for hint in proposition.entity_hints[:1] if hint.entity]
    stated += [hint for hint in proposition.entity_hints if hint.role in _ABOUT and hint not in stated]
    entity = None if stated else titles.of_subject(proposition.subject or "")
    if not (stated or entity) and proposition.category in OF_PROJECTS:
        named = [text for text in titles.named_in(proposition.statement) if kind_of(text) == "project"]
        entity = named[0] if len(named) == 1 else None
        if entity:
            return Placement(entity, False, "", f"The {proposition.category} is about {entity} alone.")
    if entity:
        return Placement(entity, False, proposition.subject or "", f"{proposition.subject} is about {entity}.")
    others = [hint for hint in proposition.entity_hints if hint not in stated and hint.role not in (HERE, "speaker")]
    speakers = [hint for hint in proposition.entity_hints if hint not in stated and hint.role == "speaker"]
    if not (speakers and is_of_speaker(proposition)):
        # What is said of something else belongs to the project of the conversation.
        others += [hint._replace(role="about") for hint in proposition.entity_hints if hint.role == HERE]
    order = [*speakers, *others] if _speaker_first(proposition) else [*others, *speakers]
    subject = proposition.subject or ""
    person = [EntityHint("person", subject, "mention")] if titles.get("person", normal(subject)) else []
    for subject_hint in (*stated, *subject_hints(proposition, kinds), *person, *order):
        hint = subject_hint if _known(subject_hint, titles) else _as_relation(subject_hint, relations)
        entity = _known(hint, titles)
        if entity:
            return Placement(entity, False, hint.title, f"{hint.title} is known as {entity}.")
        reason = _reason_to_create(hint, mentions or {}) or _safety_reason(hint, proposition)
        entity = entity_name(hint)
        if reason and entity:
            return Placement(entity, True, hint.title, reason)
    return Placement(None, False, "", "It is not about a known or important entity; it goes to the daily note.")


def is_of_speaker(proposition: Proposition) -> bool:
    """Return whether a proposition is about who said it, or about somebody or something of the speaker's own."""
    return any(_is_of(proposition, hint.title) for hint in proposition.entity_hints if hint.role == "speaker")


def _is_of(proposition: Proposition, speaker: str) -> bool:
    """Return whether a proposition is about its speaker, or about somebody or something of the speaker's own."""
    subject = normal(proposition.subject or "")
    return not subject or subject.startswith(("the user", normal(speaker)))


def _speaker_first(proposition: Proposition) -> bool:
    hints = [entity_hint for entity_hint in proposition.entity_hints if entity_hint.role != HERE]
    return bool(hints) and hints[0].role == "speaker" and any(_is_of(proposition, hint.title) for hint in hints[:1])


def related_entities(proposition: Proposition, entity: str, titles: EntityTitles) -> tuple[str, ...]:
    """Return the other known entities that a fact of this entity names, at most `MOST_RELATED`."""
    texts = dict.fromkeys((proposition.statement, proposition.subject or "", proposition.object or ""))
    found = dict.fromkeys(name for text in texts for name in titles.named_in(text))
    around = (_known(hint, titles) for hint in proposition.entity_hints if hint.role in ("speaker", HERE))
    every = dict.fromkeys((*found, *(text for text in around if text)))
    return tuple(text for text in every if text != entity)[:MOST_RELATED]


def close_people(facts: Iterable[Fact]) -> dict[str, str]:
    """Return the people that the facts call a relation of the speaker, such as a husband, child or boss.

    The keys are the normalised full name and first name, the value is the full name. A relation of a relation ("Ada's
    husband", where Ada is the sister) is left out.
    """
    standing = [fact for fact in facts if fact.is_current and fact.object and "no longer" not in fact.fact]
    names = _by_name(name for fact in standing if _is_in_passing(fact) for name in _named(fact))
    owned = ((normal(_owner(fact)), name) for fact in standing if not _is_in_passing(fact) for name in _named(fact))
    return {**_by_name(name for owner, name in owned if owner and owner not in names), **names}


def _known(hint: EntityHint, names: EntityTitles) -> str | None:
    if hint.entity and hint.entity in names:
        return hint.entity
    title = normal(hint.title)
    return names.get(hint.kind, title) or names.get("", title) or names.get("", normal(entity_name(hint) or ""))


def _is_in_passing(fact: Fact) -> bool:
    """Return whether a fact comes from a phrase such as "my sister Ana", which only the speaker uses."""
    return fact.predicate in _KIN and (fact.relation_phrase or "").startswith(HAS_A)


def _owner(fact: Fact) -> str:
    """Return the person whose relation a fact names, or an empty string."""
    if fact.predicate in _KIN:
        return fact.subject or ""
    whose = _WHOSE.fullmatch(fact.subject or "") if fact.predicate == "name" else None
    return whose["owner"] if whose and relations().get(whose["noun"].lower()) in _KIN else ""


def _named(fact: Fact) -> list[str]:
    """Return the names in a fact's object: "Lina", or both names of "two daughters called Lina and Maren"."""
    value = re.sub(r"^.*\b(?:named|called) ", "", fact.object or "")
    return [name for name in re.split(r",? and |, ", value) if name[:1].isupper()]


def _by_name(names: Iterable[str]) -> dict[str, str]:
    """Map the normalised full name, and the first name if it is unambiguous, to the full name."""
    unique = list(dict.fromkeys(names))
    firsts = Counter(normal(name.split()[0]) for name in unique)
    by_first = {first: name for name in unique if firsts[first := normal(name.split()[0])] == 1}
    return {**by_first, **{normal(name): name for name in unique}}


def _as_relation(hint: EntityHint, relations: Callable[[], Mapping[str, str]]) -> EntityHint:
    """Return the hint with the full name and the role `relation` if the person is close to the speaker."""
    name = relations().get(normal(hint.title)) if hint.role == "mention" and hint.kind == "person" else None
    return hint._replace(title=name, role="relation") if name else hint


def _safety_reason(hint: EntityHint, proposition: Proposition) -> str:
    vital = proposition.predicate in _VITAL and hint.kind == "person"
    return f"An allergy of {hint.title} must not be lost." if vital else ""


def _reason_to_create(hint: EntityHint, mentions: Mapping[str, int]) -> str:
    if hint.role in _REASONS:
        return f"{hint.title} {_REASONS[hint.role].format(kind=hint.kind)}."
    if hint.role == "about" and hint.kind != "person":
        return f"It is about {hint.title}, a {hint.kind}."
    count = mentions.get(normal(hint.title), 0)
    return f"{hint.title} was mentioned {count} times." if count >= MIN_MENTIONS else ""


# An entity keeps the names of at most this many people who know it.
MOST_KNOWN = 12
_PIPED = "stdin"


class _Acquainted(NamedTuple):
    """A person with the name used for them, and the people who know them, in normal form."""

    title: str
    known_to: frozenset[str]


class Namesakes:
    """The people of a vault by name. `user` is the name of the vault's user, who is one person everywhere, also under
    the name that git has."""

    def __init__(self, entities: Iterable[Entity], user: str, in_git: str = "") -> None:
        self._users = {"user", normal(user), normal(in_git)}
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
