"""The chain of a fact: what it replaced, and what replaced it."""

from __future__ import annotations

from clawmem.index.search.lookup import PlacedFact, by_ids, facts_naming
from clawmem.index.tables.store import Index
from clawmem.model.lifecycle.chain import chain_of, replaced_facts


def find_chain(index: Index, fact_id: str) -> list[PlacedFact]:
    """Return the facts of the chain, oldest first. Only the facts of the chain are read."""
    known: dict[str, PlacedFact] = {}
    queue = [fact_id]
    for current in queue:
        if current in known or not (found := by_ids(index, [current])):
            continue
        known.update(found)
        fact = found[current].fact
        after = [fact.superseded_by] if fact.superseded_by else []
        beside = [each.fact for each in facts_naming(index, current)]
        named = [
            other_fact.id
            for other_fact in beside
            if other_fact.superseded_by == current or current in replaced_facts(other_fact)
        ]
        queue += [*after, *replaced_facts(fact), *named]
    return [known[fact.id] for fact in chain_of(fact_id, {key: each.fact for key, each in known.items()})]
