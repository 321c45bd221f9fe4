"""A served context: its text with its size, from the lines that were packed."""

from collections.abc import Mapping

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import PackedContext, render_context
from clawmem.serving.context.tiers import TierCounts, tiers_of
from clawmem.serving.context.units import words_of

_COUNTED_BY = {True: "exact", None: "mixed", False: "upper bound"}


class ItemReason(NamedTuple):
    """Why a fact is in a context: its section and scope, its score with the factors, and the pass that found it.

    `via` is the fact that names what this one is about, if a further pass of a question found it."""

    id: str
    section: str
    scope: str | None
    score: float
    factors: Mapping[str, float]
    at_pass: int
    via: str | None = None


class ContextResult(NamedTuple):
    """The text and its size.

    `counted_by` says how tokens were counted (exact, mixed, upper bound). `facts` are the ids in the text, and
    `left_out` is the number of omitted lines for each section. `explained` says why the facts of the query's scope are
    in it, and those that a further pass found.
    """

    text: str
    tokens: int
    counted_by: str
    facts: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...]
    notices: tuple[str, ...] = ()
    explained: tuple[ItemReason, ...] = ()


def context_result(on: TierCounts, packed: PackedContext, notices: tuple[str, ...]) -> tuple[ContextResult, list[str]]:
    """Return the context, and the ids of the facts in it that answer the question."""
    shown = {part.title: [n for unit in part.units for n, _ in unit.shelves] for part in packed.sections}
    placed = tiers_of(on, {n for numbers in shown.values() for n in numbers if isinstance(n, int)})
    ids = {title: [placed[n].id for n in numbers if n in placed] for title, numbers in shown.items()}
    titles = (frame.ASKED, frame.TIMELINE, frame.CONNECTED)
    answering = [one for title in titles for one in ids.get(title, ())]
    left_out = tuple((part.title, part.left_out) for part in packed.sections if part.left_out)
    facts = tuple(dict.fromkeys(one for part in ids.values() for one in part))
    text = render_context(packed, words_of(on, packed))
    return ContextResult(text, packed.tokens, _COUNTED_BY[packed.exact], facts, left_out, notices), answering
