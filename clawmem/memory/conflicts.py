"""Questions that are answered without the queue: a fact that they are about is gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from clawmem.index.search.lookup import by_ids
from clawmem.memory.proposals import read_proposals, with_proposals
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposal import (
    BY_STRATEGY,
    DECIDE,
    OPEN,
    REJECTED,
    Proposal,
    ProposalTarget,
    ReviewDecision,
    proposal_path,
)
from clawmem.model.proposals.routes import RoutedItem, is_named, last_match, read_routes
from clawmem.model.records.change import Author, Change
from clawmem.vault.edits.adoption import UNNAMED, user_identity

_CONFLICT = "conflict"


def with_answered_questions(work: WriteScope, change: Change, gone: Collection[str], decided: ReviewDecision) -> Change:
    """Return the change that ends the facts `gone`, with the open conflicts closed of which less than two sides are
    left."""
    return with_proposals(
        change,
        [
            proposal._replace(status=REJECTED, decided=decided)
            for proposal in _answered(work, change, gone)
            if proposal.kind == _CONFLICT and sum(target.id not in gone for target in proposal.targets) < 2
        ],
    )


def without_questions(
    work: WriteScope, change: Change, gone: Collection[str], others: Sequence[Proposal] = ()
) -> Change:
    """Return the change that ends facts, with the open proposals closed that it leaves without effect, and `others`."""
    by = f"{BY_STRATEGY}ended"
    decided = ReviewDecision(by, stamp(work.caller.now), f"ended by {change.subject.partition('(')[0]}")
    answered = [proposal for proposal in _answered(work, change, gone) if proposal.kind != _CONFLICT]
    every = {proposal.id: proposal for proposal in (*answered, *others) if proposal.status == OPEN}
    return with_proposals(change, [proposal._replace(status=REJECTED, decided=decided) for proposal in every.values()])


def with_followed_questions(
    work: WriteScope, change: Change, gone: Collection[str], instead: Mapping[str, Fact]
) -> Change:
    """Return the change that ends facts, with the open conflicts about them, each about what took a fact's place from
    now on; one of which less than two sides are left is closed."""
    by = ReviewDecision(f"{BY_STRATEGY}ended", stamp(work.caller.now), f"ended by {change.subject.partition('(')[0]}")
    changed = []
    for each in (proposal for proposal in _answered(work, change, gone) if proposal.kind == _CONFLICT):
        stands = {target.id: instead.get(target.id) for target in each.targets if target.id in gone}
        new = [ProposalTarget(fact.id, fact.fact) for fact in stands.values() if fact]
        # What took a fact's place is said last: it is the latest.
        sides = list(dict.fromkeys([*(target for target in each.targets if target.id not in stands), *new]))
        own = each.fact if len(each.targets) == 1 else None
        if len(sides) > 1 or (own and sides and normal(own.fact) != normal(sides[0].fact or "")):
            latest = next(filter(None, stands.values()), None)
            about = _about(work, each, sides, latest)
            changed.append(about._replace(source_event=latest.source_event) if latest and not own else about)
        elif sides or not own:
            changed.append(each._replace(status=REJECTED, decided=by._replace(winner=sides[0].id if sides else None)))
    return with_proposals(change, changed)


def with_questions_of_person(
    work: WriteScope, change: Change, gone: Collection[str], new: Fact | None = None,
    rivals: Collection[str] | None = (),
) -> Change:  # fmt: skip
    """Return the change by which a person ended facts, with the open conflicts that this answers closed in their name,
    and the other proposals about them closed.

    `new` is the fact that replaces the others, and `rivals` are the facts that it contradicts itself (None: all that
    are left): a conflict with one of these stays open, and is about the new fact from now on. A conflict stays as it is
    if one of its sides is no stored fact, but where `rivals` are all, and for a person who may not decide it
    (`review.routes`). For an agent all stay as they are."""
    if work.caller.agent is not None:
        return change
    change = without_questions(work, change, gone)
    found = [proposal for proposal in _answered(work, change, gone) if proposal.kind == _CONFLICT]
    if not found:
        return change
    who = user_identity(work.vault)
    by = "a person" if who == UNNAMED else f"{who.name} <{who.email}>"
    reason = f"decided by {change.subject.partition('(')[0]}"
    changed = []
    for other_proposal in (proposal for proposal in found if _may_decide(work, who, proposal)):
        left = [target for target in other_proposal.targets if target.id not in gone]
        own = other_proposal.fact if len(other_proposal.targets) == 1 else None
        if own is not None and (new is None or rivals is not None):
            continue
        against = new is not None and (own or rivals is None or any(target.id in rivals for target in left))
        beside = [ProposalTarget(new.id, new.fact)] if new is not None and against else []
        sides = list(
            dict.fromkeys(side for each in other_proposal.targets for side in (beside if each.id in gone else [each]))
        )
        if len(sides) > 1 or (own and new and normal(own.fact) != normal(new.fact)):
            changed.append(_about(work, other_proposal, sides, new))
            continue
        winner = new.id if new is not None else left[0].id if left else None
        decided = ReviewDecision(by, stamp(work.caller.now), reason, winner=winner)
        changed.append(other_proposal._replace(status=REJECTED, decided=decided))
    return with_proposals(change, changed)


def _about(work: WriteScope, proposal: Proposal, sides: Sequence[ProposalTarget], new: Fact | None) -> Proposal:
    """Return the question about these sides; the last of several is what it says."""
    fact = proposal.fact
    texts = [each.fact for each in sides] + ([fact.fact] if fact and len(sides) == 1 else [])
    says = f"{texts[-1]} (instead of: {'; '.join(texts[:-1])})"
    last = sides[-1].id
    if fact is not None and len(sides) > 1 and last != proposal.targets[-1].id:
        stands = new if new is not None and new.id == last else by_ids(work.index, [last])[last].fact
        fact = stands._replace(id=fact.id, links=fact.links, valid_from=fact.valid_from)
    return proposal._replace(targets=tuple(sides), says=says, fact=fact)


def _answered(work: WriteScope, change: Change, gone: Collection[str]) -> list[Proposal]:
    """Return the open proposals about a fact that a change ends, but those that it writes itself."""

    def is_answered(proposal: Proposal) -> bool:
        ends = any(target.id in gone for target in proposal.targets) and proposal.does != DECIDE
        return ends and proposal_path(proposal.id) not in change.writes

    return list(filter(is_answered, read_proposals(work.vault, work.read).open)) if gone else []


def _may_decide(work: WriteScope, who: Author, proposal: Proposal) -> bool:
    routes = read_routes(work.vault.settings.words("review.routes"))
    workflow = proposal.fact.workflow if proposal.fact else None
    place = last_match(routes, RoutedItem(proposal.kind, proposal.entity, workflow))
    return place is None or not routes[place].reviewers or is_named(routes[place].reviewers, who.name, who.email)
