"""Count tokens and check events for instructions in the heartbeat, so that `context` does not have to."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.tables.order_verdicts import judge_events
from clawmem.index.tables.store import Index
from clawmem.index.tables.token_counts import count_events, count_exactly, needs_counting
from clawmem.vault.vault import Vault


class TokenCountResult(NamedTuple):
    """The number of counted facts, notes and events; 0 if nothing was left."""

    number: int


def count_tokens(vault: Vault) -> TokenCountResult:
    """Check new events, and replace the estimated token counts in the index by exact ones. Makes no commit."""
    return run_query(vault, _count, one_state=False)


def count_said(vault: Vault) -> None:
    """Count the tokens of new events, which a context would count too high. Makes no commit."""
    from clawmem.index.tables.exact_tokens import exact_counter  # making it takes 0.2 s

    run_query(vault, lambda index: count_events(index, exact_counter()) if index.kept else 0, one_state=False)


def _count(index: Index) -> TokenCountResult:
    if not index.kept:
        return TokenCountResult(0)
    judge_events(index)
    if not needs_counting(index):
        return TokenCountResult(0)
    from clawmem.index.tables.exact_tokens import exact_counter  # making it takes 0.2 s

    return TokenCountResult(count_exactly(index, exact_counter()))
