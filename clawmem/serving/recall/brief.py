"""Recall results as text for a prompt, without reading further: a short form for simple results."""

from clawmem.model.facts.fact import ACTIVE, is_low_trust
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import context_line, lacks_day
from clawmem.model.safety.recalled_text import CLOSING, OPENING
from clawmem.serving.recall.result import RecallResult

# Exact cl100k_base counts of the two marks with their newlines; `clawmem.model.pages.packing` has the same.
_MARKS = 6 + 6


class Brief(NamedTuple):
    """The text, its tokens, how they were counted (exact or upper bound), and the ids of its facts."""

    text: str
    tokens: int
    counted_by: str
    facts: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...] = ()


def brief(result: RecallResult, budget: int) -> Brief | None:
    """Return the facts, best first, one per line, or None if the results need more than that.

    They do if they contain events, notes, inactive facts, facts of low trust, facts in conflict, or facts that need
    the day of their event, if facts were replaced later, or if the budget is too small.
    """
    tokens = _MARKS + sum(hit.tokens for hit in result.found)
    facts = [hit.fact for hit in result.found]
    plain = all(fact.status == ACTIVE and not is_low_trust(fact.trust) and not lacks_day(fact) for fact in facts)
    if result.heard or result.noted or result.earlier or result.conflicts or tokens > budget or not plain:
        return None
    lines = [f"{OPENING}\n", *(context_line(hit.fact) for hit in result.found), f"{CLOSING}"]
    how = "exact" if all(hit.exact for hit in result.found) else "upper bound"
    return Brief("".join(lines), tokens, how, tuple(hit.fact.id for hit in result.found))
