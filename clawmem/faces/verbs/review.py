"""`clawmem review list|show|decide|approve|reject|watch|agreement|delegate|trust`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command, Feed, Fields, Table
from clawmem.faces.parts.filters import since_of
from clawmem.faces.parts.parameters import REASON, SINCE, Parameter
from clawmem.faces.parts.words import REVISED, changed_data, data_of, outcome_lines
from clawmem.memory.proposals import ESCALATION
from clawmem.model.facts.catalog import STRATEGIES
from clawmem.model.facts.fact import GUARDRAIL
from clawmem.model.facts.fact_words import agents_of, fact_data, fact_line
from clawmem.model.proposals.proposal import KINDS, PROPOSAL_KINDS, Proposal, action_words, proposal_to_record
from clawmem.review.review import ProposalDetails, ReviewOutcome, list_proposals, show_proposal
from clawmem.review.review import approve as approve_act
from clawmem.review.review import reject as reject_act
from clawmem.review.review import trust as trust_act
from clawmem.review.reviewers import ConflictAgreement, KindAgreement, kinds_decided
from clawmem.review.reviewers import agreement as agreement_act


def list_(
    call: Call,
    every: Annotated[bool, Parameter("Also list decided proposals.", ("--all",))],
    kind: Annotated[str | None, Parameter("{choices}.", ("--kind",), choices=KINDS)],
    mine: Annotated[bool, Parameter("Only those that you may decide (`review.routes`).", ("--mine",))],
    since: Annotated[str | None, SINCE._replace(help="Only those that were made on this day or later.")],
) -> Answer:
    """List the open proposals, oldest first. Lines at the end say how often people approved each kind."""
    found = list_proposals(call.runtime.vault(), every, kind, call.runtime.caller() if mine else None)
    first = since_of(call, since)
    chosen = [proposal for proposal in found.proposals if proposal.created >= first]
    rows = [(proposal.id, proposal.kind, proposal.status, proposal.says, proposal.why) for proposal in chosen]
    data = {"proposals": [proposal_to_record(proposal) for proposal in chosen]}
    table = Table(("proposal", "kind", "status", "says", "why"), rows)
    talk = [] if rows else ["There are no open proposals."]
    return Answer(data, table, found.notices, talk=(*talk, *_rates(found.all_filed, {row[1] for row in rows})))


def _rates(filed: Sequence[Proposal], kinds: Collection[str]) -> Iterator[str]:
    for agreement in kinds_decided(filed):
        if agreement.kind in kinds and agreement.decided:
            yield f"{agreement.kind}: people approved {agreement.approved} of {agreement.decided} so far."


def show(call: Call, proposal: Annotated[str, _ID]) -> Answer:
    """Show all fields of a proposal, its evidence, who may decide, and the present state of the facts that it
    changes."""
    shown = show_proposal(call.runtime.vault(), proposal)
    found = shown.proposal
    data = {
        "proposal": proposal_to_record(found),
        "targets": [fact_data(placed.fact, placed.entity) for placed in shown.targets],
        "reviewers": list(shown.reviewers),
    }
    headline = f"{found.id}  {found.kind}, {found.status}, made {found.created}"
    headline += f" for {found.agent}" if found.agent else ""
    return Answer(data, Fields(_details(shown), headline), shown.notices)


def decide(call: Call, kind: Annotated[str | None, Parameter("{choices}.", ("--kind",), choices=KINDS)]) -> Answer:
    """Go through the open proposals that you may decide, at a terminal, oldest first: one key for each decision. Each
    decision is one commit, and stays when you quit. The key ? shows the keys. Without a terminal, with
    --json, and for an agent the command is refused."""
    return call.decide_proposals(kind)


def approve(
    call: Call,
    proposal: Annotated[str, _ID],
    reason: Annotated[str | None, REASON],
    beside: Annotated[
        bool, Parameter("Keep the facts that it contradicts, too; the conflict is settled.", ("--beside",))
    ],
    keep: Annotated[
        str | None,
        Parameter(
            "Decide a conflict for this one of its facts: the others were never true.", ("--keep",), completes="fact"
        ),
    ],
    text: Annotated[str | None, Parameter("Store the proposed new fact in these words.", ("--text",))] = None,
) -> Answer:
    """Apply a proposal, in one commit. The command is refused if a fact that it changes has changed since, for a person
    who is not a reviewer of it (`review.routes`), and for an agent to whom no person delegated the decision. With
    `review.signed`, the commit is signed."""
    return _decided(approve_act(call.runtime.vault(), proposal, call.runtime.caller(), reason, beside, keep, text=text))


def reject(
    call: Call,
    proposal: Annotated[str, _ID],
    reason: Annotated[str, REASON._replace(help="The reason; it is stored with the proposal.")],
) -> Answer:
    """Reject a proposal, in one commit. The same event never leads to it again, but a reader's sentence takes the place
    of raw words, unless the reason says that they are not true or not wanted. Who may reject it is who may approve
    it."""
    return _decided(reject_act(call.runtime.vault(), proposal, call.runtime.caller(), reason))


def trust(
    call: Call,
    author: Annotated[list[str] | None, Parameter("An author as shown by `git log`; * matches any text.")],
    key: Annotated[list[str] | None, Parameter("The fingerprint of a signing key; may be repeated.", ("--key",))],
    remove: Annotated[bool, Parameter("Withdraw the acceptance of these.", ("--remove",))],
) -> Answer:
    """Accept the commits of others on this machine: their approvals are valid, and instructions in their facts are not
    labelled. Without arguments, list the accepted authors and keys."""
    accepted, outside = trust_act(call.runtime.vault(), tuple(author or ()), tuple(key or ()), remove)
    lines = [*accepted.authors, *(f"key {other_key}" for other_key in accepted.keys)]
    data = {
        "authors": list(accepted.authors),
        "keys": list(accepted.keys),
        "outside": [{"fact": fact_id, "stake": stake} for fact_id, stake in outside],
    }
    left = len(outside)
    talk = [] if lines else ["Only the commits of this clone are accepted."]
    if left:
        talk.append(f"{left} {'fact comes' if left == 1 else 'facts come'} from commits that are not accepted here.")
    return Answer(data, lines, talk=talk)


def watch(
    call: Call,
    seconds: Annotated[float | None, Parameter("Stop after this time; the default is never.", ("--seconds",))],
) -> Answer | Feed:
    """Follow the queue, and print one line of JSON for each proposal that is filed, approved, rejected or opened again,
    until the command is stopped. With --seconds, everything is printed when the time is over; --json then gives one
    document."""
    from clawmem.review.reviewers import watch_proposals

    events = watch_proposals(call.runtime.vault(), seconds)
    if seconds is None:
        return Feed(events)
    lines = (json.dumps(event, ensure_ascii=False) for event in events)
    return Answer(lambda: {"events": list(events)}, lines)


def agreement(call: Call) -> Answer:
    """Say how often people approved each kind, and which delegation and which strategies for conflicts fit their
    decisions. Delegated decisions are not counted."""

    found = agreement_act(call.runtime.vault())
    data = data_of(found, kinds=[data_of(kind, decided=kind.decided) for kind in found.kinds])
    rows = [*_kind_rows(found.kinds), *_conflict_rows(found.conflicts)]
    talk = () if found.kinds else ("Nothing was proposed yet.",)
    return Answer(data, Table(("about", "decided", "now", "proposed"), rows), found.notices, talk=talk)


def _kind_rows(kinds: Sequence[KindAgreement]) -> Iterator[Sequence[str]]:
    for kind in kinds:
        rate = f"{kind.approved} of {kind.decided} approved" if kind.decided else "none decided"
        to = f", delegated to {kind.delegated_to}" if kind.delegated_to else ""
        why = f"the last {kind.in_a_row} were all approved: `clawmem review delegate {kind.kind} AGENT`"
        yield kind.kind, rate, f"{kind.waiting} waiting{to}", why if kind.delegate else ""


def _conflict_rows(conflicts: Sequence[ConflictAgreement]) -> Iterator[Sequence[str]]:
    for conflict in conflicts:
        sure = (
            f", {conflict.confident} of {conflict.comparable} for the most confident fact"
            if conflict.comparable
            else ""
        )
        kind, _, name = conflict.of.partition(":")
        where = f"{name} in predicates.yaml" if kind == "relation" else f"workflows/{name}.yaml"
        better = f"`{'conflict' if kind == 'relation' else 'conflicts'}: {conflict.proposed}` in {where}"
        rate = f"{conflict.newest} of {conflict.decided} for the newest fact{sure}"
        yield conflict.of, rate, f"strategy {conflict.strategy}", better if conflict.proposed else ""


def delegate(
    call: Call,
    kind: Annotated[
        str | None,
        Parameter(
            "{choices}.",
            choices=tuple(proposal_kind.name for proposal_kind in PROPOSAL_KINDS if proposal_kind.delegable),
        ),
    ],
    to: Annotated[str | None, Parameter("The agent that decides.", metavar="AGENT", completes="agent")],
    entity: Annotated[
        str | None, Parameter("Only what is about this entity or folder; * matches any text.", ("--entity", "-e"))
    ],
    remove: Annotated[bool, Parameter("Take the delegation back.", ("--remove",))],
) -> Answer:
    """Leave the decisions of a kind to an agent on this machine, or take that back with --remove. Without arguments,
    list what is delegated. Only a person can delegate. Guardrails, lines of TACIT.md, escalations, facts for the
    organisation, and what comes from outside are never delegated."""
    from clawmem.review.reviewers import delegate as act

    change = act(call.runtime.vault(), call.runtime.caller(), kind, to, entity, remove)
    rows = [delegation._asdict() for delegation in change.delegations]
    lines = [
        f"{delegation.pattern}  decided by {delegation.agent}, delegated by {delegation.by}"
        for delegation in change.delegations
    ]
    return Answer({"delegations": rows, "kept": change.file}, lines, talk=() if lines else ("Nothing is delegated.",))


def _decided(result: ReviewOutcome) -> Answer:
    changed = result.facts, result.outcome, result.commit
    first = f"{result.proposal.status}: {result.proposal.id}  {result.proposal.says}"
    data = {"proposal": proposal_to_record(result.proposal), **changed_data(*changed)}
    return Answer(data, [first, *outcome_lines(*changed)], result.notices)


def _details(shown: ProposalDetails) -> Iterator[tuple[str, str]]:
    proposal = shown.proposal
    yield "says", proposal.says
    yield "why", proposal.why
    yield from action_pairs(proposal)
    for target in shown.targets:
        yield "now", fact_line(target.fact, target.entity)
    if shown.reviewers:
        yield "reviewers", ", ".join(shown.reviewers)
    if proposal.decided:
        because = f": {proposal.decided.reason}" if proposal.decided.reason else ""
        by = (
            f"{proposal.decided.by} (delegated by {proposal.decided.delegated_by})"
            if proposal.decided.delegated_by
            else proposal.decided.by
        )
        yield proposal.status, f"by {by} at {proposal.decided.at}{because}"


def action_pairs(proposal: Proposal) -> Iterator[tuple[str, str]]:
    """What a proposal does, and the evidence of its fact, each with its label."""
    if proposal.worth:
        reasons = "; ".join(proposal.worth.reasons)
        yield "does", f"promotes it for {proposal.worth.on}, with the score {proposal.worth.score:.2f}: {reasons}"
    elif proposal.line:
        yield "does", f"writes in {proposal.line.page}: {proposal.line.text}"
    else:
        yield "does", action_words(proposal)
    if proposal.kind == ESCALATION:
        about = proposal.details or {}
        yield from ((key, str(about[key])) for key in ("task", "evaluation", "work") if about.get(key))
    if proposal.fact and proposal.fact.category == GUARDRAIL:
        yield "binds", ", ".join(agents_of(proposal.fact)) or "everybody"
        led = (proposal.fact.details or {}).get("evidence") or ()
        yield from (("evidence", str(each)) for each in led)
    if proposal.fact and proposal.fact.source_text:
        yield (
            "evidence",
            f'"{proposal.fact.source_text}" in {proposal.source_event}, trust {proposal.fact.trust or "user"}',
        )


_ID = Parameter("The id of the proposal, or a unique prefix.", completes="proposal")
_DECIDED = {"proposal": "proposal", **REVISED}

VERB = {
    "list": Command(
        list_,
        {"proposals": ["proposal"]},
        ("clawmem review list", "clawmem review list --mine"),
        ("proposals",),
    ),
    "show": Command(
        show,
        {"proposal": "proposal", "targets": ["fact"], "reviewers": [str]},
        ("clawmem review show prop_1a2b",),
        ("proposal",),
    ),
    "decide": Command(
        decide,
        {"approved": [str], "rejected": [str], "left": int},
        ("clawmem review decide", "clawmem review decide --kind conflict"),
        person="asks for decisions",
    ),
    "approve": Command(
        approve,
        _DECIDED,
        ("clawmem review approve prop_1a2b --reason 'her passport says so'",),
    ),
    "reject": Command(
        reject,
        _DECIDED,
        ("clawmem review reject prop_1a2b --reason 'it was a joke'",),
    ),
    "watch": Command(
        watch,
        {"events": [{"event": {"filed", "approved", "rejected", "reopened"}, "at": str, str: object}]},
        ("clawmem review watch --seconds 1",),
        ("events",),
    ),
    "agreement": Command(
        agreement,
        {
            "kinds": [
                {
                    "kind": set(KINDS),
                    **dict.fromkeys(("waiting", "approved", "rejected", "decided", "in_a_row"), int),
                    "delegated_to": (str, None),
                    "delegate": bool,
                }
            ],
            "conflicts": [{"...": ConflictAgreement, "strategy": set(STRATEGIES)}],
        },
        ("clawmem review agreement",),
        ("kinds",),
    ),
    "delegate": Command(
        delegate,
        {"delegations": ["clawmem.model.proposals.routes:Delegation"], "kept": (str, None)},
        ("clawmem review delegate", "clawmem review delegate promotion night-clerk --entity 'projects/*'"),
        ("delegations",),
        person=lambda record: "says who decides" if record["kind"] else "",
    ),
    "trust": Command(
        trust,
        {"authors": [str], "keys": [str], "outside": [{"fact": str, "stake": str}]},
        ("clawmem review trust", "clawmem review trust 'ada@example.org'"),
        person=lambda record: "says whose word counts" if record["author"] or record["key"] else "",
    ),
}
