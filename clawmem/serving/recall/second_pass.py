"""A further pass of recall: facts linked to the best ones, or about the things that those mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clawmem.index.search.channels import ChannelHits, FactFilter, facts_in_rows, passing_rows, predicate_channel
from clawmem.index.search.graph import edges_at, is_fact
from clawmem.index.search.lookup import newest_rows_about, rows_of
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.text import normal

# How many of the best facts a pass starts from, and how many facts it may add.
BEST_FACTS = 5
MOST_LINKED = 200
# The score of a fact that answers the question about a thing mentioned in a best fact, that is linked to a best fact,
# or that is about the same thing. Each place further down among the best facts reduces it by a fifth.
ANSWERS, LINKED, BESIDE = 1.0, 0.6, 0.3
STEP = 0.2


def links_channel(
    index: Index, question: str, catalog: Catalog, best: Sequence[int], wanted: FactFilter
) -> ChannelHits:
    """Return facts connected with the best ones: by a link, by a shared thing, or because they answer the question
    about a thing that a best fact mentions."""
    scores: dict[int, float] = {}
    placed = facts_in_rows(index, best[:BEST_FACTS])
    for place, n in enumerate(best[:BEST_FACTS]):
        near = 1.0 - STEP * place
        fact = placed[n].fact
        for name in filter(None, (fact.object, fact.subject)):
            asked = predicate_channel(index, f"{question} {normal(name)}", catalog, wanted)
            _raise(scores, asked.scores, ANSWERS * near)
            _raise(scores, passing_rows(index, newest_rows_about(index, name, MOST_LINKED), wanted), BESIDE * near)
        _raise(scores, _joined(index, fact.id, wanted), LINKED * near)
    for n in best[:BEST_FACTS]:
        scores.pop(n, None)
    if not scores:
        return ChannelHits({}, True)
    kept = sorted(scores, key=lambda n: (-scores[n], n))[:MOST_LINKED]
    return ChannelHits({n: scores[n] for n in kept})


def _raise(scores: dict[int, float], found: Iterable[int], worth: float) -> None:
    for n in found:
        scores[n] = max(scores.get(n, 0.0), worth)


def _joined(index: Index, fact_id: str, wanted: FactFilter) -> set[int]:
    others = [edge.target for edge in edges_at(index, fact_id, wanted) if is_fact(edge.target)][:MOST_LINKED]
    return rows_of(index, others)
