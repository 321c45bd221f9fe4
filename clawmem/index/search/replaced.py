"""Facts that were true on some days and have been replaced since: they answer a question about those days only."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.index.search.channels import ChannelHits, FactFilter, facts_in_rows, passing_rows, predicate_channel
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.validity import last_moment_within
from clawmem.model.language.question import DaySpan

_MAX_MATCHES = 200
# Fraction of the best keyword score of current facts: a longer sentence with the same content scores slightly lower.
_MIN_SCORE = 0.8


def replaced_since(
    index: Index,
    question: str,
    words: Sequence[str],
    catalog: Catalog,
    span: DaySpan,
    wanted: FactFilter,
    found: ChannelHits,
) -> str | None:
    """Return a time in the span at which a since replaced fact was true that answers the question, or None.

    A fact answers by its predicate and subject, or if it matches the words about as well as the best one in `found`.
    The time is the end of the last day on which the fact was true to the end of the day, or else the first moment in
    the span at which it was true.
    """
    replaced = wanted._replace(replaced_in=span)
    answering = list(predicate_channel(index, question, catalog, replaced).scores)
    if not answering and words:
        enough = _MIN_SCORE * max(found.scores.values(), default=0.0)
        matches = [one.n for one in index.engine.search(words, _MAX_MATCHES) if one.score >= enough]
        passing = passing_rows(index, matches, replaced)
        answering = [n for n in matches if n in passing]
    facts = [one.fact for one in facts_in_rows(index, answering).values()]
    moments = (last_moment_within(fact, span.first, span.last) for fact in facts)
    return max(filter(None, moments), default=None)
