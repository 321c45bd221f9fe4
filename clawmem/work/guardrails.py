"""Acts on guardrails: list them with how often each was served and whether its failure came back, show and add them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import NotFound
from clawmem.index.refresh import run_query
from clawmem.index.search.listing import all_guardrails
from clawmem.index.search.lookup import PlacedFact, find_fact
from clawmem.index.tables.fact_marks import counted_fact
from clawmem.index.tables.store import Index
from clawmem.memory.facts.remember import FactPlanner, without_secrets
from clawmem.memory.failure_modes import came_back, failures_or_notice, find_mode, read_modes
from clawmem.memory.permission import may_read
from clawmem.memory.quarantine import ProposalWriter, QuarantineReason
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import GUARDRAIL
from clawmem.model.facts.fact_words import holds_for
from clawmem.model.proposals.proposal import REJECTED, Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import check_agent
from clawmem.model.records.failure import FailureRecord
from clawmem.vault.state.journal import AccessCount, add_accesses, count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import WorkScope, guardrail_record


class GuardrailUse(NamedTuple):
    """A guardrail, with `access_count` and `last_accessed` as now known: each is one context that it led. `came_back`
    are the failures of its mode since it holds, oldest first."""

    guardrail: PlacedFact
    came_back: tuple[FailureRecord, ...]


class GuardrailList(NamedTuple):
    """The current guardrails, the most important and newest first."""

    guardrails: tuple[GuardrailUse, ...]
    notices: tuple[str, ...] = ()


class AddedGuardrail(NamedTuple):
    """The stored guardrail with its outcome, or the proposal that waits for a person, or was `rejected` before; and the
    commit, None if it was known."""

    guardrail: PlacedFact | None
    outcome: str
    proposal: Proposal | None
    commit: str | None
    notices: tuple[str, ...] = ()


def list_guardrails(vault: Vault, caller: Caller) -> GuardrailList:
    """Return the guardrails that the caller may read; for an agent, those that hold for it."""
    failures, notices = failures_or_notice(vault)
    counts = count_accesses(unfolded_accesses(vault))

    def listed(index: Index) -> GuardrailList:
        found = [
            _use(index, placed, failures, counts)
            for placed in all_guardrails(index)
            if may_read(caller, placed.entity) and (caller.agent is None or holds_for(placed.fact, caller.agent))
        ]
        return GuardrailList(tuple(found), (*notices, *index.notices))

    return run_query(vault, listed)


def show_guardrail(vault: Vault, caller: Caller, reference: str) -> GuardrailList:
    """Return one guardrail, also one that no longer holds. Raise NotFound if the fact is none."""
    failures, notices = failures_or_notice(vault)
    counts = count_accesses(unfolded_accesses(vault))

    def shown(index: Index) -> GuardrailList:
        placed = find_fact(index, reference)
        if placed.fact.category != GUARDRAIL or not may_read(caller, placed.entity):
            raise NotFound(f"{placed.fact.id} is no guardrail.", "`clawmem guardrail list` shows the guardrails.")
        return GuardrailList((_use(index, placed, failures, counts),), (*notices, *index.notices))

    return run_query(vault, shown)


def add_guardrail(
    vault: Vault,
    caller: Caller,
    rule: str,
    why: str,
    failure_mode: str | None = None,
    agents: Sequence[str] = (),
    evidence: Sequence[str] = (),
    scope: Mapping[str, Any] | None = None,
) -> AddedGuardrail:
    """Store a guardrail of a person, or file the proposal of one that an agent gives, in one commit.

    `agents` are those for which it holds (none: everybody), `scope` the fields that say which queries see it."""
    known = read_modes(vault)
    if failure_mode is not None:
        find_mode(known, failure_mode)
    entry = {
        "rule": rule, "why": why, "failure_mode": failure_mode, "agents": [check_agent(agent) for agent in agents],
        "evidence": list(evidence),
    }  # fmt: skip
    record = {**guardrail_record(entry, WorkScope(), caller.agent), **(scope or {})}
    argument = {key: value for key, value in record.items() if value is not None}
    draft = without_secrets(vault, draft_from_record(argument, caller.now))
    with writing(vault, caller, "guardrail add") as work:
        if caller.agent:
            entity = vault.settings.words("defaults.entity")
            filed = ProposalWriter(work).file(draft.fact, entity, QuarantineReason(GUARDRAIL, f"A guardrail: {why}"))
            commits = work.commit([filed.change]) if filed.change else ()
            notices = (*known.notices, *work.notices, *([filed.notice] if filed.notice else []))
            outcome = "rejected" if filed.proposal.status == REJECTED else "proposed"
            return AddedGuardrail(None, outcome, filed.proposal, commits[-1] if commits else None, notices)
        planner = FactPlanner(work)
        stored, change = planner.plan(draft)
        commits = work.commit([change]) if change else ()
        placed = PlacedFact(stored.fact, stored.entity)
        notices = (*known.notices, *work.notices, *planner.notices)
        return AddedGuardrail(placed, stored.outcome, None, commits[-1] if commits else None, notices)


def _use(
    index: Index, placed: PlacedFact, failures: Sequence[FailureRecord], counts: Mapping[str, AccessCount]
) -> GuardrailUse:
    fact = add_accesses(counted_fact(index, placed.fact), counts)
    return GuardrailUse(PlacedFact(fact, placed.entity), tuple(came_back(placed, failures)))
