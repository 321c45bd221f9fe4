"""What an agent hands in becomes facts and proposals: lessons, decisions, knowledge, guardrails, outcomes.

Acts on guardrails: list them with how often each was served and whether its failure came back, show and add them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NotFound
from clawmem.index.refresh import run_query
from clawmem.index.search.listing import all_guardrails
from clawmem.index.search.lookup import PlacedFact, find_fact
from clawmem.index.tables.fact_marks import counted_fact
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import entity_for_draft
from clawmem.memory.facts.gates import check_daily_limit
from clawmem.memory.facts.remember import FactPlanner, RememberedFact, with_identity, without_secrets
from clawmem.memory.permission import may_read
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.quarantine import HandoverScreen, ProposalWriter, QuarantineReason, with_proposal_id
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import GUARDRAIL, UNSET_ID
from clawmem.model.facts.fact_words import holds_for
from clawmem.model.facts.gates import DECISION
from clawmem.model.facts.reach import PROJECT, TEAM, project_name
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import APPROVED, REJECTED, RETRACT, Proposal, ProposalTarget, new_proposal_id
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.entity import check_agent, slug
from clawmem.model.records.failure import FailureRecord
from clawmem.vault.state.journal import AccessCount, add_accesses, count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault
from clawmem.work.decisions import LESSON, contradiction_notice, precedents_against, with_contradictions
from clawmem.work.tasks import came_back, failures_or_notice, find_mode, read_modes

# What becomes facts, proposals and counts; every other field of a document is kept as a text.
_ENTRIES = ("lessons", "decisions", "knowledge", "guardrails", "outcomes")
# A lesson with so many more reports of harm than of help goes to review.
_HARMFUL = 3
OUTCOMES_KEY = "outcomes"
"""The key of a fact's metadata that counts what sessions reported of it, by outcome."""


class WorkScope(NamedTuple):
    """For what something was learned: workflow, project, task, stage and session."""

    workflow: str | None = None
    project: str | None = None
    task: str | None = None
    stage: str | None = None
    session: str | None = None

    def values(self, scope: str | None = None) -> dict[str, Any]:
        """Return the scope fields of a fact: the given scope, else the narrowest that there is."""
        wanted = scope or (PROJECT if self.project else TEAM if self.workflow else None)
        record = {"scope": wanted, "workflow": self.workflow, "project": self.project if wanted == PROJECT else None}
        return {key: value for key, value in record.items() if value is not None}

    def entity(self) -> str | None:
        """Return the entity for what names none: the project's, else the workflow's, else None."""
        if self.project:
            name = slug(project_name(self.project))
            return f"projects/{name}" if name else None
        return f"resources/{self.workflow}" if self.workflow else None


class SessionEndRecords(NamedTuple):
    """What was stored: the facts with their outcome, the proposals, and the changes to commit. `report` are the fields
    that are kept as texts, as they may be kept."""

    report: Mapping[str, Any]
    facts: tuple[RememberedFact, ...]
    proposals: tuple[Proposal, ...]
    changes: tuple[Change, ...]
    notices: tuple[str, ...]


def plan_records(work: WriteScope, document: Mapping[str, Any], scope: WorkScope) -> SessionEndRecords:
    """Plan everything that a checked document contains. Raise InvalidInput or NotFound, naming the field's path.

    Each field is judged here, so that no road and no new field goes around it."""
    check_daily_limit(work, len(document.get("lessons") or ()))
    agent = work.caller.agent
    about = {"source": _source(scope, agent), "entity": scope.entity(), "details": _said(_where(scope))}
    screen = HandoverScreen(work, {**about, **scope.values()})
    report = {key: screen.kept(value, key) for key, value in document.items() if key not in _ENTRIES}
    planner = FactPlanner(work)
    facts, changes, items = [], [], list[str]()
    for path, entry, draft in _drafts(work, document, scope):
        reason = screen.reason(entry) if agent else None
        if reason is not None:
            waits = with_identity(without_secrets(work.vault, draft).fact, work.caller, UNSET_ID)
            entity = entity_for_draft(work.index, draft, work.caller, work.vault.settings.words("defaults.entity"))
            proposal = screen.file(waits, entity, reason)
            facts.append(RememberedFact(with_proposal_id(proposal, waits), proposal.entity or "", "proposed"))
            continue
        against = precedents_against(work, draft.fact)
        draft = draft._replace(fact=with_contradictions(work, draft.fact, against))
        items += [contradiction_notice(placed, why) for placed, why in against]
        try:
            fact, change = planner.plan(without_secrets(work.vault, draft))
        except InvalidInput as problem:
            raise InvalidInput(f"{path}: {problem.message}", problem.hint) from None
        facts.append(fact)
        changes += [change] if change else []
    proposals, filed, notices = _guardrails(work, document, scope)
    harmful, counted = _outcomes(work, planner, document)
    changes += [*screen.changes, *filed, *counted]
    items += [f"{each.says} It waits for a person: `clawmem review show {each.id}`" for each in harmful]
    waiting = {remembered_fact.fact.id for remembered_fact in facts}
    proposals = [
        *(proposal for proposal in screen.proposals if proposal.id not in waiting),
        *proposals,
        *harmful,
    ]
    notices = [*planner.notices, *items, *screen.notices, *notices]
    return SessionEndRecords(report, tuple(facts), tuple(proposals), tuple(changes), tuple(notices))


