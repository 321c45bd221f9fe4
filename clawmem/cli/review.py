"""`clawmem review list|show|approve|reject|trust`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.cli.words import outcome_lines
from clawmem.governance.review import ProposalDetails, ReviewOutcome, list_proposals, show_proposal
from clawmem.governance.review import approve as approve_act
from clawmem.governance.review import reject as reject_act
from clawmem.governance.trust import trust as trust_act
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.proposals.proposal_file import proposal_to_record

review = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Decide about what waits for a person.",
)
_Id = Annotated[str, typer.Argument(help="The id of the proposal, or a unique prefix.")]


@review.command("list")
def list_command(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Those that were decided, too.")] = False,
    kind: Annotated[str | None, typer.Option(help="fact, conflict, predicate, promotion, guardrail or tacit.")] = None,
) -> int:
    """List the proposals that wait, oldest first."""
    face = Face.of(ctx)
    found = list_proposals(face.runtime.vault(), every, kind)
    rows = [(one.id, one.kind, one.status, one.says, one.why) for one in found.proposals]
    lines = face.table(("proposal", "kind", "status", "says", "why"), rows) if rows else ()
    data = {"proposals": [proposal_to_record(one) for one in found.proposals]}
    return face.done(data, lines, found.notices, talk=() if rows else ("Nothing waits.",))


@review.command("show")
def show(ctx: typer.Context, proposal: _Id) -> int:
    """Show a proposal whole, with its evidence and the facts it falls on as they stand now."""
    face = Face.of(ctx)
    shown = show_proposal(face.runtime.vault(), proposal)
    data = {
        "proposal": proposal_to_record(shown.proposal),
        "targets": [fact_data(one.fact, one.entity) for one in shown.targets],
    }
    return face.done(data, _whole(shown), shown.notices)


@review.command("approve")
def approve(
    ctx: typer.Context,
    proposal: _Id,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Let the facts it contradicts stand, too, and link them.")
    ] = False,
) -> int:
    """Carry out a proposal, in one commit. Refused where what it would change was changed since."""
    face = Face.of(ctx)
    return _done(face, approve_act(face.runtime.vault(), proposal, face.runtime.caller(), reason, beside))


@review.command("reject")
def reject(
    ctx: typer.Context,
    proposal: _Id,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the proposal.")],
) -> int:
    """Turn a proposal down, in one commit; the same event never proposes it again."""
    face = Face.of(ctx)
    return _done(face, reject_act(face.runtime.vault(), proposal, face.runtime.caller(), reason))


@review.command("trust")
def trust(
    ctx: typer.Context,
    author: Annotated[
        list[str] | None, typer.Argument(help="An author as `git log` names them; * stands for any letters.")
    ] = None,
    key: Annotated[list[str] | None, typer.Option("--key", help="The fingerprint of a signing key.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="No longer trust these.")] = False,
) -> int:
    """Accept the commits of others on this machine: what they approved counts, and their orders are not labelled.
    Without arguments, list who is accepted."""
    face = Face.of(ctx)
    done = trust_act(face.runtime.vault(), face.runtime.caller(), tuple(author or ()), tuple(key or ()), remove)
    lines = [*done.accepted.authors, *(f"key {one}" for one in done.accepted.keys)]
    data = {
        "authors": list(done.accepted.authors),
        "keys": list(done.accepted.keys),
        "outside": [{"fact": fact_id, "stake": stake} for fact_id, stake in done.outside],
    }
    left = len(done.outside)
    talk = [] if lines else ["Nobody is accepted but this clone."]
    if left:
        talk.append(f"{left} {'fact comes' if left == 1 else 'facts come'} from commits that are not accepted here.")
    return face.done(data, lines, talk=talk)


def _done(face: Face, done: ReviewOutcome) -> int:
    data: dict[str, Any] = {
        "proposal": proposal_to_record(done.proposal),
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "outcome": list(done.outcome),
        "commit": done.commit,
    }
    rows = [(outcome, one.fact, one.entity) for outcome, one in zip(done.outcome, done.facts, strict=True)]
    lines = [f"{done.proposal.status}: {done.proposal.id}  {done.proposal.says}", *outcome_lines(rows, done.commit)]
    return face.done(data, lines, done.notices)


def _whole(shown: ProposalDetails) -> Iterator[str]:
    one = shown.proposal
    yield f"{one.id}  {one.kind}, {one.status}, made {one.created}" + (f" for {one.agent}" if one.agent else "")
    yield f"says      {one.says}"
    yield f"why       {one.why}"
    yield from _deed(one)
    for target in shown.targets:
        yield f"now       {fact_line(target.fact, target.entity)}"
    if one.decided:
        because = f": {one.decided.reason}" if one.decided.reason else ""
        yield f"{one.status:<8}  by {one.decided.by} at {one.decided.at}{because}"


def _deed(one: Proposal) -> Iterator[str]:
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
