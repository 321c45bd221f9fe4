"""What held on some days and was replaced since: no answer of today, but the one to a question about those days."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.index.search.channels import ChannelHits, FactFilter, facts_in_rows, passing_rows, predicate_channel
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.validity import last_moment_within
from clawmem.model.language.question import DaySpan

_LOOKED_AT = 200
# Of the best score by words that a fact has which stands: a longer sentence that says as much has a little less.
_AS_GOOD = 0.8


def replaced_since(
    index: Index,
    question: str,
    words: Sequence[str],
    catalog: Catalog,
    span: DaySpan,
    wanted: FactFilter,
    found: ChannelHits,
) -> str | None:
    """A moment on the days a question names at which a fact held that was replaced since, and that answers it: by its
    predicate and subject, or by its words as well as the best that was `found` by words. None where there is none.

    It is the last of the days on which the fact held to the end, or else the first instant of them at which it did.
    """
    then = wanted._replace(replaced_in=span)
    answering = list(predicate_channel(index, question, catalog, then).scores)
    if not answering and words:
        enough = _AS_GOOD * max(found.scores.values(), default=0.0)
        matches = [one.n for one in index.engine.search(words, _LOOKED_AT) if one.score >= enough]
        passing = passing_rows(index, matches, then)
        answering = [n for n in matches if n in passing]
    told = [one.fact for one in facts_in_rows(index, answering).values()]
    moments = (last_moment_within(fact.valid_from, fact.valid_to, span.first, span.last) for fact in told)
    return max(filter(None, moments), default=None)
