"""Facts from other systems: read-only copies that were pulled from the organisation, with their origin and author, and
what a published line says of itself."""

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.fact import DEFAULT_CATEGORY, EXTERNAL, GUARDRAIL, Fact
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import slug
from clawmem.model.records.event import MARK

PULLED = "resources/organisation"
"""The folder of the entities that hold pulled facts."""

PUBLISHED = "published"
"""The key of a fact's metadata with the values of the line that it came from."""

ORIGIN = "organisation"
"""The key of the metadata that holds the origin of a pulled fact."""

_SOURCE = "organisation:"


class FactOrigin(NamedTuple):
    """Where a pulled fact is from: the organisation, the vault, the entity there, who sees it, its author (`Name
    <address>`), and the commit, file and line (from 1) that recorded it."""

    org: str
    vault: str
    entity: str
    scopes: tuple[str, ...]
    author: str
    commit: str
    path: str
    line: int


def pulled_fact(fact: Fact, origin: FactOrigin) -> Fact:
    """Return the copy of a fact of the organisation that a vault keeps.

    Its trust is that of a text from outside, and its mark that of the origin. What would lead every context, importance
    and the category of guardrails, is left out: that is for each vault to decide. Evidence and links stay there."""
    mark = {key: value for key, value in (fact.metadata or {}).items() if key == MARK}
    return Fact(
        id=fact.id,
        fact=fact.fact,
        category=DEFAULT_CATEGORY if fact.category == GUARDRAIL else fact.category,
        timestamp=fact.timestamp,
        source=f"{_SOURCE}{origin.org}",
        status=fact.status,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        relation_phrase=fact.relation_phrase,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        confidence=fact.confidence,
        trust=EXTERNAL,
        tags=fact.tags,
        metadata={ORIGIN: {**origin._asdict(), "scopes": list(origin.scopes)}, **mark},
    )


def origin_of(fact: Fact) -> FactOrigin | None:
    """Return the origin of a pulled fact, or None for any other fact."""
    record = (fact.metadata or {}).get(ORIGIN)
    if not isinstance(record, Mapping) or not fact.source.startswith(_SOURCE):
        return None
    if not set(FactOrigin._fields) <= set(record):
        return None
    found = FactOrigin(*(record[name] for name in FactOrigin._fields))
    return found._replace(scopes=tuple(found.scopes))


def published_values(fact: Fact) -> Mapping[str, Any]:
    """Return the line's own values that a fact holds; empty for a fact that did not come as a line."""
    found = (fact.metadata or {}).get(PUBLISHED)
    return found if isinstance(found, Mapping) else {}


def pulled_entity(entity: str) -> str:
    """Return the entity that holds the pulled facts of an entity of another vault."""
    return f"{PULLED}/{slug(entity.replace('/', '-')) or 'general'}"


def holds_copies(entity: str) -> bool:
    """Return whether an entity is one of those that hold pulled facts."""
    return entity.lower().startswith(f"{PULLED}/")


def is_source_of_copies(source: str) -> bool:
    """Return whether a source is that of pulled facts."""
    return source.strip().lower().startswith(_SOURCE)
