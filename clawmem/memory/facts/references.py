"""What a new fact points at, looked up: its event, the facts it is linked to, the entities it concerns."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.errors import InvalidInput
from clawmem.index.search.lookup import entity_exists, resolve_id
from clawmem.memory.entities.places import expanded, named_entity
from clawmem.memory.history.evidence import with_evidence
from clawmem.memory.writing import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.commit.secret_gate import allowed


def pointed(work: WriteScope, fact: Fact, known: Collection[str]) -> tuple[Fact, list[str]]:
    """The fact with its evidence quoted, links to whole ids and entities by their names, and a sentence for each entity
    that is none yet; `known` are those that the same act makes.

    Raises NotFound for an event or fact that does not exist, InvalidInput where the event does not hold the quote.
    """
    fact = _without_quoted_secret(work, with_evidence(work.vault, work.index, fact))
    links = tuple(link._replace(to=resolve_id(work.index, link.to)) for link in fact.links)
    related = tuple(dict.fromkeys(_entity(work, name, known) for name in fact.related_entities))
    missing = [name for name in related if name not in known and not entity_exists(work.index, name)]
    told = [f"'{name}', to which the fact is related, is no entity yet" for name in missing]
    return fact._replace(links=links, related_entities=related), told


def _without_quoted_secret(work: WriteScope, fact: Fact) -> Fact:
    """An event can hold a credential, come in by a merge: then it is not quoted."""
    if fact.source_text is None or find_secret(fact.source_text) is None:
        return fact
    allowed(work.vault.settings, fact.source_text, "The evidence")
    return fact._replace(source_text=None, source_span=None)


def _entity(work: WriteScope, text: str, known: Collection[str]) -> str:
    """The entity that a name, title or alias stands for; a word that is no name yet stays as it is."""
    name = expanded(text, work.caller)
    if name in known:
        return name
    try:
        return named_entity(work.index, text, work.caller)
    except InvalidInput:
        if "/" in name or ".." in name:
            raise
        return name
