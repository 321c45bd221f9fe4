"""The proposal: a change that waits for a person's decision."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping
from datetime import date
from typing import Annotated, Any

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.codec import fact_from_record, fact_to_record, refuse_conflict_markers
from clawmem.model.facts.fact import PROPOSAL_PREFIX, UNSET_ID, Entropy, Fact, new_id
from clawmem.model.forms import WrongValue, read_record, shown
from clawmem.model.language.text import counted, normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.layout import is_owned
from clawmem.model.records.strict_json import read_json

OPEN, APPROVED, REJECTED = "open", "approved", "rejected"
STATES = (OPEN, APPROVED, REJECTED)

ADD, SUPERSEDE, MERGE, END = "add", "supersede", "merge", "end"
RETRACT, PREDICATE, LINE, PROMOTE, DECIDE = "retract", "predicate", "line", "promote", "decide"
ACTIONS = (ADD, SUPERSEDE, MERGE, END, RETRACT, PREDICATE, LINE, PROMOTE, DECIDE)

PREFIX = PROPOSAL_PREFIX
FOLDER = "review"
# The workflow of facts that a person made of what no reader had read.
CANDIDATES = "heartbeat/candidates"
# The detail of a candidate that a person approved in words of their own.
REWORDED = "reworded"
# The reason of a candidate that a person drops with one key.
NOT_KEPT = "It is not worth keeping."
_AGAINST_CONTENT = re.compile(
    r"\b(?:not|never|isn't|wasn't|don't|doesn't) (?:\w+ ){0,2}(?:true|wanted|want|worth|need|needed)\b"
    r"|\b(?:untrue|false|joke|joking|unwanted|private|secret)\b|^\W*(?:no|nope|never|wrong)\W*$",
    re.IGNORECASE,
)
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

    `does` is the action: add, supersede, merge or end (a fact, with `targets`), retract (the targets), predicate (only
    rejected now), line (`line`), promote (with `worth`; one target, or a fact that is not stored yet), or decide
    (nothing but the decision). If `entity` is None, it is chosen on approval. `details` is what only the kind knows.
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


def is_reworded(proposal: Proposal) -> bool:
    """Return whether a person approved a candidate in words of their own."""
    return bool((proposal.details or {}).get(REWORDED))


def is_against_content(reason: str) -> bool:
    """Return whether a reason for rejecting says that something is not true or not wanted."""
    return _AGAINST_CONTENT.search(reason) is not None


def stated_by(proposal: Proposal) -> tuple[str, ...]:
    """Return what a proposal would store: the words of its fact, what that quotes, and its line; of a request to forget
    the words that name it, but no single word, which names other things, too."""
    fact, line = proposal.fact, proposal.line
    texts = (fact.fact if fact else "", (fact.source_text if fact else "") or "", line.text if line else "")
    named = (proposal.details or {}).get("words", ()) if proposal.kind == "forget" else ()
    return (*(text for text in texts if text), *(words for words in named if " " in words))


def as_recorded(proposal: Proposal) -> Proposal:
    """Return a decided proposal as it is kept: of what was approved to be forgotten, without its words."""
    if proposal.kind != "forget" or proposal.status != APPROVED:
        return proposal
    events = (proposal.details or {}).get("events", ())
    targets = tuple(target._replace(fact="") for target in proposal.targets)
    what = f"{counted(len(targets), 'fact')} and {counted(len(events), 'message')}"
    says = f"Forget what {proposal.source_event} asks for: {what}"
    return proposal._replace(says=says, why="It was asked for.", targets=targets, details={"events": events})


def about_winner(proposal: Proposal, winner: Fact, entity: str) -> Proposal:
    """Return the proposal of a conflict as one that says that this fact holds, instead of its other targets."""
    others = "; ".join(target.fact for target in proposal.targets if target.id != winner.id)
    fact = winner._replace(id=UNSET_ID, links=())
    return proposal._replace(says=f"{winner.fact} (instead of: {others})", fact=fact, entity=entity)


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
CONFIRM, JOIN_ENTITIES = "confirm", "join-entities"

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
    if proposal.kind == "wiki":
        details = proposal.details or {}
        action = details.get("action")
        if action is None:
            return "records the decision; no page changes"
        effect = _OF_WIKI.get(str(action))
        return effect(details) if effect else f"is refused: this clawmem has no action '{action}'"
    return _DOES.get(proposal.does, proposal.does)


_OF_WIKI: Mapping[str, Callable[[_Details], str]] = {
    CONFIRM: lambda _: "confirms the fact: it counts as used today",
    JOIN_ENTITIES: lambda record: f"merges the entity {record.get('from')} into {record.get('into')}",
}


_WITH_FACT = frozenset((ADD, SUPERSEDE, MERGE, END))
_WITH_TARGETS = frozenset((SUPERSEDE, MERGE, END, RETRACT))
# A waiting fact lacks these keys; it gets them on approval.
_GIVEN = ("id", "timestamp", "status", "access_count", "last_accessed", "superseded_by")


def proposal_to_record(proposal: Proposal) -> dict[str, Any]:
    """Return the proposal as a JSON object, without keys that have no value."""
    record: dict[str, Any] = {key: getattr(proposal, key) for key in ("id", "kind", "status", "says", "why", "created")}
    record["does"] = proposal.does
    record["targets"] = [target._asdict() for target in proposal.targets] or None
    record["fact"] = fact_data(proposal.fact) if proposal.fact else None
    record.update(entity=proposal.entity, title=proposal.title)
    record["line"] = proposal.line._asdict() if proposal.line else None
    record["worth"] = proposal.worth._asdict() if proposal.worth else None
    record.update(source_event=proposal.source_event, agent=proposal.agent)
    record["details"] = dict(proposal.details) if proposal.details else None
    record["decided"] = _decision_data(proposal.decided) if proposal.decided else None
    return {**{key: value for key, value in record.items() if value is not None}, **proposal.extra}


def fact_data(fact: Fact) -> dict[str, Any]:
    """Return the record of a waiting fact, without the keys that only a stored fact has."""
    return {key: value for key, value in fact_to_record(fact).items() if key not in _GIVEN}


def _decision_data(decided: ReviewDecision) -> dict[str, Any]:
    record: dict[str, Any] = {"by": decided.by, "at": decided.at, "reason": decided.reason}
    more = {"delegated_by": decided.delegated_by, "winner": decided.winner}
    record |= {key: value for key, value in more.items() if value}
    return record | ({"signed": True} if decided.signed else {})


def render_proposal(proposal: Proposal) -> bytes:
    """Return the proposal's file: a JSON object with one key per line, so that a diff shows the decision."""
    rows = (
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in proposal_to_record(proposal).items()
    )
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def parse_proposal(data: bytes, path: str) -> Proposal:
    """Read a proposal's file. Raise Unreadable if it is invalid, and ConflictMarkers if git left a conflict in it."""
    text = data.decode("utf-8-sig", errors="replace")
    refuse_conflict_markers(text, path)
    try:
        record = read_json(text)
        if not isinstance(record, dict):
            raise InvalidInput("it is not a JSON object")
        proposal = proposal_from_record(record)
    except InvalidInput as problem:
        raise Unreadable(path, None, problem.message.rstrip(".")) from None
    except ValueError as problem:
        raise Unreadable(path, getattr(problem, "lineno", None), f"it is not JSON ({problem})") from None
    if proposal_path(proposal.id) != path:
        raise Unreadable(path, None, f"it contains {proposal.id}, which does not match the file name")
    return proposal


