"""Where a learned fact goes: to an entity that is known, to a new one that deserves to exist, or to the day's note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.entity import check_name, kind_of, slug, title_of
from clawmem.model.proposition import Hint, Proposition
from clawmem.model.text import normal

ENOUGH_MENTIONS = 3
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


class Placement(NamedTuple):
    """The entity a fact goes to (None for the daily note), whether to create it, its title, and why."""

    entity: str | None
    create: bool
    title: str
    reason: str


class Titles:
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
    proposition: Proposition, names: Titles, mentions: Mapping[str, int] | None = None, enough: int = ENOUGH_MENTIONS
) -> Placement:
    """Decide for one proposition; `mentions` counts how often a title (in normal form) was mentioned so far, and
    `enough` of them make it an entity."""
    for hint in proposition.entity_hints:
        entity = _known(hint, names)
        if entity:
            return Placement(entity, False, hint.title, f"{hint.title} is known as {entity}.")
        reason = _deserves(hint, mentions or {}, enough)
        entity = entity_name(hint)
        if reason and entity:
            return Placement(entity, True, hint.title, reason)
    return Placement(None, False, "", "It is about nothing that deserves an entity yet; it goes to the daily note.")


def entity_name(hint: Hint) -> str | None:
    """The name an entity made from the hint would have, or None where the title gives none."""
    folder, last = _FOLDERS.get(hint.kind), slug(hint.title)
    if not folder or not last:
        return None
    try:
        return check_name(f"{folder}/{last}")
    except InvalidInput:
        return None


def _known(hint: Hint, names: Titles) -> str | None:
    title = normal(hint.title)
    return names.get(hint.kind, title) or names.get("", title) or names.get("", normal(entity_name(hint) or ""))


def _deserves(hint: Hint, mentions: Mapping[str, int], enough: int) -> str:
    if hint.role in _REASONS:
        return f"{hint.title} {_REASONS[hint.role]}."
    count = mentions.get(normal(hint.title), 0)
    return f"{hint.title} was mentioned {count} times." if count >= enough else ""
