"""Tacit knowledge: propose patterns in corrections and preferences for an agent's TACIT.md. Approval writes them."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.search.lookup import facts_containing
from clawmem.memory.review.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import LINE, PageLine, Proposal, new_proposal_id
from clawmem.model.proposals.tacit import Pattern, find_patterns
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault

KIND = "tacit"
# The key of a pattern in its proposal. It prevents a second proposal, even after a rejection.
KEY = "pattern"


class TacitResult(NamedTuple):
    """The filed proposals (in a dry run, those that would be filed) and the commit."""

    proposals: tuple[Proposal, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def propose_tacit(vault: Vault, caller: Caller, dry_run: bool = False) -> TacitResult:
    """File a proposal for each new pattern."""
    with writing(vault, caller, "tacit", dry_run=dry_run) as work:
        facts = [one.fact for one in facts_containing(work.index, '"agent": ')]
        found = find_patterns(facts, vault.settings.whole("tacit.repeats"))
        fresh = _proposals(work, found) if found else []
        if dry_run or not fresh:
            return TacitResult(tuple(fresh), notices=work.notices)
        words = fresh[0].says if len(fresh) == 1 else f"{len(fresh)} patterns for {', '.join(_agents(fresh))}"
        change = Change(
            subject_line("propose", KIND, words),
            proposal_writes(fresh),
            (*trailers("propose"), *proposal_trailers(fresh)),
        )
        return TacitResult(tuple(fresh), work.commit([change])[-1], work.notices)


def _agents(proposals: list[Proposal]) -> list[str]:
    return sorted({one.agent for one in proposals if one.agent})


def _proposals(work: WriteScope, found: tuple[Pattern, ...]) -> list[Proposal]:
    filed = read_proposals(work.vault, work.read).proposals
    known = {(one.agent, one.extra.get(KEY)) for one in filed if one.kind == KIND}
    taken = {one.id for one in filed}
    fresh = []
    for pattern in found:
        if (pattern.agent, pattern.key) not in known:
            fresh.append(_proposal(work.caller, pattern, taken))
            taken.add(fresh[-1].id)
    return fresh


def _proposal(caller: Caller, pattern: Pattern, taken: set[str]) -> Proposal:
    cited = ", ".join(pattern.facts)
    return Proposal(
        id=new_proposal_id(caller.entropy, taken),
        kind=KIND,
        says=f"{pattern.agent}'s TACIT.md: {pattern.sentence}",
        why=f"seen {len(pattern.facts)} times: {cited}",
        created=stamp(caller.now),
        does=LINE,
        line=PageLine(f"agents/{pattern.agent}/TACIT.md", f"- {pattern.sentence} ({cited})"),
        agent=pattern.agent,
        extra={KEY: pattern.key},
    )
