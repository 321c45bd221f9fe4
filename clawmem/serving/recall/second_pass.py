"""A further pass of recall: what the best facts point at, and what the question asks of whom they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clawmem.index.search.channels import ChannelHits, FactFilter, facts_in_rows, passing_rows, predicate_channel
from clawmem.index.search.graph import edges_at, is_fact
from clawmem.index.search.lookup import newest_rows_about, rows_of
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.text import normal

# From how many of the best facts a pass goes on, and how many facts it may bring.
FROM = 5
MOST = 200
# What a fact is worth that answers the question of somebody the best facts name, that is linked to one, or that is
# about one of the same things. Each place further down among the best takes a fifth of it away.
ANSWERS, LINKED, BESIDE = 1.0, 0.6, 0.3
STEP = 0.2


def links_channel(
    index: Index, question: str, catalog: Catalog, best: Sequence[int], wanted: FactFilter
) -> ChannelHits:
    """Facts joined to the best ones: by a link, by what both are about, or because the question asks for a predicate
    of somebody whom a best fact names."""
    scores: dict[int, float] = {}
    placed = facts_in_rows(index, best[:FROM])
    for place, n in enumerate(best[:FROM]):
        near = 1.0 - STEP * place
        fact = placed[n].fact
        for name in filter(None, (fact.object, fact.subject)):
            asked = predicate_channel(index, f"{question} {normal(name)}", catalog, wanted)
            _raise(scores, asked.scores, ANSWERS * near)
            _raise(scores, _about(index, name, wanted), BESIDE * near)
        _raise(scores, _joined(index, fact.id, wanted), LINKED * near)
    for n in best[:FROM]:
        scores.pop(n, None)
    if not scores:
        return ChannelHits({}, True)
    kept = sorted(scores, key=lambda n: (-scores[n], n))[:MOST]
    return ChannelHits({n: scores[n] for n in kept})


def _raise(scores: dict[int, float], found: Iterable[int], worth: float) -> None:
    for n in found:
        scores[n] = max(scores.get(n, 0.0), worth)


def _joined(index: Index, fact_id: str, wanted: FactFilter) -> set[int]:
    others = [edge.target for edge in edges_at(index, fact_id, wanted) if is_fact(edge.target)][:MOST]
    return rows_of(index, others)


def _about(index: Index, name: str, wanted: FactFilter) -> set[int]:
    return passing_rows(index, newest_rows_about(index, name, MOST), wanted)
