"""What recall found as text for a prompt, told from what is at hand: facts of people and agents, without a budget."""

from typing import NamedTuple

from clawmem.model.facts.fact import ACTIVE
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.pages.tokens import context_line, lacks_day
from clawmem.model.safety.recalled_text import CLOSING, OPENING
from clawmem.serving.recall.recall import RecallResult

# Exact cl100k_base counts of the two marks with their newlines; `clawmem.model.pages.context_frame` has the same.
_MARKS = 6 + 6


class Brief(NamedTuple):
    """The text, its tokens, how they were counted (exact or upper bound), the ids of the facts in it; nothing is left
    out."""

    text: str
    tokens: int
    counted_by: str
    facts: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...] = ()


def brief(result: RecallResult, budget: int) -> Brief | None:
    """The facts, best first, one a line; None where what was found needs to be marked, cut or looked at: events, notes,
    facts that do not stand or come from outside, more than the budget holds, what was replaced since; the day
    of an event."""
    tokens = _MARKS + sum(one.tokens for one in result.found)
    facts = [one.fact for one in result.found]
    plain = all(fact.status == ACTIVE and not is_low_trust(fact.trust) and not lacks_day(fact) for fact in facts)
    if result.heard or result.noted or result.earlier or tokens > budget or not plain:
        return None
    lines = [f"{OPENING}\n", *(context_line(one.fact) for one in result.found), f"{CLOSING}"]
    how = "exact" if all(one.exact for one in result.found) else "upper bound"
    return Brief("".join(lines), tokens, how, tuple(one.fact.id for one in result.found))
