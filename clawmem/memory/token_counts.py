"""Counting tokens and judging events in the background, so that whoever asks for a context waits for neither."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.refresh import answered
from clawmem.index.store import Index
from clawmem.index.token_counts import awaits_counting, count_exactly
from clawmem.index.verdicts import judge_events
from clawmem.vault.vault import Vault


class Counted(NamedTuple):
    """How many facts and notes were counted, and by what; 0 where all were, or where this machine cannot count."""

    number: int
    source: str = ""


def count_tokens(vault: Vault) -> Counted:
    """Judge the events that are new, and replace the bounds in the index by exact counts, where this machine has the
    vocabulary. Makes no commit."""
    return answered(vault, lambda index: _counted(vault, index), one_state=False)


def _counted(vault: Vault, index: Index) -> Counted:
    if not index.kept:
        return Counted(0)
    judge_events(index)
    if not awaits_counting(index):
        return Counted(0)
    from clawmem.vault.tokens import token_counter  # the first use takes 0.2 s

    counter = token_counter(vault.git.environment)
    return Counted(count_exactly(index, counter.count), counter.source) if counter.exact else Counted(0)