def joined(changes: Sequence[Change], change: Change) -> Change:
    """Return one change that does all of them; the last one gives the subject and the author."""
    writes = {path: data for each in (*changes, change) for path, data in each.writes.items()}
    rows = [row for change in changes for row in change.trailers if row[0] != "Clawmem-Op"]
    body = "\n".join(f"- {change.subject}" for change in changes[:50])
    return change._replace(
        writes=writes, trailers=tuple(dict.fromkeys((*change.trailers, *rows))), body=change.body or body
    )


def _drafts(work: WriteScope, document: Mapping[str, Any], scope: WorkScope) -> Iterable[tuple[str, Any, Draft]]:
    """Yield the path, the entry and the draft of each entry that becomes a fact."""
    kinds = {"lessons": lesson_record, "decisions": decision_record, "knowledge": _knowledge_record}
    for key, record_of in kinds.items():
        for at, entry in enumerate(document.get(key) or ()):
            record = record_of(entry if isinstance(entry, Mapping) else {"text": entry}, scope, work.caller.agent)
            yield f"{key}[{at}]", entry, _checked(work, f"{key}[{at}]", record)


def _knowledge_record(entry: Mapping[str, Any], scope: WorkScope, agent: str | None) -> dict[str, Any]:
    return {
        "fact": entry["claim"],
        "entity": entry["entity"],
        "confidence": entry.get("confidence"),
        "source": entry.get("source") or _source(scope, agent),
        **scope.values(),
    }


def _checked(work: WriteScope, path: str, record: Mapping[str, Any]) -> Draft:
    argument = {key: value for key, value in record.items() if value not in (None, [], {})}
    try:
        return draft_from_record(argument, work.caller.now)
    except InvalidInput as problem:
        raise InvalidInput(f"{path}: {problem.message}", problem.hint) from None


def lesson_record(record: Mapping[str, Any], scope: WorkScope, agent: str | None) -> dict[str, Any]:
    """Return the fact of a lesson, with the keys of `lessons` in the schema of the end of a session. Without an agent,
    a person teaches it."""
    return {
        "fact": record["text"],
        "category": LESSON,
        "entity": record.get("entity"),
        "default_entity": scope.entity(),
        "tags": record.get("tags"),
        "importance": record.get("importance"),
        "source": _source(scope, agent),
        "details": _said({"because": record.get("because"), **_where(scope)}),
        **scope.values(record.get("scope")),
    }


def decision_record(record: Mapping[str, Any], scope: WorkScope, agent: str | None) -> dict[str, Any]:
    """Return the fact of a decision, with the keys of `decisions` in the schema of the end of a session, and further
    `details`. Without an agent, a person decides."""
    alternatives = [
        {"option": alternative} if isinstance(alternative, str) else dict(alternative)
        for alternative in record.get("alternatives") or ()
    ]
    used = list(dict.fromkeys(record.get("used") or ()))
    links = [{"type": "depends_on", "to": other, "reason": "the decision rests on it"} for other in used]
    if record.get("against"):
        links.append({"type": "contradicts", "to": record["against"], "reason": "decided against this precedent"})
    return {
        "fact": record["decided"],
        "category": DECISION,
        "entity": record.get("entity"),
        "default_entity": scope.entity(),
        "tags": record.get("tags"),
        "source": _source(scope, agent),
        "links": links,
        "details": _said(
            {
                "decided": record["decided"],
                "why": record["why"],
                "alternatives": alternatives,
                **(record.get("details") or {}),
                **_where(scope),
                "workflow": scope.workflow,
            }
        ),
        **scope.values(record.get("scope")),
    }


