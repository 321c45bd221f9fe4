"""The triple of a clause: subject and object in words that make sense alone."""

from __future__ import annotations

import re
from datetime import date

from clawmem.learning.attribution.speaker import THE_USER
from clawmem.learning.english import grammar
from clawmem.learning.english.third_person import in_third_person, until_second_verb
from clawmem.learning.rules.dating import name_project, without_any_date
from clawmem.learning.rules.hints import PersonRelation
from clawmem.learning.rules.shapes.belongings import SUPERIOR
from clawmem.learning.rules.shapes.shape import DATELESS, OWN_ATTRIBUTES, ClauseShape

# Of these there is one at a time, and a new one is the same slot with another value: "the new deadline".
_SLOTS = frozenset(("deadline", "budget", "limit", "scheduled_for", "set_to", "ends"))
_NEW = re.compile(r"^(?P<whose>(?:the|.{1,60}'s) )(?:(?:new|current|updated|revised|latest) )+", re.IGNORECASE)


def triple_subject(
    reading: grammar.ParsedClause, shape: ClauseShape, relation: PersonRelation | None, subject: str, name: str
) -> str:
    """Return the subject of the triple. "We" and the speaker's own attributes count as the speaker."""
    if relation and relation.name:
        return relation.name
    subject = _NEW.sub(r"\g<whose>", subject) if shape.predicate in _SLOTS or SUPERIOR.search(subject) else subject
    if reading.person == grammar.WE:
        return subject_name(name)
    own = shape.predicate in OWN_ATTRIBUTES and not SUPERIOR.search(subject)
    if reading.person == grammar.MINE and own and not relation:
        return subject_name(name if _is_own(reading.subject, shape.predicate) else subject)
    if own:
        return subject_name(re.sub(r"'s (?!.*'s )[a-z -]+$", "", subject) if "'s " in reading.subject else subject)
    return subject_name(subject)


def without_attribute(reading: grammar.ParsedClause) -> grammar.ParsedClause:
    """Return the clause without the attribute of its subject: my sister Ana for `my sister Ana's birthday`."""
    return reading._replace(subject=re.sub(r"'s [a-z -]+$", "", reading.subject))


def triple_object(shape: ClauseShape, said: date, label: str = "") -> str:
    """Return the object in the third person.

    A date stays only if it is the point of the statement. `label` is a removed date that belongs to a plan or decision.
    """
    text = shape.object or ""
    if shape.predicate in DATELESS:
        text = without_any_date(text, said)
    if shape.predicate in ("lives_in", "works_at"):
        text = re.split(r",? (?:with|and|because|for|since|as|where|while|but|so|now) ", text)[0]
    words = name_project(in_third_person(until_second_verb(text) or text))
    return f"{words} ({label})" if words and label and shape.category in ("plan", "decision") else words


def subject_name(subject: str) -> str:
    """Return a subject in the form that triples use, such as `the user`."""
    return subject.replace(THE_USER, "the user").replace("The ", "the ", 1) if subject.startswith("The ") else subject


def _is_own(subject: str, predicate: str | None) -> bool:
    """Whether an attribute is the speaker's and not that of a thing or of somebody else ("my kitchen budget")."""
    words = subject.split()[1:]
    return "'s " not in subject and (len(words) == 1 or predicate not in ("budget", "deadline"))
