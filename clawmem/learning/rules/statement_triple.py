"""Extract the triple of a remembered statement, if a pattern reads every word of it.

A wrong triple creates false contradictions, so statements with hedges, quotes or denials are skipped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clawmem.learning.rules.clauses import matched_form, predicate_of, tail_match, template_filled, values_of
from clawmem.learning.rules.language import Language, Rule, language_of
from clawmem.learning.rules.rules import statements
from clawmem.model.facts.catalog import Catalog, Predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.records.entity import Entity, kind_of, owner_of, title_of
from clawmem.model.records.event import Event

_LONGEST_NAME, _MOST_WORDS = 6, 20
# Of these, what is true is another value each year.
_FLEETING = frozenset(("age",))
_FIRST_PERSON = re.compile(r"(?:I|I'm|My|Ich|Mein\w*)\b")
_HEDGES = ("unsure", "reported", "untrue")
_MARKS = re.compile(r"[?!;{}<>|*`\"“”„«»…\[\]]|\.\.")


class StatementTriple(NamedTuple):
    """The triple of a statement. `phrase` is the verb of the clause."""

    subject: str
    predicate: str
    object: str
    phrase: str | None


class SubjectPhrase(NamedTuple):
    """The subject of a statement: its name in triples, its kind, the rest of the text, and what is owned
    (`Ann's birthday`).
    """

    subject: str
    kind: str
    rest: str
    owned: bool
    thing: bool = False


class EntityNames:
    """All names of each entity in statements. `default` is the entity of facts without an explicit one.

    `user` is the name of the user of the vault."""

    def __init__(self, known: Iterable[Entity], default: str, user: str = "user") -> None:
        self._default = default
        self.user = "the user" if normal(user) == "user" else user
        self._known = {entity.name: entity for entity in known}
        self._names: dict[str, set[str]] = defaultdict(set)
        for entity in self._known.values():
            for name in (entity.title, *entity.aliases, title_of(entity.name)):
                self._names[normal(name)].add(entity.name)
        self._names["user"] |= self._names[normal(user)]

    def whose(self, text: str, entity: str) -> SubjectPhrase | None:
        """Return the subject of a text if it is the entity that holds it.

        In the default entity the subject may be any known entity or the user.
        """
        for head, rest, owned in _heads(text):
            name = normal(head)
            bare = name.removeprefix("the ")
            if bare == "user" and (entity == self._default or self.is_the_users(entity)):
                return SubjectPhrase(self.user, "person", rest, owned)
            about = self._about(bare, entity)
            if about:
                kind = about.kind or kind_of(about.name)
                thing = bare != name
                return SubjectPhrase(_called(about, head, thing), kind, rest, owned, thing)
        return None

    def is_the_users(self, entity: str) -> bool:
        """Return whether the entity is the user of the vault."""
        about = self._known.get(entity)
        return entity in self._names["user"] and about is not None and about.kind == "person"

    def _about(self, name: str, entity: str) -> Entity | None:
        named = self._names.get(name, ())
        if entity in named:
            return self._known[entity]
        if entity not in self._known and name == normal(title_of(entity)):
            return Entity(entity, title_of(entity), (), kind_of(entity))
        shared = [text for text in named if owner_of(text) is None]
        return self._known[shared[0]] if entity == self._default and len(shared) == 1 else None


def _called(about: Entity, head: str, thing: bool) -> str:
    """How triples call an entity: by its title, and a thing as learning calls it, "the webshop"."""
    if not thing:
        return about.title
    return f"the {head[4:] if normal(head[4:]) == normal(about.title) else about.title}"


def _heads(text: str) -> Iterator[tuple[str, str, bool]]:
    """The beginnings of a text that may be a name, longest first, each with what follows."""
    ends = [found.start() for found in re.finditer(" ", text)][:_LONGEST_NAME]
    for end in reversed(ends):
        head, rest = text[:end], text[end + 1 :]
        bare = re.sub(r"['’]s$", "", head)
        if bare[-1:].isalnum():
            yield bare, rest, bare != head


def triple_of(fact: Fact, entity: str, called: EntityNames, catalog: Catalog) -> StatementTriple | None:
    """Return the triple of a fact's statement about its entity, or None unless a pattern reads all of it."""
    text = fact.fact.strip().replace("’", "'").removesuffix(".")
    language = language_of(text)
    if len(text.split()) > _MOST_WORDS or _MARKS.search(text) or _is_hedged(text, language):
        return None
    if _FIRST_PERSON.match(text):
        spoken = fact.trust == "user" and fact.agent is None and called.is_the_users(entity)
        return _first_person(text, called.user, fact, catalog) if spoken else None
    whose = called.whose(text, entity)
    if whose is None:
        return None
    about_thing = whose.thing and not whose.owned and whose.kind != "person"
    slot = _of_thing(text, whose, language, catalog) if about_thing else None
    return slot or _of_named(whose, language, catalog)


