"""What approving a proposal does, in words; the terminal and the dashboard say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import ADD, END, MERGE, PROMOTE, RETRACT, SUPERSEDE, Proposal

# What an approval of a finding about the wiki does, in its details under `action`.
CONFIRM, JOIN_ENTITIES, JOIN_PAGES = "confirm", "join-entities", "join-pages"
SET_LINK, ARCHIVE, SPLIT = "set-link", "archive", "split"

_DOES = {
    ADD: "adds:",
    SUPERSEDE: "replaces what is there now by:",
    MERGE: "merges what is there now into:",
    END: "says when it ended:",
    PROMOTE: "promotes:",
    RETRACT: "withdraws what is there now",
}
_Details = Mapping[str, Any]


def action_words(proposal: Proposal) -> str:
    """Return what approving a proposal about a fact, a wiki page or a task does, as a clause."""
    if proposal.fact:
        return f"{_DOES[proposal.does]} {proposal.fact.fact}" + (f" (in {proposal.entity})" if proposal.entity else "")
    if proposal.kind == "escalation":
        return "closes the task as done; rejecting closes it as rejected"
    details = proposal.details or {}
    effect = _OF_WIKI.get(str(details.get("action"))) if proposal.kind == "wiki" else None
    if effect:
        return effect(details)
    if proposal.kind == "wiki":
        return "records the decision; no page changes"
    return _DOES.get(proposal.does, proposal.does)


def _set_link(details: _Details) -> str:
    link = f"the link '{details.get('target')}' in {details.get('page')}"
    to = details.get("to")
    return f"lets {link} lead to {to}" if to is not None else f"removes {link}; its words stay"


def _archive(details: _Details) -> str:
    ids = details.get("facts")
    return f"archives {counted(len(ids) if isinstance(ids, list) else 0, 'fact')} of {details.get('entity')}"


_OF_WIKI: Mapping[str, Callable[[_Details], str]] = {
    CONFIRM: lambda _: "confirms the fact: it counts as used today",
    JOIN_ENTITIES: lambda record: f"merges the entity {record.get('from')} into {record.get('into')}",
    JOIN_PAGES: lambda record: f"moves the text of {record.get('from')} to {record.get('into')}, and the links with it",
    SET_LINK: _set_link,
    ARCHIVE: _archive,
    SPLIT: lambda record: f"moves the section '{record.get('heading')}' of {record.get('page')} to a page of its own",
}