def proposal_from_record(record: Mapping[str, Any]) -> Proposal:
    """Read a proposal from a JSON object. Raise InvalidInput, naming the key, if a value is wrong."""
    proposal = read_record(Proposal, record, fact=None)
    if not isinstance(record.get("fact"), Mapping | None):
        raise WrongValue(f"must be an object, but is {shown(record['fact'])}", "fact")
    return _complete(proposal._replace(fact=_fact(record)))


def _complete(proposal: Proposal) -> Proposal:
    """Return the proposal if it has all keys that its action needs, else raise InvalidInput."""
    needs = {
        "fact": proposal.does in _WITH_FACT,
        "targets": proposal.does in _WITH_TARGETS,
        "line": proposal.does == LINE,
        "worth": proposal.does == PROMOTE,
        "decided": proposal.status != OPEN,
    }
    for key, needed in needs.items():
        if needed and not getattr(proposal, key):
            raise InvalidInput(f"the key '{key}' is missing")
    if proposal.does == PROMOTE and len(proposal.targets) + (proposal.fact is not None) != 1:
        raise InvalidInput("the proposal needs exactly one fact to promote, in 'targets' or in 'fact'")
    return proposal


def _fact(record: Mapping[str, Any]) -> Fact | None:
    waiting = record.get("fact")
    return fact_from_record({**waiting, "id": UNSET_ID, "timestamp": record["created"]}) if waiting else None


