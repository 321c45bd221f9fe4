"""Adaptation: the outcomes of promoted facts tune how strict promotion and the gate are. Each change is a commit.

The outcome counts and the resulting values are stored in `ledger/adaptation.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.index.search.lookup import facts_containing
from clawmem.index.tables.fact_marks import counted_facts
from clawmem.learning.reconciling.gate import DEFAULT_LIMITS
from clawmem.memory.proposals import read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.language.dates import day_of, days_between, moment_of
from clawmem.model.proposals.promotion import (
    MARK,
    WINDOW_DAYS,
    Adaptation,
    PromotionOutcomes,
    adapt_limits,
    count_outcomes,
    describe_adaptation,
    outcomes_from_record,
    render_adaptation,
)
from clawmem.model.proposals.proposal import REJECTED
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.strict_json import read_json
from clawmem.model.settings.settings import Settings
from clawmem.vault.vault import Vault

PATH = "ledger/adaptation.json"
# The score from which a fact is worth thirty days, before outcomes move it.
PROMOTION_SCORE = 0.6
Read = Callable[[str], bytes | None]


class AdaptResult(NamedTuple):
    """The values before and after, the outcomes they are based on, and the commit if they changed."""

    before: Adaptation
    after: Adaptation
    seen: PromotionOutcomes
    commit: str | None = None
    notices: tuple[str, ...] = ()


def current_adaptation(read: Read, settings: Settings) -> Adaptation:
    """Return the current values: the settings, adjusted by the stored outcomes."""
    return adapt_limits(_base(settings), _stored(read))


def adapt(vault: Vault, caller: Caller, on: str, dry_run: bool = False) -> AdaptResult:
    """Count the outcomes of the facts promoted in the half year before the day `on`. Commit if a value changes."""
    with writing(vault, caller, "adapt", dry_run=dry_run) as work:
        base = _base(vault.settings)
        before = adapt_limits(base, _stored(work.read))
        marked = [placed.fact for placed in facts_containing(work.index, f'"{MARK}"', '"supersedes"')]
        seen = count_outcomes(counted_facts(work.index, marked), on, _rejected(work, on))
        after = adapt_limits(base, seen)
        if dry_run or after == before:
            return AdaptResult(before, after, seen, notices=work.notices)
        words = describe_adaptation(before, after, seen)
        change = Change(subject_line("adapt", "promotion", words), {PATH: _render(after, seen, on)}, trailers("adapt"))
        return AdaptResult(before, after, seen, work.commit([change])[-1], work.notices)


def _base(settings: Settings) -> Adaptation:
    return Adaptation(settings.whole("promotion.max_facts"), PROMOTION_SCORE, DEFAULT_LIMITS.confidence)


def _stored(read: Read) -> PromotionOutcomes:
    data = read(PATH)
    if data is None:
        return PromotionOutcomes()
    refuse_conflict_markers(data.decode("utf-8-sig", errors="replace"), PATH)
    try:
        return outcomes_from_record(read_json(data)["outcomes"])
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Unreadable(PATH, None, f"it does not hold the outcomes of promoted facts ({problem})") from None


def _rejected(work: WriteScope, on: str) -> int:
    """Return the number of promotions that a person rejected within the window."""
    decisions = [
        proposal.decided
        for proposal in read_proposals(work.vault, work.read).proposals
        if proposal.kind == "promotion" and proposal.status == REJECTED
    ]
    end = moment_of(on)
    return sum(1 for decision in decisions if decision and -1 <= days_between(day_of(decision.at), end) <= WINDOW_DAYS)


def _render(after: Adaptation, seen: PromotionOutcomes, on: str) -> bytes:
    return render_adaptation({"changed": on, **after._asdict(), "outcomes": seen._asdict()})
