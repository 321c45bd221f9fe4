"""Where a learned fact goes: to an entity that is known, to a new one that deserves to exist, or to the day's note."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.learning.english.words import CLOSE, HAS_A, RELATION_OF
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.entity import check_name, kind_of, slug, title_of

MIN_MENTIONS = 3
_FOLDERS = {
    "person": "areas/people",
    "company": "areas/companies",
    "project": "projects",
    "area": "areas",
    "resource": "resources",
}
_REASONS = {
    "speaker": "is the one who speaks",
    "relation": "is close to the speaker",
    "work": "is a project or employer of the speaker",
    "asked": "was asked for",
}
# What tells who is close to somebody: the relation itself, or the name of "Ada's husband".
_KIN = CLOSE - {"pet"}
RELATION_PREDICATES = _KIN | {"name"}
_WHOSE = re.compile(r"(?P<owner>.+)['’]s (?:[\w-]+ )*?(?P<noun>[\w-]+)")
# Whose life may hang on it is no matter for a note.
_VITAL = frozenset(("allergic_to",))


class Placement(NamedTuple):
    """The entity a fact goes to (None for the daily note), whether to create it, its title, and why."""

    entity: str | None
    create: bool
    title: str
    reason: str


class EntityTitles:
    """Every way to call each known entity, with and without its kind."""

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        self._names: dict[tuple[str, str], str] = {}
        for name, titles in known.items():
            self.add(name, titles)

    def add(self, name: str, titles: Iterable[str]) -> None:
        """Make one entity known by its name, the title its name suggests, and these titles."""
        for title in (name, title_of(name), *titles):
            self._names.setdefault((kind_of(name), normal(title)), name)
            self._names.setdefault(("", normal(title)), name)

    def get(self, kind: str, title: str) -> str | None:
        """The entity of that kind (any, where it is empty) called that, in normal form."""
        return self._names.get((kind, title))

    def __contains__(self, title: object) -> bool:
        return ("", title) in self._names


def place(
    proposition: Proposition,
    names: EntityTitles,
    mentions: Mapping[str, int] | None = None,
    enough: int = MIN_MENTIONS,
    close: Callable[[], Mapping[str, str]] = dict,
) -> Placement:
    """Decide for one proposition; `mentions` counts how often a title (in normal form) was mentioned so far, and
    `enough` of them make it an entity; `close` gives the people who are known to be close to the speaker, as
    `people_close` does."""
    for told in proposition.entity_hints:
        hint = told if _known(told, names) else _as_close(told, close)
        entity = _known(hint, names)
        if entity:
            return Placement(entity, False, hint.title, f"{hint.title} is known as {entity}.")
        reason = _deserves(hint, mentions or {}, enough) or _vital(hint, proposition)
        entity = entity_name(hint)
        if reason and entity:
            return Placement(entity, True, hint.title, reason)
    return Placement(None, False, "", "It is about nothing that deserves an entity yet; it goes to the daily note.")


def close_people(facts: Iterable[Fact]) -> dict[str, str]:
    """Everybody whom some facts call the speaker's husband, child, boss or the like: the name, by that name and by its
    first word in normal form. A relation of a relation ("Ada's husband" where Ada is the sister) is left out."""
    standing = [fact for fact in facts if fact.stands and fact.object and "no longer" not in fact.fact]
    names = _by_name(name for fact in standing if _told_in_passing(fact) for name in _named(fact))
    owned = ((normal(_owner(fact)), name) for fact in standing if not _told_in_passing(fact) for name in _named(fact))
    return {**_by_name(name for owner, name in owned if owner and owner not in names), **names}


def entity_name(hint: EntityHint) -> str | None:
    """The name an entity made from the hint would have, or None where the title gives none."""
    folder, last = _FOLDERS.get(hint.kind), slug(hint.title)
    if not folder or not last:
        return None
    try:
        return check_name(f"{folder}/{last}")
    except InvalidInput:
        return None


def _known(hint: EntityHint, names: EntityTitles) -> str | None:
    title = normal(hint.title)
    return names.get(hint.kind, title) or names.get("", title) or names.get("", normal(entity_name(hint) or ""))


def _told_in_passing(fact: Fact) -> bool:
    """Whether a fact came of "my sister Ana", as only the speaker says it."""
    return fact.predicate in _KIN and (fact.relation_phrase or "").startswith(HAS_A)


def _owner(fact: Fact) -> str:
    """Whose relation a fact tells of; empty where it tells of none."""
    if fact.predicate in _KIN:
        return fact.subject or ""
    whose = _WHOSE.fullmatch(fact.subject or "") if fact.predicate == "name" else None
    return whose["owner"] if whose and RELATION_OF.get(whose["noun"].lower()) in _KIN else ""


def _named(fact: Fact) -> list[str]:
    """The names that a fact's object gives: "Lina", or those of "two daughters called Lina and Maren"."""
    value = re.sub(r"^.*\b(?:named|called) ", "", fact.object or "")
    return [name for name in re.split(r",? and |, ", value) if name[:1].isupper()]


def _by_name(names: Iterable[str]) -> dict[str, str]:
    """Names by themselves, and by their first word where that leaves no doubt."""
    whole = list(dict.fromkeys(names))
    firsts = Counter(normal(name.split()[0]) for name in whole)
    by_first = {first: name for name in whole if firsts[first := normal(name.split()[0])] == 1}
    return {**by_first, **{normal(name): name for name in whole}}


def _as_close(hint: EntityHint, close: Callable[[], Mapping[str, str]]) -> EntityHint:
    """The hint as one of somebody close to the speaker, by their whole name, where it is one."""
    name = close().get(normal(hint.title)) if hint.role == "mention" and hint.kind == "person" else None
    return hint._replace(title=name, role="relation") if name else hint


def _vital(hint: EntityHint, proposition: Proposition) -> str:
    vital = proposition.predicate in _VITAL and hint.kind == "person"
    return f"An allergy of {hint.title} must not be lost." if vital else ""


def _deserves(hint: EntityHint, mentions: Mapping[str, int], enough: int) -> str:
    if hint.role in _REASONS:
        return f"{hint.title} {_REASONS[hint.role]}."
    count = mentions.get(normal(hint.title), 0)
    return f"{hint.title} was mentioned {count} times." if count >= enough else ""
