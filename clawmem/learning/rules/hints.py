"""The entities and the people that a clause is about."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.learning.english.grammar import BE, MINE, NAME, ParsedClause
from clawmem.learning.english.names import is_name
from clawmem.learning.english.words import CLOSE, RELATION_OF
from clawmem.learning.rules.shapes.shape import ClauseShape
from clawmem.model.proposals.proposition import EntityHint

_RELATIVE = re.compile(
    r"(?:[Mm]y|[Oo]ur) (?P<words>(?:[\w-]+ ){0,3}?)(?P<noun>[a-zé]+),? (?P<name>[A-Z][\w-]+)(?:,| and|$)"
)
_CALLED = re.compile(r"\b(?:called|named) (?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)*)")
_PROJECT = re.compile(
    r"\b(?:project|app|product|site|website|startup|game|book|novel|podcast|blog|channel|library|tool)\b"
)


class PersonRelation(NamedTuple):
    """A person or animal close to the speaker, with a name if given."""

    predicate: str
    noun: str
    name: str | None


def relation_of(reading: ParsedClause, speaker: str) -> PersonRelation | None:
    """Return the relation in the subject ("My sister Ana"), or None."""
    if reading.person != MINE:
        return None
    named = _RELATIVE.match(reading.subject)
    if named and named["noun"] in RELATION_OF:
        return PersonRelation(RELATION_OF[named["noun"]], (named["words"] + named["noun"]).strip(), named["name"])
    words = re.sub(r"'s (?:full |first |last )?name$", "", reading.subject).split()[1:]
    noun = next((word for word in words if word in RELATION_OF), None)
    return PersonRelation(RELATION_OF[noun], " ".join(words), None) if noun else None


def with_introduced_name(
    reading: ParsedClause, relation: PersonRelation | None, former: str | None = None
) -> PersonRelation | None:
    """Return the relation with the name that the clause introduces ("My wife is Anna") or corrects."""
    if relation is None or relation.name or reading.aspect != BE or reading.past or reading.negated:
        return relation
    naming = relation.noun == reading.subject.split(" ", 1)[-1] or former
    name = reading.rest.rstrip(" .!,").removeprefix("called ").removeprefix("named ")
    return relation._replace(name=name) if naming and is_name(name) else relation


def hints_of(
    reading: ParsedClause, shape: ClauseShape, speaker: str, relation: PersonRelation | None, context: str
) -> tuple[EntityHint, ...]:
    """Return the entities of a clause, the main entity first."""
    hints = []
    if relation and relation.name and relation.predicate in CLOSE - {"pet"}:
        hints.append(EntityHint("person", relation.name, "relation"))
    if reading.person == NAME:
        hints.append(EntityHint("person", reading.subject, "mention"))
    else:
        hints.append(EntityHint("person", _title(speaker), "speaker"))
    if shape.predicate == "works_at" and shape.object and shape.object[:1].isupper():
        hints.append(EntityHint("company", shape.object, "work"))
    if shape.predicate == "works_on" and shape.object:
        called = _CALLED.search(shape.object)
        if called and _PROJECT.search(shape.object):
            hints.append(EntityHint("project", called["name"], "work"))
    return tuple(hints)


def _title(speaker: str) -> str:
    return "User" if speaker == "The user" else speaker
