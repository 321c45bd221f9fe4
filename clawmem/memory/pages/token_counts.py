"""Count tokens and check events for instructions in the heartbeat, so that `context` does not have to."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.tables.order_verdicts import judge_events
from clawmem.index.tables.store import Index
from clawmem.index.tables.token_counts import count_exactly, needs_counting
from clawmem.vault.vault import Vault


class TokenCountResult(NamedTuple):
    """The number of counted facts and notes, and the tokenizer. 0 if nothing was left or no tokenizer is available."""

    number: int
    source: str = ""


def count_tokens(vault: Vault) -> TokenCountResult:
    """Check new events, and replace the estimated token counts in the index by exact ones. Makes no commit."""
    return run_query(vault, lambda index: _count(vault, index), one_state=False)


def _count(vault: Vault, index: Index) -> TokenCountResult:
    if not index.kept:
        return TokenCountResult(0)
    judge_events(index)
    if not needs_counting(index):
        return TokenCountResult(0)
    from clawmem.vault.state.token_counter import token_counter  # the first use takes 0.2 s

    counter = token_counter(vault.git.environment)
    return (
        TokenCountResult(count_exactly(index, counter.count), counter.source) if counter.exact else TokenCountResult(0)
    )