def _is_hedged(text: str, language: Language) -> bool:
    return any(language.guards[name].search(text) for name in _HEDGES)


def _first_person(text: str, user: str, fact: Fact, catalog: Catalog) -> StatementTriple | None:
    """What the user says of themself."""
    found = statements(Event(fact.id, fact.timestamp, "user", text), catalog)
    if len(found) != 1 or found[0].span != (0, len(text)) or found[0].ended or found[0].former:
        return None
    proposition = found[0]
    if (
        not (proposition.subject and proposition.predicate and proposition.object)
        or proposition.valid_from
        or proposition.predicate in _FLEETING
    ):
        return None
    return StatementTriple(
        proposition.subject.replace("the user", user, 1),
        proposition.predicate,
        proposition.object,
        proposition.relation_phrase,
    )


def _of_named(whose: SubjectPhrase, language: Language, catalog: Catalog) -> StatementTriple | None:
    """What is said of somebody or something by name, in the words in which a rule says it."""
    owner = language.possessive.replace("{name}", whose.subject)
    for rule in language.rules:
        if (rule.of == "thing") != (whose.kind != "person") or rule.ended or rule.predicate in _FLEETING:
            continue
        found = tail_match(rule, whose.rest, whose.owned)
        if found:
            return _triple(rule, found, language, catalog, {"who": whose.subject, "whose": owner, "env": whose.subject})
    return None


def _of_thing(text: str, whose: SubjectPhrase, language: Language, catalog: Catalog) -> StatementTriple | None:
    """What is said of something that belongs to a thing and goes by its name: "The webshop deadline is ..."."""
    for rule in language.rules:
        if rule.of != "thing" or rule.ended:
            continue
        _, found = matched_form(rule, text) or (None, None)
        triple = (
            _triple(rule, found, language, catalog, {})
            if found and "former" not in values_of(found, language)
            else None
        )
        if triple:
            own = normal(triple.subject).startswith(normal(whose.subject).removeprefix("the "), 4)
            return triple if own or normal(triple.subject) == normal(whose.subject) else None
    return None


def _triple(
    rule: Rule, found: re.Match[str], language: Language, catalog: Catalog, names: dict[str, str]
) -> StatementTriple | None:
    values = {**values_of(found, language), **names}
    predicate, value = predicate_of(rule, values, language), template_filled(rule.object, values)
    if (
        not value
        or not predicate
        or predicate not in catalog.predicates
        or _is_vague(value, catalog.predicates[predicate])
    ):
        return None
    phrase = template_filled(rule.phrase, values).lower() or None
    return StatementTriple(template_filled(rule.subject, values), predicate, value, phrase)


def _is_vague(value: str, predicate: Predicate) -> bool:
    """Whether a value only describes one where one name is asked for: "a bank"."""
    return predicate.single and predicate.value != "text" and re.match(r"(?:an?|eine?\w*) ", value) is not None
