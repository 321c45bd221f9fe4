"""Which entities a clause is about, and who the people are that it names."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.learning.grammar import BE, MINE, NAME, Reading
from clawmem.learning.names import is_name
from clawmem.learning.shapes.shape import Shape
from clawmem.learning.words import CLOSE, RELATION_OF
from clawmem.model.proposition import Hint

_RELATIVE = re.compile(
    r"(?:[Mm]y|[Oo]ur) (?P<words>(?:[\w-]+ ){0,3}?)(?P<noun>[a-zé]+),? (?P<name>[A-Z][\w-]+)(?:,| and|$)"
)
_CALLED = re.compile(r"\b(?:called|named) (?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)*)")
_PROJECT = re.compile(
    r"\b(?:project|app|product|site|website|startup|game|book|novel|podcast|blog|channel|library|tool)\b"
)


class Relation(NamedTuple):
    """Somebody or some animal close to the speaker, by name where it is given."""

    predicate: str
    noun: str
    name: str | None


def relation_of(reading: Reading, speaker: str) -> Relation | None:
    """The relation in the subject ("My sister Ana"), or None where the subject is none."""
    if reading.person != MINE:
        return None
    named = _RELATIVE.match(reading.subject)
    if named and named["noun"] in RELATION_OF:
        return Relation(RELATION_OF[named["noun"]], (named["words"] + named["noun"]).strip(), named["name"])
    words = re.sub(r"'s (?:full |first |last )?name$", "", reading.subject).split()[1:]
    noun = next((word for word in words if word in RELATION_OF), None)
    return Relation(RELATION_OF[noun], " ".join(words), None) if noun else None


def introduced(reading: Reading, relation: Relation | None, former: str | None = None) -> Relation | None:
    """The relation with the name that the clause gives it ("My wife is Anna"); one whose name is corrected, too
    ("My son's name is Marc, not Max")."""
    if relation is None or relation.name or reading.aspect != BE or reading.past or reading.negated:
        return relation
    naming = relation.noun == reading.subject.split(" ", 1)[-1] or former
    name = reading.rest.rstrip(" .!,").removeprefix("called ").removeprefix("named ")
    return relation._replace(name=name) if naming and is_name(name) else relation


def hints_of(reading: Reading, shape: Shape, speaker: str, relation: Relation | None, context: str) -> tuple[Hint, ...]:
    """The entities of a clause, the one that its fact belongs to first."""
    hints = []
    if relation and relation.name and relation.predicate in CLOSE - {"pet"}:
        hints.append(Hint("person", relation.name, "relation"))
    if reading.person == NAME:
        hints.append(Hint("person", reading.subject, "mention"))
    else:
        hints.append(Hint("person", _title(speaker), "speaker"))
    if shape.predicate == "works_at" and shape.object and shape.object[:1].isupper():
        hints.append(Hint("company", shape.object, "work"))
    if shape.predicate == "works_on" and shape.object:
        called = _CALLED.search(shape.object)
        if called and _PROJECT.search(shape.object):
            hints.append(Hint("project", called["name"], "work"))
    return tuple(hints)


def _title(speaker: str) -> str:
    return "User" if speaker == "The user" else speaker
