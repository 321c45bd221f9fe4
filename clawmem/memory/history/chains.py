"""The chain of a fact: what it replaced, and what replaced it."""

from __future__ import annotations

from clawmem.index.search.lookup import PlacedFact, by_ids, facts_naming
from clawmem.index.tables.store import Index
from clawmem.model.lifecycle.chain import chain_of


def find_chain(index: Index, fact_id: str) -> list[PlacedFact]:
    """Return the facts of the chain, oldest first. Only the facts of the chain are read."""
    known: dict[str, PlacedFact] = {}
    ahead: str | None = fact_id
    while ahead and ahead not in known:
        found = by_ids(index, [ahead])
        known.update(found)
        ahead = found[ahead].fact.superseded_by if ahead in found else None
    queue = list(known)
    for current in queue:
        for each in facts_naming(index, current):
            if each.fact.superseded_by != current:
                continue
            if each.fact.id not in known:
                known[each.fact.id] = each
                queue.append(each.fact.id)
    return [known[fact.id] for fact in chain_of(fact_id, {key: each.fact for key, each in known.items()})]
