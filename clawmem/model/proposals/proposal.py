"""The proposal: a change that waits for a person's decision."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import date
from typing import Annotated, Any

from clawmem.model.facts.catalog import Predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import PROPOSAL_PREFIX, Entropy, new_id
from clawmem.model.language.text import counted, normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.kinds import KINDS as KINDS
from clawmem.model.records.layout import is_owned

OPEN, APPROVED, REJECTED = "open", "approved", "rejected"
STATES = (OPEN, APPROVED, REJECTED)

ADD, SUPERSEDE, MERGE, END = "add", "supersede", "merge", "end"
RETRACT, PREDICATE, LINE, PROMOTE, DECIDE = "retract", "predicate", "line", "promote", "decide"
ACTIONS = (ADD, SUPERSEDE, MERGE, END, RETRACT, PREDICATE, LINE, PROMOTE, DECIDE)

PREFIX = PROPOSAL_PREFIX
FOLDER = "review"
# The workflow of facts that a person made of what no reader had read.
CANDIDATES = "heartbeat/candidates"
# A decision in the name of a conflict strategy, which no person made.
BY_STRATEGY = "strategy "
# The beginning of the id of an evaluation that decided.
BY_EVALUATION = "eval_"


def page_of_vault(page: str) -> str:
    """Return the vault path of a page. Raise ValueError if it is none."""
    if not is_owned(page) or not page.endswith(".md") or ".." in page.split("/"):
        raise ValueError(f"must be a page of the vault, but is '{page}'")
    return page


def day(text: str) -> str:
    """Return a day as `YYYY-MM-DD`. Raise ValueError if it is none."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"must be a day, but is '{text[:40]}'") from None


class ProposalTarget(NamedTuple):
    """A fact that the change affects, with its statement when the proposal was made."""

    id: str
    fact: str


class CatalogEntry(NamedTuple):
    """A predicate to add to the catalog, or more phrases for an existing one, with a description for people."""

    predicate: Predicate
    description: str


class PageLine(NamedTuple):
    """A line to append to a page of the vault."""

    page: Annotated[str, page_of_vault]
    text: str


class PromotionWorth(NamedTuple):
    """The day for which a fact is to be promoted, its score from 0 to 1, and the reasons."""

    on: Annotated[str, day]
    score: Annotated[float, (0, 1)]
    reasons: tuple[str, ...] = ()


class ReviewDecision(NamedTuple):
    """Who decided on a proposal, when, and why.

    `by` is a git identity (`Name <address>`) or an agent. `delegated_by` is the person who delegated the decision to
    that agent. `signed` means that the settings required a signed commit. `winner` is the id of the fact for which a
    conflict was decided.
    """

    by: str
    at: str
    reason: str | None = None
    delegated_by: str | None = None
    signed: bool = False
    winner: str | None = None


class Proposal(NamedTuple):
    """A change that waits. `says` is the change in a sentence, and `why` is the reason for waiting.

    `does` is the action: add, supersede, merge or end (a fact, with `targets`), retract (the targets), predicate
    (`entry`), line (`line`), promote (with `worth`; one target, or a fact that is not stored yet), or decide (nothing
    but the decision). If `entity` is None, it is chosen on approval. `details` is what only the kind knows.
    """

    id: str
    kind: Annotated[str, tuple(KINDS)]
    says: str
    why: str
    created: str
    does: Annotated[str, ACTIONS]
    status: Annotated[str, STATES] = OPEN
    targets: tuple[ProposalTarget, ...] = ()
    fact: Fact | None = None
    entity: str | None = None
    title: str | None = None
    entry: CatalogEntry | None = None
    line: PageLine | None = None
    worth: PromotionWorth | None = None
    source_event: str | None = None
    agent: str | None = None
    details: Mapping[str, Any] | None = None
    decided: ReviewDecision | None = None
    extra: Mapping[str, Any] = {}


def is_candidate(proposal: Proposal) -> bool:
    """Return whether a proposal is a sentence of a message that no reader had read."""
    return proposal.fact is not None and proposal.fact.workflow == CANDIDATES


def new_proposal_id(entropy: Entropy, taken: Container[str]) -> str:
    """Return a new id, `prop_` and 8 hex digits; each collision doubles the digits, up to 64."""
    return new_id(PREFIX, entropy, taken)


def proposal_path(proposal_id: str) -> str:
    """Return the vault path of a proposal."""
    return f"{FOLDER}/{proposal_id}.json"


def topic(does: str, fact: Fact) -> tuple[str, ...]:
    """Return what a change of facts is about; proposals with the same value propose the same."""
    value = fact.object if fact.subject and fact.predicate and fact.object else fact.fact
    return ("end" if does == END else "", normal(fact.subject or ""), fact.predicate or "", normal(value))


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
