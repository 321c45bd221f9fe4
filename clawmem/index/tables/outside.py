"""Facts with something at stake that came from outside, as stored in the index: see `index.refresh.outside`."""

from __future__ import annotations

from clawmem.index.tables.schema import check_outside
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact
from clawmem.model.settings.acceptance import as_served


def stakes(index: Index) -> dict[str, str]:
    """Return what is at stake in facts from outside, by fact id; empty in most vaults."""
    found = {}
    for fact_id, stake, other in index.database.execute("SELECT id, stake, seal FROM outside"):
        check_outside(fact_id, stake, other)
        found[fact_id] = stake
    return found


def served_fact(index: Index, fact: Fact) -> Fact:
    """Return a fact as it is served: marked if something at stake came from outside."""
    return as_served(fact, stakes(index).get(fact.id))
