"""Questions about conflicts that are answered without the queue: one side of the conflict is gone."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.index.tables.fact_marks import disputing
from clawmem.memory.proposals import proposal_trailers, proposal_writes
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import OPEN, REJECTED, Proposal, ProposalTarget, ReviewDecision, parse_proposal
from clawmem.model.proposals.routes import RoutedItem, is_named, last_match, read_routes
from clawmem.model.records.change import Author, Change
from clawmem.vault.edits.adoption import UNNAMED, user_identity


def with_answered_questions(work: WriteScope, change: Change, gone: Collection[str], decided: ReviewDecision) -> Change:
    """Return the change that ends the facts `gone`, with the open conflicts closed of which less than two sides are
    left."""
    return _with(change, [proposal._replace(status=REJECTED, decided=decided) for proposal in _answered(work, gone)])


def with_questions_of_person(
    work: WriteScope, change: Change, gone: Collection[str], new: Fact | None = None, rivals: Collection[str] = ()
) -> Change:
    """Return the change by which a person ended facts, with the open conflicts that this answers closed in their name.

    `new` is the fact that replaces the others, and `rivals` are the facts that it contradicts itself: a conflict with
    one of these stays open, and is about the new fact from now on. A conflict stays as it is if one of its sides is no
    stored fact, for an agent, and for a person who may not decide it (`review.routes`)."""
    if work.caller.agent is not None:
        return change
    found = [proposal for proposal in _answered(work, gone) if len(proposal.targets) > 1]
    if not found:
        return change
    who = user_identity(work.vault)
    by = "a person" if who == UNNAMED else f"{who.name} <{who.email}>"
    reason = f"decided by {change.subject.partition('(')[0]}"
    changed = []
    for other_proposal in (proposal for proposal in found if _may_decide(work, who, proposal)):
        stays = next((target.id for target in other_proposal.targets if target.id not in gone), None)
        if new is not None and stays in rivals:
            changed.append(_about(other_proposal, gone, new))
            continue
        winner = stays if new is None else new.id
        decided = ReviewDecision(by, stamp(work.caller.now), reason, winner=winner)
        changed.append(other_proposal._replace(status=REJECTED, decided=decided))
    return _with(change, changed)


def _about(proposal: Proposal, gone: Collection[str], new: Fact) -> Proposal:
    """Return the question about a new fact in the place of those that are gone."""
    targets = tuple(ProposalTarget(new.id, new.fact) if each.id in gone else each for each in proposal.targets)
    says = f"{targets[-1].fact} (instead of: {'; '.join(each.fact for each in targets[:-1])})"
    fact = proposal.fact
    if fact is not None and proposal.targets[-1].id in gone:
        fact = new._replace(id=fact.id, links=fact.links, valid_from=fact.valid_from)
    return proposal._replace(targets=targets, says=says, fact=fact)


def _answered(work: WriteScope, gone: Collection[str]) -> list[Proposal]:
    found = [(path, work.read(path)) for path in disputing(work.index, gone)]
    waiting = [parse_proposal(data, path) for path, data in found if data is not None]
    return [
        proposal
        for proposal in waiting
        if proposal.status == OPEN and sum(target.id not in gone for target in proposal.targets) < 2
    ]


def _may_decide(work: WriteScope, who: Author, proposal: Proposal) -> bool:
    routes = read_routes(work.vault.settings.words("review.routes"))
    workflow = proposal.fact.workflow if proposal.fact else None
    place = last_match(routes, RoutedItem(proposal.kind, proposal.entity, workflow))
    return place is None or not routes[place].reviewers or is_named(routes[place].reviewers, who.name, who.email)


def _with(change: Change, closed: list[Proposal]) -> Change:
    rows = proposal_trailers(closed)
    return change._replace(writes={**change.writes, **proposal_writes(closed)}, trailers=(*change.trailers, *rows))
