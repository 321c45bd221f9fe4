"""What approving a proposal does, in words; the terminal and the dashboard say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import ADD, END, MERGE, PROMOTE, RETRACT, SUPERSEDE, Proposal
from clawmem.model.wiki.curation import ARCHIVE, CONFIRM, JOIN_ENTITIES, JOIN_PAGES, SET_LINK, SPLIT

_DOES = {
    ADD: "adds:",
    SUPERSEDE: "replaces what is there now by:",
    MERGE: "merges what is there now into:",
    END: "says when it ended:",
    PROMOTE: "promotes:",
    RETRACT: "withdraws what is there now",
}
_Details = Mapping[str, Any]


def action_words(one: Proposal) -> str:
    """Return what approving a proposal about a fact, a wiki page or a task does, as a clause."""
    if one.fact:
        return f"{_DOES[one.does]} {one.fact.fact}" + (f" (in {one.entity})" if one.entity else "")
    if one.kind == "escalation":
        return "closes the task as done; rejecting closes it as rejected"
    details = one.details or {}
    effect = _OF_WIKI.get(str(details.get("action"))) if one.kind == "wiki" else None
    if effect:
        return effect(details)
    if one.kind == "wiki":
        return "records the decision; no page changes"
    return _DOES.get(one.does, one.does)


def _set_link(details: _Details) -> str:
    link = f"the link '{details.get('target')}' in {details.get('page')}"
    to = details.get("to")
    return f"lets {link} lead to {to}" if to is not None else f"removes {link}; its words stay"


def _archive(details: _Details) -> str:
    ids = details.get("facts")
    return f"archives {counted(len(ids) if isinstance(ids, list) else 0, 'fact')} of {details.get('entity')}"


_OF_WIKI: Mapping[str, Callable[[_Details], str]] = {
    CONFIRM: lambda _: "confirms the fact: it counts as used today",
    JOIN_ENTITIES: lambda held: f"merges the entity {held.get('from')} into {held.get('into')}",
    JOIN_PAGES: lambda held: f"moves the text of {held.get('from')} to {held.get('into')}, and the links with it",
    SET_LINK: _set_link,
    ARCHIVE: _archive,
    SPLIT: lambda held: f"moves the section '{held.get('heading')}' of {held.get('page')} to a page of its own",
}
