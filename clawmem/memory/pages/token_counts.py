"""Counting tokens and judging events in the background, so that whoever asks for a context waits for neither."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.tables.order_verdicts import judge_events
from clawmem.index.tables.store import Index
from clawmem.index.tables.token_counts import count_exactly, needs_counting
from clawmem.vault.vault import Vault


class TokenCountResult(NamedTuple):
    """How many facts and notes were counted, and by what; 0 where all were, or where this machine cannot count."""

    number: int
    source: str = ""


def count_tokens(vault: Vault) -> TokenCountResult:
    """Judge the events that are new, and replace the bounds in the index by exact counts, where this machine has the
    vocabulary. Makes no commit."""
    return run_query(vault, lambda index: _counted(vault, index), one_state=False)


def _counted(vault: Vault, index: Index) -> TokenCountResult:
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
