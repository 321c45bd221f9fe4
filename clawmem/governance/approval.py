"""What approving a proposal changes, planned: refused with the reason where the world has moved on since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, TakenIds, about, by_ids, entity_exists
from clawmem.memory.entities.places import new_entity_files, place_of
from clawmem.memory.entities.predicates import with_entry
from clawmem.memory.facts.remember import completed
from clawmem.memory.history.evidence import find_event
from clawmem.memory.writing import WriteScope
from clawmem.model.facts.catalog import Catalog, is_replaced, is_single
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import RETRACTED, Fact, FactLink
from clawmem.model.facts.ids import new_fact_id
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.succession import Succession, correct, succeed
from clawmem.model.merging.facts.fields import merge_links
from clawmem.model.proposals.promotion import PromotionScore, mark_promoted, promotion_of, promotion_refusal
from clawmem.model.proposals.proposal import (
    END,
    LINE,
    MERGE,
    PREDICATE,
    PROMOTE,
    RETRACT,
    SUPERSEDE,
    CatalogEntry,
    PageLine,
    PromotionWorth,
    Proposal,
    ProposalTarget,
)
from clawmem.model.proposals.quarantine import orders_in, with_approval
from clawmem.model.records.entity import items_path
from clawmem.model.records.layout import CATALOG


class ApprovalPlan(NamedTuple):
    """The facts as they will be, what happens to each, the files to write, the place it is about."""

    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    writes: dict[str, bytes | None]
    place: str
    supersedes: tuple[str, ...] = ()


class ApprovalPlace(NamedTuple):
    """Where a fact goes, and the files that make the place where there is none."""

    entity: str
    writes: dict[str, bytes | None]


def plan_approval(work: WriteScope, proposal: Proposal, reason: str | None, beside: bool = False) -> ApprovalPlan:
    """The change a proposal stands for, as of now; `beside` keeps the facts that it contradicts standing."""
    if proposal.does == PREDICATE and proposal.entry:
        return _predicate(work, proposal.entry)
    if proposal.does == LINE and proposal.line:
        return _line(work, proposal.line)
    targets = [_target(work, one, proposal) for one in proposal.targets]
    if proposal.does == PROMOTE and proposal.worth and targets:
        return _promotion(work, proposal, proposal.worth, targets[0])
    if proposal.does == RETRACT or proposal.fact is None:
        return _retraction(work, proposal, targets, reason)
    if beside and (proposal.kind != "conflict" or proposal.does in (MERGE, END)):
        raise Refused("Only a fact that contradicts others can stand beside them.", "Approve it without --beside.")
    _refuse_agent(work, proposal.fact)
    latest = _standing(proposal, targets)
    fact = latest.fact if latest else _new(work, proposal.fact)
    if is_low_trust(fact.trust) or orders_in(fact):
        fact = with_approval(fact, work.caller.agent or "a person", stamp(work.caller.now))
    _check_evidence(work, fact)
    _refuse_known(work, fact, proposal, beside)
    if proposal.does == PROMOTE and proposal.worth:
        fact = mark_promoted(fact, proposal.worth.on, _judgement(proposal.worth), proposal.id)
    place = ApprovalPlace(latest.entity, {}) if latest else _place(work, proposal.fact, proposal)
    return _kept(work, proposal, fact, [one for one in targets if one is not latest], place, reason, beside)


def _standing(proposal: Proposal, targets: Sequence[PlacedFact]) -> PlacedFact | None:
    """The one of the facts that are in conflict that is to take the place of the others, where it stands already: two
    machines had written both."""
    if proposal.does != SUPERSEDE or proposal.fact is None or len(targets) < 2:
        return None
    says = normal(proposal.fact.fact)
    return next((one for one in reversed(targets) if normal(one.fact.fact) == says), None)


def _new(work: WriteScope, fact: Fact) -> Fact:
    return completed(fact, work.caller, new_fact_id(work.caller.entropy, TakenIds(work.index)))


def _kept(
    work: WriteScope,
    proposal: Proposal,
    fact: Fact,
    targets: Sequence[PlacedFact],
    place: ApprovalPlace,
    reason: str | None,
    beside: bool,
) -> ApprovalPlan:
    at, why = stamp(work.caller.now), reason or proposal.why
    if beside:
        links = tuple(FactLink("contradicts", one.fact.id, why, at) for one in targets)
        done = Succession(fact._replace(links=(*fact.links, *links)), ())
    elif targets and proposal.does == SUPERSEDE and _is_fixed(work.vault.catalog, fact.predicate):
        done = correct(fact, (one.fact for one in targets), why, at)
    elif targets:
        link = "merges" if proposal.does == MERGE else "supersedes"
        done = succeed(fact, (one.fact for one in targets), link, why, at, _said(fact))
    else:
        done = Succession(fact, ())
    homes = {one.fact.id: one.entity for one in targets}
    new = done.new._replace(links=merge_links((), done.new.links, ()))
    facts = [PlacedFact(new, place.entity), *(PlacedFact(one, homes[one.id]) for one in done.closed)]
    return ApprovalPlan(
        tuple(facts),
        _outcomes(proposal, fact, len(done.closed)),
        {**place.writes, **_items(work, facts)},
        place.entity,
        tuple(one.id for one in done.closed if one.superseded_by),
    )


def _refuse_agent(work: WriteScope, fact: Fact) -> None:
    """What comes from outside, or reads as an order, only a person lets in: an agent may have been told to."""
    if work.caller.agent and (is_low_trust(fact.trust) or orders_in(fact)):
        raise Refused(
            f"It comes from outside (trust {fact.trust}), so only a person may approve it, and "
            f"{work.caller.agent} is an agent.",
            "A person runs the same command without --agent and CLAWMEM_AGENT.",
        )


def _promotion(work: WriteScope, proposal: Proposal, worth: PromotionWorth, target: PlacedFact) -> ApprovalPlan:
    """The fact promoted as it would have been without a person, but for the mark of the proposal."""
    hint = f"`clawmem review reject {proposal.id}` closes it."
    mark = promotion_of(target.fact)
    if mark is not None:
        raise Refused(f"{target.fact.id} was promoted already, for {mark['on']}.", hint)
    against = promotion_refusal(target.fact, target.entity, day_of(stamp(work.caller.now)))
    if against:
        raise Refused(f"{target.fact.id} cannot be promoted any more: {against}.", hint)
    lifted = PlacedFact(mark_promoted(target.fact, worth.on, _judgement(worth), proposal.id), target.entity)
    return ApprovalPlan((lifted,), ("updated",), _items(work, [lifted]), target.entity)


def _judgement(worth: PromotionWorth) -> PromotionScore:
    return PromotionScore(worth.score, worth.reasons)


def _said(fact: Fact) -> str:
    """The day a fact was said, else that on which it was recorded."""
    said = (fact.metadata or {}).get("said_at")
    return day_of(said if isinstance(said, str) else fact.timestamp)


def _is_fixed(catalog: Catalog, predicate: str | None) -> bool:
    """Whether the predicate has one value that never changes, so that another one was never true."""
    return is_single(catalog, predicate) and not is_replaced(catalog, predicate)


def _outcomes(proposal: Proposal, fact: Fact, closed: int) -> tuple[str, ...]:
    if not closed:
        return ("updated" if fact.id in (one.id for one in proposal.targets) else "added",)
    first = {MERGE: "merged", END: "added"}.get(proposal.does, "updated")
    return (first, *(["merged" if proposal.does == MERGE else "updated"] * closed))


def _items(work: WriteScope, changed: Sequence[PlacedFact]) -> dict[str, bytes | None]:
    shelves: dict[str, dict[str, Fact]] = {}
    for one in changed:
        if one.entity not in shelves:
            shelves[one.entity] = {fact.id: fact for fact in work.facts(one.entity)}
        shelves[one.entity][one.fact.id] = one.fact
    return {items_path(entity): render_items(facts.values()) for entity, facts in shelves.items()}


def _target(work: WriteScope, target: ProposalTarget, proposal: Proposal) -> PlacedFact:
    """The fact as it stands now; Refused where it is not what the proposal was made about."""
    hint = f"`clawmem review reject {proposal.id}` closes it; `clawmem why {target.id}` tells what happened."
    found = by_ids(work.index, [target.id]).get(target.id)
    fact = next((one for one in work.facts(found.entity) if one.id == target.id), None) if found else None
    if found is None or fact is None:
        raise Refused(f"{target.id}, which it would change, is gone.", hint)
    if fact.superseded_by:
        raise Refused(f"{target.id}, which it would change, was superseded by {fact.superseded_by} meanwhile.", hint)
    if not fact.stands:
        raise Refused(f"{target.id}, which it would change, was {fact.status} meanwhile.", hint)
    if normal(fact.fact) != normal(target.fact):
        raise Refused(f"{target.id}, which it would change, says something else now: {fact.fact}", hint)
    return PlacedFact(fact, found.entity)


def _check_evidence(work: WriteScope, fact: Fact) -> None:
    if fact.source_event is None:
        return
    event = find_event(work.vault, work.index, fact.source_event)
    if event is None:
        raise Refused(f"The event it was read in, {fact.source_event}, is not in the ledger any more.", _REJECT)
    if fact.source_span and event.text[slice(*fact.source_span)] != fact.source_text:
        raise Refused(f"Its evidence is not in the event {fact.source_event} any more.", _REJECT)


_REJECT = "Reject it, or tell the fact anew with `clawmem remember`."


def _refuse_known(work: WriteScope, fact: Fact, proposal: Proposal, beside: bool) -> None:
    """Nothing that stands may say the same, or hold the one value, but the facts that the proposal names."""
    named = {one.id for one in proposal.targets}
    for one in about(work.index, fact.subject) if fact.subject else ():
        if not one.fact.stands or one.fact.id in named:
            continue
        if normal(one.fact.fact) == normal(fact.fact):
            raise Refused(
                f"It is known already, as {one.fact.id}.", f"`clawmem review reject {proposal.id}` closes it."
            )
        if one.fact.predicate == fact.predicate and is_single(work.vault.catalog, fact.predicate) and not beside:
            raise Refused(
                f"{one.fact.id} stands against it, which came since: {one.fact.fact}",
                f"Reject it, or replace that fact: `clawmem supersede {one.fact.id} ...`.",
            )


def _place(work: WriteScope, fact: Fact, proposal: Proposal) -> ApprovalPlace:
    default = work.vault.settings.words("defaults.entity")
    entity = place_of(work.index, Draft(fact, proposal.entity), work.caller, default)
    if entity_exists(work.index, entity):
        return ApprovalPlace(entity, {})
    return ApprovalPlace(entity, new_entity_files(entity, work.caller, proposal.title))


def _retraction(
    work: WriteScope, proposal: Proposal, targets: Sequence[PlacedFact], reason: str | None
) -> ApprovalPlan:
    remark: dict[str, Any] = {"at": stamp(work.caller.now), "reason": reason or proposal.why}
    gone = [
        PlacedFact(
            one.fact._replace(status=RETRACTED, metadata={**(one.fact.metadata or {}), "retracted": remark}), one.entity
        )
        for one in targets
    ]
    return ApprovalPlan(tuple(gone), ("retracted",) * len(gone), _items(work, gone), gone[0].entity)


def _predicate(work: WriteScope, entry: CatalogEntry) -> ApprovalPlan:
    text = with_entry((work.read(CATALOG) or b"").decode("utf-8-sig"), entry)
    return ApprovalPlan((), (), {CATALOG: text.encode()}, CATALOG)


def _line(work: WriteScope, line: PageLine) -> ApprovalPlan:
    page = work.text(line.page)
    if line.text in page.split("\n"):
        raise Refused(f"{line.page} has that line already.", "Reject the proposal.")
    gap = "" if not page or page.endswith("\n") else "\n"
    return ApprovalPlan((), (), {line.page: f"{page}{gap}{line.text}\n".encode()}, line.page)
