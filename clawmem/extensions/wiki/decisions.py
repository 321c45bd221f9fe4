"""What the approval of a finding about the wiki does. `clawmem.extensions.wiki.values.curation` makes the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clawmem.errors import NotPermitted, Refused
from clawmem.index.search.lookup import PlacedFact, by_ids, entity_exists
from clawmem.memory.entities.entities import merge_writes
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import ACTIVE, ARCHIVED
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.premises import confirmed
from clawmem.model.proposals.proposal import (
    APPROVED,
    ARCHIVE,
    CONFIRM,
    JOIN_ENTITIES,
    Proposal,
)
from clawmem.model.proposals.quarantine import is_approved, orders_in, with_approval

Writes = dict[str, bytes | None]


def on_wiki_decision(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Writes:
    """Return the writes of an approved finding. Raise Refused if what it is about has changed, NotPermitted if an agent
    is to confirm a fact."""
    details = proposal.details or {}
    action = details.get("action")
    if proposal.status != APPROVED or action is None:
        return {}
    act = _ACTIONS.get(str(action))
    if act is None:
        raise Refused(f"This clawmem has no action '{action}'.", "Edit the page by hand, and reject the proposal.")
    return act(work, proposal, details)


def _gone(what: str, proposal: Proposal) -> Refused:
    return Refused(f"{what} any more.", f"`clawmem review reject {proposal.id}` closes the proposal.")


def _confirm(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    """A fact that is confirmed counts as used today, so that it is not stale for want of use."""
    if work.caller.agent is not None:
        raise NotPermitted(
            f"Only a person may confirm a claim, and {work.caller.agent} is an agent.",
            "Leave the proposal to a person.",
        )
    placed = _placed(work, proposal)
    now = stamp(work.caller.now)
    new = confirmed(placed.fact, now[:10])._replace(access_count=placed.fact.access_count + 1, last_accessed=now)
    if new.trust == "agent" and not is_approved(new) and orders_in(new) is None:
        new = with_approval(new, proposal.decided.by if proposal.decided else "a person", now)
    return work.items_with([PlacedFact(new, placed.entity)])


def _placed(work: WriteScope, proposal: Proposal) -> PlacedFact:
    target = proposal.targets[0]
    found = by_ids(work.index, [target.id]).get(target.id)
    if found is None or found.fact.status != ACTIVE or found.fact.fact != target.fact:
        raise _gone(f"{target.id} does not say '{target.fact}'", proposal)
    return found


def _join_entities(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    old, new = str(details.get("from")), str(details.get("into"))
    for name in (old, new):
        if not entity_exists(work.index, name):
            raise _gone(f"There is no entity {name}", proposal)
    return merge_writes(work, old, new)


def _archive(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    entity, ids = str(details.get("entity")), details.get("facts")
    named = set(ids) if isinstance(ids, list) else set()
    chosen = [fact for fact in work.facts(entity) if fact.id in named and fact.status == ACTIVE]
    if not chosen:
        raise _gone(f"None of these claims of {entity} is active", proposal)
    return work.items_with(PlacedFact(fact._replace(status=ARCHIVED), entity) for fact in chosen)


_ACTIONS: Mapping[str, Callable[[WriteScope, Proposal, Mapping[str, Any]], Writes]] = {
    CONFIRM: _confirm,
    JOIN_ENTITIES: _join_entities,
    ARCHIVE: _archive,
}