def guardrail_record(record: Mapping[str, Any], scope: WorkScope, agent: str | None) -> dict[str, Any]:
    """Return the fact of a guardrail, with the keys of `guardrails` in the schema of the end of a session. Without an
    agent, a person gives it."""
    about = {key: record.get(key) for key in ("why", "failure_mode", "agents", "evidence")}
    return {
        "fact": record["rule"],
        "category": GUARDRAIL,
        "source": _source(scope, agent),
        "trust": "agent" if agent else None,
        "agent": agent,
        "details": _said({**about, **_where(scope)}),
        **scope.values(),
    }


def _where(scope: WorkScope) -> dict[str, Any]:
    return {"task": scope.task, "stage": scope.stage, "session": scope.session}


def _said(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value not in (None, "", [], {})}


def _source(scope: WorkScope, agent: str | None) -> str:
    return f"session:{scope.session}" if scope.session else "agent" if agent else "user"


def _guardrails(
    work: WriteScope, document: Mapping[str, Any], scope: WorkScope
) -> tuple[list[Proposal], list[Change], list[str]]:
    value = document.get("guardrails") or ()
    if not value:
        return [], [], []
    writer = ProposalWriter(work)
    proposals, changes, notices = [], [], []
    for at, other in enumerate(value):
        record = guardrail_record(other, scope, work.caller.agent)
        draft = without_secrets(work.vault, _checked(work, f"guardrails[{at}]", record))
        entity = scope.entity() or work.vault.settings.words("defaults.entity")
        filed = writer.file(draft.fact, entity, QuarantineReason(GUARDRAIL, f"A guardrail: {other['why']}"))
        proposals.append(filed.proposal)
        changes += [filed.change] if filed.change else []
        notices += [filed.notice] if filed.notice else []
    return proposals, changes, notices


def _outcomes(
    work: WriteScope, planner: FactPlanner, document: Mapping[str, Any]
) -> tuple[list[Proposal], list[Change]]:
    """Count what the document reports of facts in their metadata, as one change for each fact.

    A lesson with _HARMFUL more reports of harm than of help becomes a proposal to withdraw it."""
    proposals, changes = [], []
    for reference, outcome in (document.get("outcomes") or {}).items():
        placed = find_fact(work.index, reference)
        metadata = dict(placed.fact.metadata or {})
        known = metadata.get(OUTCOMES_KEY)
        rows = known.items() if isinstance(known, Mapping) else ()
        counts = Counter({key: value for key, value in rows if isinstance(value, int)})
        counts[outcome] += 1
        writes = planner.amend(placed, metadata={**metadata, OUTCOMES_KEY: dict(sorted(counts.items()))})
        changes.append(Change(f"{outcome}: {placed.fact.fact}", writes, (("Fact", placed.fact.id),)))
        harm = counts["harmful"] - counts["useful"]
        if outcome == "harmful" and placed.fact.category == LESSON and harm >= _HARMFUL and placed.fact.is_current:
            filed = _withdrawal(work, placed, counts)
            proposals += [filed] if filed else []
    for proposal in proposals:
        subject = f"propose: a {proposal.kind} that waits for a person ({proposal.id})"
        changes.append(Change(subject, proposal_writes([proposal]), proposal_trailers([proposal])))
    return proposals, changes


def _withdrawal(work: WriteScope, placed: PlacedFact, counts: Counter[str]) -> Proposal | None:
    """Return the proposal to withdraw a lesson, unless one waits or was rejected since."""
    filed = read_proposals(work.vault, work.read).proposals
    known = [
        proposal
        for proposal in filed
        if proposal.kind == LESSON
        and proposal.does == RETRACT
        and placed.fact.id in (target.id for target in proposal.targets)
    ]
    if any(proposal.status != APPROVED for proposal in known):
        return None
    fact, caller = placed.fact, work.caller
    return Proposal(
        new_proposal_id(caller.entropy, {proposal.id for proposal in filed}),
        LESSON,
        f"Withdraw the lesson: {fact.fact}",
        f"Sessions reported it as harmful {counts['harmful']} times and as useful {counts['useful']} times.",
        stamp(caller.now),
        RETRACT,
        targets=(ProposalTarget(fact.id, fact.fact),),
        entity=placed.entity,
        agent=caller.agent,
    )


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