# The kinds of proposals: one row says everything that differs between one kind and another.
#
# To add a kind, add a row to `PROPOSAL_KINDS`. Nothing else names the kinds: the queue, `review list --kind`, the JSON
# Schema, the check of proposal files and the routes of reviewers read this table. A proposal of the new kind uses an
# existing action (`clawmem.model.proposals.proposal.ACTIONS`), and keeps what only its kind knows in `details`, a JSON
# object that is stored as it is. Its entity and `details.workflow` decide which reviewers it has.
#
# - A proposal that adds or changes facts uses `add`, `supersede`, `merge`, `end` or `retract`; approval does the rest.
# - A proposal that changes no fact uses `decide`. Approval records the decision, and `on_decision` does the work.
# - `on_decision` names a function as `module:function`, in `clawmem.review`, a lower layer or an extension. It is
#   called for each approval and each rejection of the kind, whatever the action, as `function(work, proposal, facts)`:
#   `work` is the `WriteScope` of the decision, which has not been committed yet; `proposal.status` and
#   `proposal.decided` say what was decided; `facts` are the facts as the approval leaves them (`PlacedFact`;
#   empty for a rejection). It returns the further writes of the decision, as `{path: bytes or None}`, which become part
#   of the same commit. To refuse the decision, it raises Refused.


class ProposalKind(NamedTuple):
    """One kind of proposal.

    about: what waits, in a few words.
    delegable: whether a person may delegate its decisions to an agent.
    on_decision: the function that adds to the commit of a decision, as `module:function`, or ''.
    """

    name: str
    about: str
    delegable: bool = True
    on_decision: str = ""


PROPOSAL_KINDS: tuple[ProposalKind, ...] = (
    ProposalKind("fact", "a fact that a person must confirm"),
    ProposalKind("conflict", "facts that contradict each other"),
    ProposalKind("predicate", "a relation for the catalog, from a version that proposed them"),
    ProposalKind("promotion", "a fact to keep, or a fact for a broader scope"),
    ProposalKind("guardrail", "a rule that leads the context of agents", delegable=False),
    ProposalKind("tacit", "a line of an agent's TACIT.md, from a version that looked for patterns", delegable=False),
    ProposalKind(
        "escalation",
        "an evaluation that only a person can decide",
        delegable=False,
        on_decision="clawmem.extensions.governance.alignment:decide_escalation",
    ),
    ProposalKind(
        "wiki",
        "a change of a wiki page, or of what is on it",
        on_decision="clawmem.extensions.wiki.curator:on_wiki_decision",
    ),
    ProposalKind(
        "deprecation", "a claim to replace by another one", on_decision="clawmem.memory.facts.claims:on_deprecation"
    ),
    ProposalKind("check", "a claim whose check fails"),
    ProposalKind("lesson", "a lesson that was reported as harmful"),
    ProposalKind(
        "forget",
        "facts and messages that somebody asked to forget",
        delegable=False,
        on_decision="clawmem.memory.facts.forget:on_decision",
    ),
    ProposalKind(
        "archive",
        "finished work to archive",
        delegable=False,
        on_decision="clawmem.memory.entities.entities:on_archive",
    ),
    ProposalKind("bridge", "a fact for the organisation", delegable=False),
)

KINDS = tuple(proposal_kind.name for proposal_kind in PROPOSAL_KINDS)
BY_KIND: Mapping[str, ProposalKind] = {proposal_kind.name: proposal_kind for proposal_kind in PROPOSAL_KINDS}
