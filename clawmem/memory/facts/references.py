"""Resolve the references of a new fact: its event, its links and its related entities."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.errors import InvalidInput
from clawmem.index.search.lookup import entity_exists, resolve_id
from clawmem.memory.entities.places import expand_own, resolve_entity
from clawmem.memory.history.evidence import with_evidence
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.commit.secret_gate import allowed


def resolve_references(work: WriteScope, fact: Fact, known: Collection[str]) -> tuple[Fact, list[str]]:
    """Return the fact with its evidence quoted and with full ids and entity names, and notices.

    There is one notice for each related entity that does not exist. `known` are entities that the same act creates.
    Raise NotFound if an event or a fact does not exist, InvalidInput if the event does not contain the quote.
    """
    fact = _without_quoted_secret(work, with_evidence(work.vault, work.index, fact))
    links = tuple(link._replace(to=resolve_id(work.index, link.to)) for link in fact.links)
    related = tuple(dict.fromkeys(_entity_named(work, name, known) for name in fact.related_entities))
    missing = [name for name in related if name not in known and not entity_exists(work.index, name)]
    notices = [f"'{name}', a related entity of the fact, does not exist yet" for name in missing]
    return fact._replace(links=links, related_entities=related), notices


def _without_quoted_secret(work: WriteScope, fact: Fact) -> Fact:
    """Remove a quote that contains a credential. Merges can bring in events with credentials."""
    if fact.source_text is None or find_secret(fact.source_text) is None:
        return fact
    allowed(work.vault.settings, fact.source_text, "The evidence")
    return fact._replace(source_text=None, source_span=None)


def _entity_named(work: WriteScope, text: str, known: Collection[str]) -> str:
    """Return the entity with this name, title or alias. A word that is not a name yet is returned unchanged."""
    name = expand_own(text, work.caller)
    if name in known:
        return name
    try:
        return resolve_entity(work.index, text, work.caller)
    except InvalidInput:
        if "/" in name or ".." in name:
            raise
        return name
