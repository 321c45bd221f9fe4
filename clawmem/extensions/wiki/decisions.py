"""What the approval of a finding about the wiki does. `clawmem.extensions.wiki.values.curation` makes the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clawmem.errors import NotPermitted, Refused
from clawmem.extensions.wiki.values.links import links_in, page_names, resolved, target_on, with_targets
from clawmem.extensions.wiki.values.page import FOLDER
from clawmem.index.search.lookup import PlacedFact, by_ids, entity_exists
from clawmem.memory.entities.entities import merge_writes
from clawmem.memory.scope import WriteScope, items_write, with_fact
from clawmem.model.facts.fact import ACTIVE, ARCHIVED
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.premises import confirmed
from clawmem.model.pages.summary import own_text, with_own_text
from clawmem.model.proposals.proposal import (
    APPROVED,
    ARCHIVE,
    CONFIRM,
    JOIN_ENTITIES,
    JOIN_PAGES,
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
    return items_write(placed.entity, with_fact(work.facts(placed.entity), new))


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


def _join_pages(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    """The text moves, and links to the page lead to the other one."""
    old, new = str(details.get("from")), str(details.get("into"))
    if work.read(old) is None or work.read(new) is None:
        raise _gone(f"{old if work.read(old) is None else new} does not exist", proposal)
    moved, there = own_text(work.text(old)), work.text(new)
    moved = _relocated(work, moved, old, new)
    joined = there if moved in there else with_own_text(there, moved)
    pages = {path: work.text(path) for path in _pages(work)}
    writes: Writes = {path: text.encode() for path, text in _relinked({**pages, new: joined}, old, new).items()}
    return {**writes, old: None} if new in writes else {**writes, new: joined.encode(), old: None}


def _pages(work: WriteScope) -> list[str]:
    head = work.vault.head().commit
    paths = work.vault.files_at(head, FOLDER) if head is not None else []
    return [path for path in paths if path.endswith(".md")]


def _relinked(pages: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """Return the pages whose links to one page now lead to another."""
    names = page_names(pages)
    rest = page_names(path for path in pages if path != old)
    found = {}
    for path, text in pages.items():
        targets = {
            link: target_on(path, new, link.wiki, rest) for link in links_in(text) if resolved(path, link, names) == old
        }
        if targets and path != old:
            found[path] = with_targets(text, targets)
    return found


def _relocated(work: WriteScope, text: str, old: str, new: str) -> str:
    """Return a text with its relative links as they must be on another page."""
    names = page_names(_pages(work))
    places = {link: resolved(old, link, names) for link in links_in(text) if not link.wiki}
    return with_targets(text, {link: target_on(new, to, False, names) for link, to in places.items() if to is not None})


def _archive(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    entity, ids = str(details.get("entity")), details.get("facts")
    named = set(ids) if isinstance(ids, list) else set()
    facts = work.facts(entity)
    chosen = {fact.id for fact in facts if fact.id in named and fact.status == ACTIVE}
    if not chosen:
        raise _gone(f"None of these claims of {entity} is active", proposal)
    return items_write(entity, [fact._replace(status=ARCHIVED) if fact.id in chosen else fact for fact in facts])


_ACTIONS: Mapping[str, Callable[[WriteScope, Proposal, Mapping[str, Any]], Writes]] = {
    CONFIRM: _confirm,
    JOIN_ENTITIES: _join_entities,
    JOIN_PAGES: _join_pages,
    ARCHIVE: _archive,
}
