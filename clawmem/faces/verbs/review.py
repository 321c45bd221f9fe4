"""`clawmem review list|show|approve|reject|trust`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import REASON, Parameter
from clawmem.faces.parts.words import REVISED, outcome_lines
from clawmem.governance.review import ProposalDetails, ReviewOutcome, list_proposals, show_proposal
from clawmem.governance.review import approve as approve_act
from clawmem.governance.review import reject as reject_act
from clawmem.governance.review import trust as trust_act
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.proposals.proposal import KINDS, Proposal
from clawmem.model.proposals.proposal_file import proposal_to_record


def list_(call: Call, every: bool, kind: str | None) -> Answer:
    """List the open proposals, oldest first."""
    found = list_proposals(call.runtime.vault(), every, kind)
    rows = [(one.id, one.kind, one.status, one.says, one.why) for one in found.proposals]
    data = {"proposals": [proposal_to_record(one) for one in found.proposals]}
    table = Table(("proposal", "kind", "status", "says", "why"), rows)
    return Answer(data, table, found.notices, talk=() if rows else ("There are no open proposals.",))


def show(call: Call, proposal: str) -> Answer:
    """Show all fields of a proposal, its evidence, and the present state of the facts that it changes."""
    shown = show_proposal(call.runtime.vault(), proposal)
    data = {
        "proposal": proposal_to_record(shown.proposal),
        "targets": [fact_data(one.fact, one.entity) for one in shown.targets],
    }
    return Answer(data, _detail_lines(shown), shown.notices)


def approve(call: Call, proposal: str, reason: str | None, beside: bool) -> Answer:
    """Apply a proposal, in one commit. The command is refused if a fact that it changes has changed since, and for an
    agent if the proposal is a guardrail or comes from outside."""
    return _decided(approve_act(call.runtime.vault(), proposal, call.runtime.caller(), reason, beside))


def reject(call: Call, proposal: str, reason: str) -> Answer:
    """Reject a proposal, in one commit. The same event never leads to it again."""
    return _decided(reject_act(call.runtime.vault(), proposal, call.runtime.caller(), reason))


def trust(call: Call, author: Sequence[str] | None, key: Sequence[str] | None, remove: bool) -> Answer:
    """Accept the commits of others on this machine: their approvals are valid, and instructions in their facts are not
    labelled. Without arguments, list the accepted authors and keys."""
    done = trust_act(call.runtime.vault(), call.runtime.caller(), tuple(author or ()), tuple(key or ()), remove)
    lines = [*done.accepted.authors, *(f"key {one}" for one in done.accepted.keys)]
    data = {
        "authors": list(done.accepted.authors),
        "keys": list(done.accepted.keys),
        "outside": [{"fact": fact_id, "stake": stake} for fact_id, stake in done.outside],
    }
    left = len(done.outside)
    talk = [] if lines else ["Only the commits of this clone are accepted."]
    if left:
        talk.append(f"{left} {'fact comes' if left == 1 else 'facts come'} from commits that are not accepted here.")
    return Answer(data, lines, talk=talk)


def _decided(done: ReviewOutcome) -> Answer:
    data: dict[str, Any] = {
        "proposal": proposal_to_record(done.proposal),
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "outcome": list(done.outcome),
        "commit": done.commit,
    }
    rows = [(outcome, one.fact, one.entity) for outcome, one in zip(done.outcome, done.facts, strict=True)]
    lines = [f"{done.proposal.status}: {done.proposal.id}  {done.proposal.says}", *outcome_lines(rows, done.commit)]
    return Answer(data, lines, done.notices)


def _detail_lines(shown: ProposalDetails) -> Iterator[str]:
    one = shown.proposal
    yield f"{one.id}  {one.kind}, {one.status}, made {one.created}" + (f" for {one.agent}" if one.agent else "")
    yield f"says      {one.says}"
    yield f"why       {one.why}"
    yield from _action_lines(one)
    for target in shown.targets:
        yield f"now       {fact_line(target.fact, target.entity)}"
    if one.decided:
        because = f": {one.decided.reason}" if one.decided.reason else ""
        yield f"{one.status:<8}  by {one.decided.by} at {one.decided.at}{because}"


def _action_lines(one: Proposal) -> Iterator[str]:
    if one.worth:
        reasons = "; ".join(one.worth.reasons)
        yield f"does      promote it for {one.worth.on}, with the score {one.worth.score:.2f}: {reasons}"
    elif one.fact:
        where = f" to {one.entity}" if one.entity else ""
        yield f"does      {one.does}{where}: {one.fact.fact}"
    elif one.entry:
        predicate = one.entry.predicate
        phrases = f", phrases: {', '.join(predicate.phrases)}" if predicate.phrases else ""
        yield f"does      put '{predicate.name}' in predicates.yaml{phrases}"
        yield f"meaning   {one.entry.description}"
    elif one.line:
        yield f"does      write in {one.line.page}: {one.line.text}"
    else:
        yield f"does      {one.does}"
    if one.fact and one.fact.source_text:
        yield f'evidence  "{one.fact.source_text}" in {one.source_event}, trust {one.fact.trust or "user"}'


_ID = Parameter("proposal", "The id of the proposal, or a unique prefix.", required=True, completes="proposal")
_DECIDED = {"proposal": "proposal", **REVISED}

VERB = {
    "list": Command(
        list_,
        (
            Parameter("every", "Also list decided proposals.", ("--all",), bool, False),
            Parameter("kind", "{choices}.", ("--kind",), choices=KINDS),
        ),
        {"proposals": ["proposal"]},
        ("clawmem review list",),
        ("proposals",),
    ),
    "show": Command(
        show, (_ID,), {"proposal": "proposal", "targets": ["fact"]}, ("clawmem review show prop_1a2b",), ("proposal",)
    ),
    "approve": Command(
        approve,
        (
            _ID,
            REASON,
            Parameter(
                "beside", "Keep the facts that it contradicts as well, and link them.", ("--beside",), bool, False
            ),
        ),
        _DECIDED,
        ("clawmem review approve prop_1a2b --reason 'her passport says so'",),
    ),
    "reject": Command(
        reject,
        (_ID, REASON._replace(help="The reason; it is stored with the proposal.", required=True)),
        _DECIDED,
        ("clawmem review reject prop_1a2b --reason 'it was a joke'",),
    ),
    "trust": Command(
        trust,
        (
            Parameter("author", "An author as shown by `git log`; * matches any text.", repeated=True),
            Parameter("key", "The fingerprint of a signing key; may be repeated.", ("--key",), repeated=True),
            Parameter("remove", "Withdraw the acceptance of these.", ("--remove",), bool, False),
        ),
        {"authors": [str], "keys": [str], "outside": [{"fact": str, "stake": str}]},
        ("clawmem review trust", "clawmem review trust 'ada@example.org'"),
    ),
}
