"""Extract the triple of a remembered statement, if the rules can read every word of it.

A wrong triple creates false contradictions, so statements with hedges, limits, quotes or denials are skipped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from clawmem.learning.attribution.speaker import THE_USER
from clawmem.learning.english.verbs import PAST, PRESENT, lemma_as, third_person
from clawmem.learning.english.words import HAS_A
from clawmem.learning.rules.dating import said_day
from clawmem.learning.rules.rules import extract
from clawmem.model.facts.catalog import Catalog, Predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.language.date_words import find_dates
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.entity import Entity, kind_of, owner_of, title_of
from clawmem.model.records.event import Event

# Reads as a name whatever the entity is called: "Web Shop", "mark" and "Will" do not.
_STAND_IN = "Nemo"
_LONGEST_NAME, _MOST_WORDS = 6, 20
# A fact that was written by hand without a time counts as recorded in 1970: no year can be told from that.
_NO_YEAR_BEFORE = 2000
_LASTING = frozenset(("status", "identity", "preference", "relationship", "health", "fact"))
_ONCE = frozenset(("birthday", "born_in"))
# Of these, what is true is another value each year.
_FLEETING = frozenset(("age",))
_SLOTS = frozenset(("deadline", "budget", "limit", "set_to", "ends", "scheduled_for"))
_OF_THINGS = _SLOTS | {"uses"}
_OF_COMPANIES = _OF_THINGS | {"lives_in"}
# What may be somebody's or something's own without being a fact about them alone: "Ann's favorite color".
_OF_WHAT_IS_THEIRS = frozenset(("favorite", "name", "set_to", "limit"))
_NAMED_VALUES = frozenset(("place", "organisation", "person"))
_LOOSE = re.compile(
    r"n['’]t\b|\b(?:not|never|no|none|nobody|nothing|if|unless|until|till|while|when|whenever|where|wherever|because|but|"
    r"or|nor|except|though|although|maybe|perhaps|probably|possibly|likely|apparently|allegedly|reportedly|supposedly|"
    r"seems?|seemingly|might|may|could|would|should|shall|will|must|can|says?|said|claims?|claimed|thinks?|thought|"
    r"believes?|hopes?|used|former|formerly|previous|previously|ex|once|temporarily|sometimes|often|usually|mostly|partly|"
    r"mainly|almost|nearly|about|around|near|outside|half|part|during|soon|anymore|again|still|only|either|who|which|that|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|whose|what|so|he|she|they|it|you|we|this|these|those|one)\b"
)
_MARKS = re.compile(r"[?!;:(){}<>|*`\"“”„«»…\[\]]|\.\.|(?<!\d),|,(?! \d{4}$)")
_PROPER = re.compile(
    r"(?:[Tt]he )?[A-Z][\w.'’&-]*(?: (?:[A-Z][\w.'’&-]*|\d+|of|de|da|do|del|la|le|los|las|el|am|an der))*"
)
# What can be said in so many ways that one may be true beside another is read in these alone: somebody may be a student
# and a waiter, live in Oslo at Main Street 5, and come from Norway with Bergen for a hometown.
_ONLY_AS = {
    "job": re.compile(r" works? as |^My (?:job|role|occupation|profession) is "),
    "lives_in": re.compile(r" in "),
    "from": re.compile(r" (?:is|am|I'm) from |^I'm from "),
}
_YEAR_ADDED = re.compile(r"(?P<said>.+), \d{4}")
_AND = re.compile(r"\band ([a-z]+)")
_SINCE = re.compile(r" since \S.*")


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
        self._known = {one.name: one for one in known}
        self._names: dict[str, set[str]] = defaultdict(set)
        for one in self._known.values():
            for name in (one.title, *one.aliases, title_of(one.name)):
                self._names[normal(name)].add(one.name)
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
        shared = [one for one in named if owner_of(one) is None]
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
    """Return the triple of a fact's statement about its entity, or None unless all of it was read with certainty."""
    text = fact.fact.strip().replace("’", "'").removesuffix(".")
    if len(text.split()) > _MOST_WORDS or _MARKS.search(text):
        return None
    if re.match(r"(?:I|I'm|My) ", text):
        spoken = fact.trust == "user" and fact.agent is None and called.is_the_users(entity)
        return _first_person(text, called.user, fact, catalog) if spoken else None
    whose = called.whose(text, entity)
    if whose is None or _LOOSE.search(whose.rest) or _STAND_IN in whose.rest:
        return None
    return _slot(text, whose, fact, catalog) or _named(whose, fact, catalog)


def _first_person(text: str, user: str, fact: Fact, catalog: Catalog) -> StatementTriple | None:
    """What the user says of themself."""
    first, _, rest = text.partition(" ")
    if _LOOSE.search(rest):
        return None
    said = {"My": f"{THE_USER}'s {rest}", "I'm": f"{THE_USER} am {rest}"}.get(first, f"{THE_USER} {rest}")
    return _certain(text, said, SubjectPhrase(user, "person", rest, first == "My"), "the user", fact, catalog)


def _named(whose: SubjectPhrase, fact: Fact, catalog: Catalog) -> StatementTriple | None:
    """What is said of somebody by name."""
    text = f"My {whose.rest}" if whose.owned else f"{_STAND_IN} {whose.rest}"
    said = f"{_STAND_IN}'s {whose.rest}" if whose.owned else text
    return _certain(text, said, whose, _STAND_IN, fact, catalog)


