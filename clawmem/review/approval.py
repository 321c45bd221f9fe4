"""Plan the change that approving a proposal makes, or refuse if the vault changed since it was proposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, TakenIds, by_ids, entity_exists, facts_about
from clawmem.memory.entities.places import FactMove, entity_for_draft, move_writes, new_entity_files, resolve_entity
from clawmem.memory.facts.remember import with_identity
from clawmem.memory.history.why import find_event
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import (
    is_replaced,
    is_single,
)
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import (
    BESIDE,
    FACT_PREFIX,
    RETRACTED,
    Fact,
    FactLink,
    check_prefix,
    is_low_trust,
    new_fact_id,
    statement_trust,
)
from clawmem.model.facts.reach import project_name
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.chain import Succession, correct, succeed
from clawmem.model.merging.fields import merge_links
from clawmem.model.proposals.para import EntityHint, entity_name
from clawmem.model.proposals.promotion import (
    PromotionScore,
    mark_promoted,
    promotion_of,
    promotion_refusal,
    without_place,
)
from clawmem.model.proposals.proposal import (
    DECIDE,
    END,
    LINE,
    MERGE,
    PREDICATE,
    PROMOTE,
    RETRACT,
    SUPERSEDE,
    PageLine,
    PromotionWorth,
    Proposal,
    ProposalTarget,
)
from clawmem.model.proposals.quarantine import orders_in, with_approval
from clawmem.model.records.event import is_of_user
from clawmem.model.records.layout import CATALOG


class ApprovalPlan(NamedTuple):
    """The facts after approval, the outcome of each, the files to write, and the entity or file that changes.

    `winner` is the fact for which a conflict was decided."""

    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    writes: dict[str, bytes | None]
    place: str
    supersedes: tuple[str, ...] = ()
    winner: str | None = None


def plan_approval(
    work: WriteScope,
    proposal: Proposal,
    reason: str | None,
    beside: bool = False,
    keep: str | None = None,
    by: str = "a person",
) -> ApprovalPlan:
    """Return the change that approving the proposal makes now. `by` is who decides, who must be allowed to.

    `beside` keeps the facts that the proposed fact contradicts. `keep` names the fact of a conflict that replaces the
    others. Raise Refused if the proposal no longer applies.
    """
    if keep is not None and beside:
        raise Refused(
            "--keep and --beside cannot be combined: one keeps a single fact of the conflict, the other all of them.",
            "Choose one of the two.",
        )
    if keep is not None and (proposal.kind != "conflict" or proposal.does != SUPERSEDE):
        raise Refused("Only in a conflict of facts can one of them be kept.", "Approve it without --keep.")
    if proposal.does == PREDICATE:
        raise Refused(f"Approvals write no relations to {CATALOG} any more.", "Edit the file, and reject the proposal.")
    if proposal.does == LINE and proposal.line:
        return _line(work, proposal.line)
    if proposal.does == DECIDE:
        return ApprovalPlan((), (), {}, proposal.entity or proposal.id)
    targets = [_target(work, target, proposal) for target in proposal.targets]
    if keep is not None:
        return _keeping(work, proposal, targets, keep, reason)
    if proposal.does == PROMOTE and proposal.worth and targets:
        return _promotion(work, proposal, proposal.worth, targets[0])
    if proposal.does == RETRACT or proposal.fact is None:
        return _retraction(work, proposal, targets, reason)
    if beside and (proposal.kind != "conflict" or proposal.does in (MERGE, END)):
        raise Refused("Only a fact that contradicts others can be kept beside them.", "Approve it without --beside.")
    latest = _existing(proposal, targets)
    fact = latest.fact if latest else _new_fact(work, proposal.fact)
    if is_low_trust(fact.trust) or orders_in(fact) or (fact.trust == "agent" and work.caller.agent is None):
        fact = with_approval(fact, by, stamp(work.caller.now))
    _check_evidence(work, fact)
    _refuse_known(work, fact, proposal, beside)
    if proposal.does == PROMOTE and proposal.worth:
        fact = mark_promoted(fact, proposal.worth.on, _judgement(proposal.worth), proposal.id)
    entity = latest.entity if latest else _entity(work, proposal.fact, proposal)
    others = [placed for placed in targets if placed is not latest]
    if beside:
        return _beside(work, proposal, fact, others, entity, reason)
    return _addition(work, proposal, fact, others, entity, reason)


def plan_rejection(work: WriteScope, proposal: Proposal, reason: str | None) -> ApprovalPlan:
    """Return the change that rejecting the proposal makes now: none, but for a conflict of two stored facts.

    There, what is rejected is that the one fact holds instead of the other, so it was never true."""
    nothing = ApprovalPlan((), (), {}, proposal.id)
    if proposal.kind != "conflict" or proposal.does != SUPERSEDE or len(proposal.targets) != 2:
        return nothing
    try:
        targets = [_target(work, target, proposal) for target in proposal.targets]
    except Refused:
        return nothing  # one of them was changed since: there is nothing to decide any more
    rejected = _existing(proposal, targets)
    if rejected is None:
        return nothing
    kept = next(placed for placed in targets if placed is not rejected)
    return _keeping(work, proposal, targets, kept.fact.id, reason)


def _existing(proposal: Proposal, targets: Sequence[PlacedFact]) -> PlacedFact | None:
    """Return the target that already says what the proposal says, if any.

    This happens when two machines wrote conflicting facts and both are in the vault.
    """
    if proposal.does != SUPERSEDE or proposal.fact is None or len(targets) < 2:
        return None
    says = normal(proposal.fact.fact)
    return next((target for target in reversed(targets) if normal(target.fact.fact) == says), None)


def _new_fact(work: WriteScope, fact: Fact) -> Fact:
    """Return the fact with an identity. Its trust is that of the proposal, whoever approves it."""
    new = with_identity(fact, work.caller, new_fact_id(work.caller.entropy, TakenIds(work.index)))
    return new._replace(trust=statement_trust(fact.trust, fact.source, None)) if fact.trust else new


def _addition(
    work: WriteScope,
    proposal: Proposal,
    fact: Fact,
    targets: Sequence[PlacedFact],
    entity: str,
    reason: str | None,
) -> ApprovalPlan:
    at = stamp(work.caller.now)
    catalog = work.vault.catalog
    # One value that never changes, such as a birthday.
    is_fixed = is_single(catalog, fact.predicate) and not is_replaced(catalog, fact.predicate)
    if targets and proposal.does == SUPERSEDE and is_fixed:
        succession = correct(fact, (placed.fact for placed in targets), reason, at)
    elif targets:
        link = "merges" if proposal.does == MERGE else "supersedes"
        succession = succeed(fact, (placed.fact for placed in targets), link, reason, at, _said_day(fact))
    else:
        succession = Succession(fact, ())
    new = succession.new._replace(links=merge_links((), succession.new.links, ()))
    facts = _placed(succession._replace(new=new), entity, targets)
    return ApprovalPlan(
        tuple(facts),
        _outcomes(proposal, fact, len(succession.closed)),
        {**_new_entity(work, proposal, entity), **work.items_with(facts)},
        entity,
        tuple(fact.id for fact in succession.closed if fact.superseded_by),
        new.id if proposal.kind == "conflict" and succession.closed else None,
    )


def _beside(
    work: WriteScope,
    proposal: Proposal,
    fact: Fact,
    targets: Sequence[PlacedFact],
    entity: str,
    reason: str | None,
) -> ApprovalPlan:
    """Return the decision to keep a fact and those that it contradicts: a link from each to those before it settles
    the conflict."""
    at = stamp(work.caller.now)
    everyone = [*targets, PlacedFact(fact, entity)]
    ids = [placed.fact.id for placed in everyone]
    changed = []
    for number, placed in enumerate(everyone):
        kept = (link for link in placed.fact.links if link.type != "contradicts" or link.to not in ids)
        links = (*kept, *(FactLink(BESIDE, other, reason, at) for other in ids[:number]))
        if links != placed.fact.links:
            changed.append(PlacedFact(placed.fact._replace(links=merge_links((), links, ())), placed.entity))
    changed.reverse()  # the fact of the proposal comes first
    outcome = (*_outcomes(proposal, fact, 0), *("updated",) * (len(changed) - 1))
    writes = {**_new_entity(work, proposal, entity), **work.items_with(changed)}
    return ApprovalPlan(tuple(changed), outcome, writes, entity)


def _placed(succession: Succession, entity: str, targets: Sequence[PlacedFact]) -> list[PlacedFact]:
    """Return the new fact of a succession, in an entity, and those that it closes."""
    homes = {placed.fact.id: placed.entity for placed in targets}
    closed = (PlacedFact(fact, homes[fact.id]) for fact in succession.closed)
    return [PlacedFact(succession.new, entity), *closed]


def _keeping(
    work: WriteScope, proposal: Proposal, targets: Sequence[PlacedFact], keep: str, reason: str | None
) -> ApprovalPlan:
    """Return the decision of a conflict for one of its facts: the others were never true."""
    found = [placed for placed in targets if keep in (placed.fact.id, placed.fact.id.partition("_")[2])]
    exact = bool(found)
    prefix = keep if keep.startswith(FACT_PREFIX) else f"{FACT_PREFIX}{keep}"
    found = found or [placed for placed in targets if placed.fact.id.startswith((keep, prefix))]
    kept = found[0] if len(found) == 1 else None
    if kept is not None and not exact:
        check_prefix(keep, keep if kept.fact.id.startswith(keep) else prefix, kept.fact.id, FACT_PREFIX)
    if kept is None:
        names = " or ".join(placed.fact.id for placed in targets)
        raise Refused(f"{keep} is no fact of this conflict.", f"Keep {names}." if names else "Reject the proposal.")
    others = [placed for placed in targets if placed is not kept]
    if not others:
        raise Refused(f"Nothing that is stored stands against {kept.fact.id}.", "Reject the proposal to keep it.")
    succession = correct(kept.fact, (placed.fact for placed in others), reason, stamp(work.caller.now))
    facts = _placed(succession, kept.entity, targets)
    gone = tuple(fact.id for fact in succession.closed)
    outcome = ("updated",) * len(facts)
    return ApprovalPlan(tuple(facts), outcome, work.items_with(facts), kept.entity, gone, kept.fact.id)


def _promotion(work: WriteScope, proposal: Proposal, worth: PromotionWorth, target: PlacedFact) -> ApprovalPlan:
    """Return the promotion of a known fact. The promotion mark names the proposal."""
    hint = _closes(proposal)
    mark = promotion_of(target.fact)
    if mark is not None:
        raise Refused(f"{target.fact.id} was promoted already, for {mark['on']}.", hint)
    against = promotion_refusal(target.fact, target.entity, day_of(stamp(work.caller.now)))
    if against:
        raise Refused(f"{target.fact.id} can no longer be promoted: {against}.", hint)
    marked = without_place(mark_promoted(target.fact, worth.on, _judgement(worth), proposal.id))
    entity = resolve_entity(work.index, proposal.entity or target.entity, work.caller)
    writes = move_writes(work, [FactMove(marked, target.entity, entity, proposal.title)])
    return ApprovalPlan((PlacedFact(marked, entity),), ("updated",), writes, entity)


def _judgement(worth: PromotionWorth) -> PromotionScore:
    return PromotionScore(worth.score, worth.reasons)


def _said_day(fact: Fact) -> str:
    """Return the day the fact was said, or else the day it was recorded."""
    text = (fact.metadata or {}).get("said_at")
    return day_of(text if isinstance(text, str) else fact.timestamp)


def _outcomes(proposal: Proposal, fact: Fact, closed: int) -> tuple[str, ...]:
    if not closed:
        return ("updated" if fact.id in (target.id for target in proposal.targets) else "added",)
    first = {MERGE: "merged", END: "added"}.get(proposal.does, "updated")
    return (first, *(["merged" if proposal.does == MERGE else "updated"] * closed))


def _target(work: WriteScope, target: ProposalTarget, proposal: Proposal) -> PlacedFact:
    """Return the current state of a target. Raise Refused if it changed since the proposal was made."""
    hint = f"{_closes(proposal)} `clawmem why {target.id}` shows what happened."
    found = by_ids(work.index, [target.id]).get(target.id)
    fact = next((each for each in work.facts(found.entity) if each.id == target.id), None) if found else None
    if found is None or fact is None:
        raise Refused(f"The proposal would change {target.id}, which no longer exists.", hint)
    if fact.superseded_by:
        raise Refused(f"The proposal would change {target.id}, which is now superseded by {fact.superseded_by}.", hint)
    if not fact.is_current:
        raise Refused(f"The proposal would change {target.id}, which is now {fact.status}.", hint)
    if normal(fact.fact) != normal(target.fact):
        raise Refused(f"The proposal would change {target.id}, whose text is now: {fact.fact}", hint)
    return PlacedFact(fact, found.entity)


def _check_evidence(work: WriteScope, fact: Fact) -> None:
    if fact.source_event is None:
        return
    event = find_event(work.vault, work.index, fact.source_event)
    if event is None:
        raise Refused(f"Its source event {fact.source_event} is no longer in the ledger.", _REJECT)
    if fact.source_span and event.text[slice(*fact.source_span)] != fact.source_text:
        raise Refused(f"Its evidence is no longer in the event {fact.source_event}.", _REJECT)


def _closes(proposal: Proposal) -> str:
    return f"`clawmem review reject {proposal.id} --reason ...` closes it."


_REJECT = "Reject it, or record the fact again with `clawmem remember`."


def _refuse_known(work: WriteScope, fact: Fact, proposal: Proposal, beside: bool) -> None:
    """Refuse if a current fact outside the targets says the same or holds the only value of the predicate."""
    named = {target.id for target in proposal.targets}
    for placed in facts_about(work.index, fact.subject) if fact.subject else ():
        if not placed.fact.is_current or placed.fact.id in named:
            continue
        if normal(placed.fact.fact) == normal(fact.fact):
            raise Refused(
                f"The fact is already known as {placed.fact.id}.",
                _closes(proposal),
            )
        if placed.fact.predicate == fact.predicate and is_single(work.vault.catalog, fact.predicate) and not beside:
            raise Refused(
                f"{placed.fact.id}, which is newer, contradicts it: {placed.fact.fact}",
                f"Reject it, or replace that fact: `clawmem supersede {placed.fact.id} ...`.",
            )


def _entity(work: WriteScope, fact: Fact, proposal: Proposal) -> str:
    default = work.vault.settings.words("defaults.entity")
    draft = Draft(fact, proposal.entity, default=_speaker_or_project(work, fact))
    return entity_for_draft(work.index, draft, work.caller, default)


def _new_entity(work: WriteScope, proposal: Proposal, entity: str) -> dict[str, bytes | None]:
    return {} if entity_exists(work.index, entity) else new_entity_files(entity, work.caller, proposal.title)


def _speaker_or_project(work: WriteScope, fact: Fact) -> str | None:
    """Return the entity of another person than the user who said a fact of themself, else of the fact's project."""
    event = find_event(work.vault, work.index, fact.source_event) if fact.source_event else None
    name = event.speaker if event and not is_of_user(event, work.vault.settings.words("user.name")) else None
    if name and normal(name) == normal(fact.subject or ""):
        return entity_name(EntityHint("person", name, "speaker"))
    return entity_name(EntityHint("project", project_name(fact.project), "here")) if fact.project else None


def _retraction(
    work: WriteScope, proposal: Proposal, targets: Sequence[PlacedFact], reason: str | None
) -> ApprovalPlan:
    why = reason or (proposal.why if proposal.kind != "conflict" else "")
    remark: dict[str, Any] = {"at": stamp(work.caller.now), **({"reason": why} if why else {})}
    gone = [
        PlacedFact(
            placed.fact._replace(status=RETRACTED, metadata={**(placed.fact.metadata or {}), "retracted": remark}),
            placed.entity,
        )
        for placed in targets
    ]
    return ApprovalPlan(tuple(gone), ("retracted",) * len(gone), work.items_with(gone), gone[0].entity)


def _line(work: WriteScope, line: PageLine) -> ApprovalPlan:
    page = work.text(line.page)
    if line.text in page.split("\n"):
        raise Refused(f"{line.page} already has that line.", "Reject the proposal.")
    gap = "" if not page or page.endswith("\n") else "\n"
    return ApprovalPlan((), (), {line.page: f"{page}{gap}{line.text}\n".encode()}, line.page)
