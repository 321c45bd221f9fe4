"""A served context: its text with its size, from the lines that were packed."""

from typing import TYPE_CHECKING, NamedTuple

from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import PackedContext, render_context
from clawmem.serving.context.tiers import TierCounts, tiers_of
from clawmem.serving.context.units import words_of

if TYPE_CHECKING:
    from clawmem.serving.context.for_task import ItemReason

_COUNTED_BY = {True: "exact", None: "mixed", False: "upper bound"}


class ContextResult(NamedTuple):
    """The text and its size.

    `counted_by` says how tokens were counted (exact, mixed, upper bound). `facts` are the ids in the text, and
    `left_out` is the number of omitted lines for each section. `explained` says why the facts of the query's scope are
    in it.
    """

    text: str
    tokens: int
    counted_by: str
    facts: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...]
    notices: tuple[str, ...] = ()
    explained: "tuple[ItemReason, ...]" = ()


def context_result(on: TierCounts, packed: PackedContext, notices: tuple[str, ...]) -> tuple[ContextResult, list[str]]:
    """Return the context, and the ids of the facts in it that answer the question."""
    shown = {part.title: [n for unit in part.units for n, _ in unit.shelves] for part in packed.sections}
    placed = tiers_of(on, {n for numbers in shown.values() for n in numbers if isinstance(n, int)})
    ids = {title: [placed[n].id for n in numbers if n in placed] for title, numbers in shown.items()}
    answering = [one for title in (frame.ASKED, frame.TIMELINE, frame.CONNECTED, frame.CLOSE) for one in ids.get(title, ())]
    left_out = tuple((part.title, part.left_out) for part in packed.sections if part.left_out)
    facts = tuple(dict.fromkeys(one for part in ids.values() for one in part))
    text = render_context(packed, words_of(on, packed))
    return ContextResult(text, packed.tokens, _COUNTED_BY[packed.exact], facts, left_out, notices), answering
