"""Keep two wordings of one fact: one keeps the id, the other one gets its own id."""

from __future__ import annotations

from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.merging.facts.chains import Facts
from clawmem.model.merging.facts.collisions import longer_id
from clawmem.model.merging.facts.fields import merge_links
from clawmem.model.merging.facts.table import FiledFact

WORDED = "worded otherwise on another machine"


def add_wording(facts: Facts, kept: Fact, other: Fact, path: str, *, closed: bool) -> str:
    """Add another wording beside the one that keeps the id, or as its predecessor if `closed`.

    Return the id of the added fact, which is the same on every machine.
    """
    beside_id = longer_id(other, set())
    if closed:
        replaced = other._replace(id=beside_id, links=(), status=SUPERSEDED, superseded_by=kept.id)
        facts[beside_id] = FiledFact(replaced, path)
        link = FactLink("supersedes", beside_id, WORDED, other.timestamp)
        known = facts[kept.id]
        facts[kept.id] = known._replace(fact=known.fact._replace(links=merge_links((), known.fact.links, (link,))))
    else:
        link = FactLink("contradicts", kept.id, WORDED, other.timestamp)
        facts[beside_id] = FiledFact(other._replace(id=beside_id, links=(link,)), path)
    return beside_id
