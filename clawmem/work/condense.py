"""Condense cold facts: several of one entity and topic become one fact that merges them, and they are archived."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, unused_since
from clawmem.llm.prompts import prompt
from clawmem.llm.tasks import ModelTask, checked_answer
from clawmem.memory.facts.remember import FactPlanner, without_secrets
from clawmem.memory.review.proposals import read_proposals
from clawmem.memory.review.quarantine import ProposalWriter, QuarantineReason
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import LONGEST_FACT, counted, one_line
from clawmem.model.lifecycle.condensing import (
    Cluster,
    certain_claim,
    clusters,
    condensed,
    draft_of_proposal,
    lost_words,
)
from clawmem.model.lifecycle.tiers import RECENCY
from clawmem.model.proposals.proposal import APPROVED, MERGE, OPEN, Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.safety.recalled_text import without_closing_marks
from clawmem.vault.state.declined import declined_groups, record_declined
from clawmem.vault.vault import Vault
from clawmem.work.handed_in import joined

# A person is asked about so many groups at a time, those that are used most first.
MOST_OPEN = 3
WHY = "These cold facts are about one topic. Approve one fact in their place, with better words if you like."
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"claim": {"type": ["string", "null"]}},
    "required": ["claim"],
    "additionalProperties": False,
}


class PlannedClaim(NamedTuple):
    """A group, and the fact in its place (None: a person is asked)."""

    cluster: Cluster
    fact: Fact | None


class CondenseResult(NamedTuple):
    """The new facts, the facts archived for them, the new proposals, and the commit."""

    facts: tuple[PlacedFact, ...] = ()
    archived: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def condense(vault: Vault, caller: Caller, dry_run: bool = False, asks: bool = True) -> CondenseResult:
    """Condense the groups of at least `condense.facts` cold facts, in one commit; those that were accessed most come
    first. Running it again changes nothing.

    Rules do it where the result is certain. Other groups wait for a reader, who answers `condensing_tasks`, or if
    `asks` is true, they are proposed to a person, a few at a time."""
    found = find_clusters(vault, caller.now)
    if not found:
        return CondenseResult()
    planned = _plan(vault, found, asks)
    if dry_run:
        facts = tuple(PlacedFact(claim.fact, claim.cluster.entity) for claim in planned if claim.fact)
        return CondenseResult(facts, tuple(old.id for claim in planned if claim.fact for old in claim.cluster.facts))
    if not planned:
        return CondenseResult()
    with writing(vault, caller, "condense") as work:
        return _write(work, planned)._replace(notices=work.notices)


def find_clusters(vault: Vault, now: datetime) -> list[Cluster]:
    """Return the groups that can be condensed now. Groups that wait for a person, or were rejected, are left out."""
    decided = {
        target.id
        for proposal in read_proposals(vault).proposals
        if proposal.does == MERGE and proposal.status != APPROVED
        for target in proposal.targets
    }
    # Nothing is cold before this.
    since = stamp(now - timedelta(days=RECENCY[-1][2]))
    fewest = vault.settings.whole("condense.facts")
    placed = run_query(vault, lambda index: unused_since(index, since))
    return clusters(((other_placed.fact, other_placed.entity) for other_placed in placed), now, fewest, decided)


def _plan(vault: Vault, found: Sequence[Cluster], asks: bool) -> list[PlannedClaim]:
    catalog = vault.catalog_or_none() or Catalog({})
    planned = [PlannedClaim(cluster, certain_claim(cluster, catalog)) for cluster in found]
    waiting = sum(proposal.does == MERGE and proposal.status == OPEN for proposal in read_proposals(vault).proposals)
    asked = [claim for claim in planned if claim.fact is None][: max(0, MOST_OPEN - waiting) if asks else 0]
    return [claim for claim in planned if claim.fact is not None or claim in asked]


def condensing_tasks(vault: Vault, now: datetime) -> list[ModelTask]:
    """Return a task for each group of cold facts that rules cannot join, and that no reader has declined."""
    return [_task(group) for group in _open_groups(vault, now)]


def apply_condensing(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> CondenseResult | None:
    """Join a group of cold facts with an agent's answer to a task of `condensing_tasks`. Return None if no such task
    waits."""
    cluster = next((group for group in _open_groups(vault, caller.now) if _task(group).key == key), None)
    if cluster is None:
        return None
    fact = _joined(vault, cluster, checked_answer(_task(cluster), answer))
    if fact is None:
        return CondenseResult()
    with writing(vault, caller, "condense") as work:
        return _write(work, [PlannedClaim(cluster, fact)])


def _open_groups(vault: Vault, now: datetime) -> list[Cluster]:
    catalog, declined = vault.catalog_or_none() or Catalog({}), declined_groups(vault)
    found = find_clusters(vault, now)
    return [
        cluster for cluster in found if certain_claim(cluster, catalog) is None and group_key(cluster) not in declined
    ]


def _task(cluster: Cluster) -> ModelTask:
    statements = "\n".join(f"- {without_closing_marks(fact.fact)}" for fact in cluster.facts)
    return ModelTask("condense", prompt("condense"), f"<statements>\n{statements}\n</statements>", _SCHEMA)


def _joined(vault: Vault, cluster: Cluster, answer: Mapping[str, Any]) -> Fact | None:
    """Return the fact that a reader writes in place of a group. If it declines or loses a name or a number, return None
    and do not ask again."""
    text = one_line(answer["claim"] or "")
    if not text or len(text) > LONGEST_FACT or lost_words(cluster, text):
        record_declined(vault, group_key(cluster))
        return None
    return condensed(cluster, text)


def group_key(cluster: Cluster) -> str:
    """Return a key that changes with the facts of a group and with their words."""
    text = "\n".join(f"{fact.id} {fact.fact}" for fact in cluster.facts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write(work: WriteScope, planned: Sequence[PlannedClaim]) -> CondenseResult:
    planner, writer = FactPlanner(work), None
    facts, archived, proposals, changes = list[PlacedFact](), list[str](), list[Proposal](), list[Change]()
    for claim in planned:
        olds = _unchanged(work, claim.cluster)
        if olds is None:
            continue
        if claim.fact is None:
            writer = writer or ProposalWriter(work)
            asked = condensed(claim.cluster, draft_of_proposal(claim.cluster))._replace(links=())
            filed = writer.file(asked, claim.cluster.entity, QuarantineReason("fact", WHY), MERGE, claim.cluster.facts)
            proposals += [filed.proposal] if filed.change else []
            changes += [filed.change] if filed.change else []
            continue
        dated = tuple(link._replace(at=stamp(work.caller.now)) for link in claim.fact.links)
        draft = without_secrets(work.vault, Draft(claim.fact._replace(links=dated), claim.cluster.entity))
        stored, change = planner.plan(draft)
        changes += [change] if change else []
        if stored.outcome == "proposed":
            continue
        facts.append(PlacedFact(stored.fact, stored.entity))
        archived += [old.fact.id for old in olds]
        for old in olds:
            writes = planner.amend(old, status=ARCHIVED)
            changes.append(Change(f"archive: {old.fact.fact}", writes, (("Fact", old.fact.id),)))
    if not changes:
        return CondenseResult()
    words = f"{counted(len(archived), 'cold fact')} into {len(facts)}"
    if not facts:
        words = f"{counted(len(proposals), 'group')} of cold facts proposed"
    entities = sorted({placed.entity for placed in facts})
    change = Change(subject_line("condense", "facts", words), {}, trailers("condense", entities=entities))
    commit = work.commit([joined(changes, change)])[-1]
    return CondenseResult(tuple(facts), tuple(archived), tuple(proposals), commit)


def _unchanged(work: WriteScope, cluster: Cluster) -> list[PlacedFact] | None:
    """Return the facts of a group, or None if one of them changed since the group was read, or cannot be written."""
    record = by_ids(work.index, [fact.id for fact in cluster.facts])
    same = [
        placed
        for fact in cluster.facts
        if (placed := record.get(fact.id)) is not None
        and (placed.fact.status, placed.fact.fact) == (ACTIVE, fact.fact)
        and placed.entity == cluster.entity
        and work.is_readable(placed.entity)
    ]
    return same if len(same) == len(cluster.facts) else None
