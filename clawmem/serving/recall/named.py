"""Whom a question is about: the facts about the people and things that it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from clawmem.index.search.channels import names_in
from clawmem.index.search.lookup import PlacedFact, entities_called
from clawmem.index.tables.store import Index
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.records.entity import kind_of, title_of
from clawmem.model.search.ranking import AskedOf

_PERSON = "person"
_ASKING = ("user", "the user")
_WORD = re.compile(r"[^\W_]+")


def facts_asked_of(index: Index, question: str, found: Mapping[int, PlacedFact]) -> AskedOf:
    """Return which of the found facts are about what the question names, and which about others than a named person.

    A name is a person's if the entity is a person, or if it is written with a capital inside the question. A fact that
    mentions the person is not about others.
    """
    names = set(names_in(question))
    called = entities_called(index, sorted(names))
    capitals = {word.lower() for word in _WORD.findall(question)[1:] if word[0].isupper()}

    def counts(name: str) -> bool:
        return name in names and (name not in STOPWORDS or name in capitals)

    @cache
    def name_of_entity(entity: str) -> str | None:
        """Return the name by which the question calls an entity; a person's first name is enough."""
        title = _normal_title(entity)
        first = _first_names(entity, title, names) if kind_of(entity) == _PERSON else []
        return next(filter(counts, (called.get(entity, ""), title, *first)), None)

    named: dict[int, str] = {}
    persons: set[str] = set()
    for n, one in found.items():
        subject = one.fact.subject or ""
        name = subject if counts(subject) else name_of_entity(one.entity)
        if name:
            named[n] = name
            # "My mother" asks the user, and is about somebody else.
            if name not in _ASKING and (kind_of(one.entity) == _PERSON or name.split()[0] in capitals):
                persons.add(name)
    others: set[int] = set()
    if persons:
        rest = found.keys() - named.keys()
        others = rest - index.engine.having(rest, sorted(persons))
    return AskedOf({found[n].fact.id for n in named}, {found[n].fact.id for n in others})


@lru_cache(maxsize=4096)
def _normal_title(entity: str) -> str:
    return normal(title_of(entity))


def _first_names(entity: str, title: str, names: set[str]) -> list[str]:
    """Return the first name of a person, and those of the names with a hyphen that begin the person's."""
    path = entity.rpartition("/")[2]
    return [*title.split()[:1], *(name for name in names if "-" in name and path.startswith(f"{name}-"))]
