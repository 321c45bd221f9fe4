"""Whom a question is about: which of the found facts are about the people and things that it names."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from clawmem.model.language.question import COMMON_WORDS, STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import kind_of, title_of

PERSON = "person"
# A possessive in a question names whom it asks about, and one that begins a statement whom that is about.
_OWNER = re.compile(r"\b([^\W\d_][\w-]*)['’]s\b")
_ASKING = ("user", "the user")
_WORD = re.compile(r"[^\W_]+")
Key = TypeVar("Key")


def owners_asked(question: str) -> frozenset[str]:
    """Return the names that have a possessive in a question, in lower case."""
    return frozenset(filter(None, map(_owner, _OWNER.findall(question))))


def belongs_to(text: str, place: str = "") -> str:
    """Return the name of whom a text is about by its first words or its entity, in lower case, or an empty text."""
    owner = _OWNER.match(text)
    if owner is not None and _owner(owner[1]):
        return _owner(owner[1])
    return _normal_title(place) if place and kind_of(place) == PERSON else ""


def _owner(word: str) -> str:
    """Return a name in lower case; an empty text for a word such as that of "That's"."""
    lowered = word.lower()
    return lowered if word[0].isupper() and lowered not in STOPWORDS and lowered not in COMMON_WORDS else ""


class FactPlace(NamedTuple):
    """What says whom a fact is about: its subject in normal form, and its entity."""

    subject: str | None
    entity: str


def name_words(words: Collection[str], people: Collection[str]) -> frozenset[str]:
    """Return those of a question's search words that only name people, given the names of people in normal form.

    There are none if all other words are everyday words: then the names are what is asked about.
    """
    found = {part for name in people for part in name.split()}.intersection(words)
    return frozenset(found) if set(words) - found - COMMON_WORDS else frozenset()


def named_and_others(
    question: str,
    names: Collection[str],
    called: Mapping[str, str],
    found: Mapping[Key, FactPlace],
    having: Callable[[Collection[Key], Sequence[str]], Collection[Key]],
) -> tuple[Collection[Key], Collection[Key]]:
    """Return which of the found facts are about what a question names, and which about others than a named person.

    `names` is all that can be a name in the question, and `called` has the entities with such a title or alias.
    `having` returns those of some facts that have one of some words. A name is a person's if the entity is a person, or
    if it is written with a capital inside the question. A fact that mentions the person is not about others.
    """
    names = set(names)
    capitals = {word.lower() for word in _WORD.findall(question)[1:] if word[0].isupper()}

    def counts(name: str) -> bool:
        return name in names and (name not in STOPWORDS or name in capitals)

    @cache
    def name_of_entity(entity: str) -> str | None:
        """Return the name by which the question calls an entity; a person's first name is enough."""
        title = _normal_title(entity)
        first = _first_names(entity, title, names) if kind_of(entity) == PERSON else []
        return next(filter(counts, (called.get(entity, ""), title, *first)), None)

    named: set[Key] = set()
    persons: set[str] = set()
    for key, place in found.items():
        subject = place.subject or ""
        name = subject if counts(subject) else name_of_entity(place.entity)
        if name:
            named.add(key)
            # "My mother" asks the user, and is about somebody else.
            if name not in _ASKING and (kind_of(place.entity) == PERSON or name.split()[0] in capitals):
                persons.add(name)
    if not persons:
        return named, ()
    rest = found.keys() - named
    return named, rest - set(having(rest, sorted(persons)))


@lru_cache(maxsize=4096)
def _normal_title(entity: str) -> str:
    return normal(title_of(entity))


def _first_names(entity: str, title: str, names: Collection[str]) -> list[str]:
    """Return the first name of a person, and those of the names with a hyphen that begin the person's."""
    path = entity.rpartition("/")[2]
    return [*title.split()[:1], *(name for name in names if "-" in name and path.startswith(f"{name}-"))]