def _slot(text: str, whose: SubjectPhrase, fact: Fact, catalog: Catalog) -> StatementTriple | None:
    """What is said of something that belongs to a thing and goes by its name: "The webshop deadline is ..."."""
    if not whose.thing or whose.owned or whose.kind == "person":
        return None
    triple = _certain(text, text, whose, None, fact, catalog)
    named = triple and triple.predicate in _SLOTS and triple.subject.startswith(f"{whose.subject} ")
    return triple if named else None


def _certain(
    text: str, said: str, whose: SubjectPhrase, name: str | None, fact: Fact, catalog: Catalog
) -> StatementTriple | None:
    """The triple of a clause that is spoken by, or names, its subject `name`; `said` is the clause about them in the
    third person, of whose verb only the form may differ from what the rules make of it."""
    found = _only(text, fact, catalog, _STAND_IN if name == _STAND_IN else None)
    if found is None or not found.subject or not found.object or not found.predicate:
        return None
    predicate = catalog.predicates[found.predicate]
    value = _value_in(text, found, fact, predicate)
    if not value or not _fits(found, whose, text) or not _is_plain(value, text, predicate, found, fact):
        return None
    if not (_says_all(found, said, value, name) or _is_kinship(found, text, value)):
        return None
    subject = _subject(found, name, whose)
    return StatementTriple(subject, predicate.name, found.object, found.relation_phrase) if subject else None


def _only(text: str, fact: Fact, catalog: Catalog, speaker: str | None) -> Proposition | None:
    """The one proposition of a text that stands on all of it."""
    event = Event(fact.id, fact.timestamp, "user", text, speaker)
    found = extract(event, catalog, (speaker,) if speaker else ())
    if len(found) != 1 or found[0].span != (0, len(text)):
        return None
    one = found[0]
    changes = one.ended or one.former or one.corrects or one.scope or one.trust != "user"
    return None if changes else one


def _value_in(text: str, found: Proposition, fact: Fact, predicate: Predicate) -> str:
    """The words at the end of a text that say the object; empty where it is said elsewhere, or not in these words."""
    value = found.object or ""
    if text.endswith(f" {value}"):
        return value
    year = _YEAR_ADDED.fullmatch(value)
    if year and predicate.value == "date" and text.endswith(f" {year['said']}") and _day(fact).year >= _NO_YEAR_BEFORE:
        return year["said"]
    before, _, after = text.rpartition(f" {value} since ")
    return f"{value} since {after}" if before and found.valid_from else ""


def _day(fact: Fact) -> date:
    """The day a fact was recorded."""
    return said_day(Event(fact.id, fact.timestamp, "user", fact.fact))


def _fits(found: Proposition, whose: SubjectPhrase, text: str) -> bool:
    """Whether that can be said of such an entity, and lasts."""
    if whose.kind != "person" and found.predicate not in (_OF_COMPANIES if whose.kind == "company" else _OF_THINGS):
        return False
    ways = _ONLY_AS.get(found.predicate or "")
    if ways and not ways.search(text):
        return False
    return (found.category in _LASTING or found.predicate in _ONCE) and found.predicate not in _FLEETING


def _is_plain(value: str, text: str, predicate: Predicate, found: Proposition, fact: Fact) -> bool:
    """Whether the words for a value are that and nothing more; what takes one value is held to it more strictly."""
    bare = _SINCE.sub("", value) if found.valid_from else value
    if predicate.value != "date" and bare == value and find_dates(text, _day(fact)):
        return False
    if not predicate.single:
        return len(bare.split()) <= 8 and not any(map(_is_verb, _AND.findall(bare)))
    if predicate.value in _NAMED_VALUES or predicate.name == "name":
        return _PROPER.fullmatch(bare) is not None
    return len(bare.split()) <= 5 and not re.search(r"\b(?:and|with|for|by|to|on|in|at)\b", bare)


def _is_verb(word: str) -> bool:
    """Whether a word goes on with what somebody does: "collects stamps and plays chess"."""
    present = lemma_as(word, PRESENT)
    return word in ("is", "has", "does") or lemma_as(word, PAST) is not None or word == third_person(present or "")


def _says_all(found: Proposition, said: str, value: str, name: str | None) -> bool:
    """Whether what the rules make of a clause has just its words."""
    told = found.statement.rstrip(".")
    if value != found.object and told.endswith(found.object or ""):
        told = told.removesuffix(found.object or "") + value
    ours, theirs = said.split(), told.split()
    verb = 2 if name == "the user" and not said.startswith(f"{THE_USER}'s") else len(ours)
    return ours[:verb] == theirs[:verb] and ours[verb + 1 :] == theirs[verb + 1 :] and len(ours) == len(theirs)


def _is_kinship(found: Proposition, text: str, value: str) -> bool:
    """Whether a clause only says who somebody is to its subject, which the rules turn round."""
    noun = (found.relation_phrase or "").removeprefix(HAS_A)
    return (found.relation_phrase or "").startswith(HAS_A) and text == f"My {noun} is {value}"


def _subject(found: Proposition, name: str | None, whose: SubjectPhrase) -> str | None:
    """How the triple calls its subject: the entity, or what is the entity's own."""
    subject = found.subject or ""
    if name is None or subject == name:
        return whose.subject if name else subject
    own = subject.removeprefix(f"{name}'s ")
    return f"{whose.subject}'s {own}" if own != subject and found.predicate in _OF_WHAT_IS_THEIRS else None
