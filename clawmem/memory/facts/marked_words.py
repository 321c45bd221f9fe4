"""What a command says of the facts whose premises it changed."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.index.search.lookup import PlacedFact
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import in_doubt

_NAMED = 5


def marked_notices(marked: Sequence[PlacedFact]) -> list[str]:
    """Return a sentence on the facts that are in doubt now, and one on those that are not any more."""
    doubted = [placed.fact.id for placed in marked if in_doubt(placed.fact)]
    cleared = [placed.fact.id for placed in marked if not in_doubt(placed.fact)]
    items = []
    if doubted:
        rest = "rests" if len(doubted) == 1 else "rest"
        items.append(
            f"{counted(len(doubted), 'fact')} {rest} on what changed, now in doubt: {_some(doubted)};"
            " `clawmem list --stale` lists them, `clawmem claim confirm ID` clears one that still holds"
        )
    if cleared:
        items.append(f"not in doubt any more: {_some(cleared)}")
    return items


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else "")
