"""Whom a question is about: the facts about the people and things that it names."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.index.search.channels import names_in
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.tables.store import Index
from clawmem.model.search.named import FactPlace, named_and_others
from clawmem.model.search.ranking import AskedOf


def facts_asked_of(index: Index, question: str, called: Mapping[str, str], found: Mapping[int, PlacedFact]) -> AskedOf:
    """Return which of the found facts are about what the question names, and which about others than a named person.

    `called` are the entities that the question names, each with that name."""
    names = names_in(question)
    places = {n: FactPlace(placed.fact.subject, placed.entity) for n, placed in found.items()}
    named, others = named_and_others(question, names, called, places, index.engine.having)
    return AskedOf({found[n].fact.id for n in named}, {found[n].fact.id for n in others})
