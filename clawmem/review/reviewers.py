"""Who may decide a proposal: the people that `review.routes` names, or an agent to whom a person delegated it.

How people decided: how often they approved each kind, and which strategy fits their decisions about conflicts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from clawmem.errors import PERSON_RUNS, ClawmemError, InvalidInput, NotFound, NotPermitted, Refused
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import by_ids
from clawmem.index.tables.store import Index
from clawmem.memory.health.configure import change_setting
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.catalog import ASK, CONFIDENCE, NEWEST, Catalog
from clawmem.model.facts.fact import is_low_trust
from clawmem.model.facts.gates import confident_winner
from clawmem.model.facts.reach import is_workflow
from clawmem.model.language.text import check_choice, with_article
from clawmem.model.proposals.proposal import (
    APPROVED,
    BY_EVALUATION,
    BY_KIND,
    BY_STRATEGY,
    FOLDER,
    KINDS,
    OPEN,
    PREFIX,
    SUPERSEDE,
    Proposal,
)
from clawmem.model.proposals.quarantine import orders_in
from clawmem.model.proposals.routes import (
    Delegation,
    RoutedItem,
    delegation_refusal,
    is_named,
    last_match,
    read_delegations,
    read_routes,
    written,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Author
from clawmem.model.records.entity import check_agent
from clawmem.model.records.task import WORKFLOWS, parse_workflow
from clawmem.vault.edits.adoption import UNNAMED, user_identity
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

A_PERSON = "a person"
DELEGATIONS = "review.delegations"


class Decider(NamedTuple):
    """Who decides: a git identity or an agent, who delegated it to the agent, and whether the commit must be signed."""

    by: str
    delegated_by: str | None = None
    signed: bool = False


class DelegationChange(NamedTuple):
    """The delegations in force on this machine, and the file that has them (None if nothing changed)."""

    delegations: tuple[Delegation, ...]
    file: str | None


def item_of(index: Index, proposal: Proposal) -> RoutedItem:
    """Return what the routes are compared with: kind, entity and workflow of a proposal.

    If the proposal names no entity, it is that of the first fact that it changes."""
    entity, fact = proposal.entity, proposal.fact
    workflow = (proposal.details or {}).get("workflow") or (fact.workflow if fact else None)
    if (entity is None or fact is None) and proposal.targets:
        found = by_ids(index, (target.id for target in proposal.targets))
        placed = next((found[target.id] for target in proposal.targets if target.id in found), None)
        entity = entity or (placed.entity if placed else None)
        workflow = workflow or (placed.fact.workflow if placed else None)
    known = isinstance(workflow, str) and is_workflow(workflow)
    return RoutedItem(proposal.kind, entity, workflow if known else None)


def reviewers_of(vault: Vault, item: RoutedItem) -> tuple[str, ...]:
    """Return the people who may decide, as the routes name them; none if every person may."""
    routes = read_routes(vault.settings.words("review.routes"))
    place = last_match(routes, item)
    return routes[place].reviewers if place is not None else ()


def may_decide(vault: Vault, who: Author, item: RoutedItem) -> bool:
    """Return whether a person may decide about an item."""
    reviewers = reviewers_of(vault, item)
    return not reviewers or is_named(reviewers, who.name, who.email)


def check_decider(vault: Vault, index: Index, proposal: Proposal, caller: Caller) -> Decider:
    """Return who decides. Raise NotPermitted with the names of those who may, if the caller may not.

    With `review.signed`, raise Refused if git has no key to sign with."""
    item = item_of(index, proposal)
    if caller.agent is not None:
        _check_content(index, proposal, caller.agent)
        if caller.shell not in (None, caller.agent):
            raise NotPermitted(
                f"This runs in a shell of {caller.shell}, where a delegation to {caller.agent} does not count.",
                PERSON_RUNS,
            )
        return _agent_decider(vault, proposal, item, caller.agent, vault.settings.flag("review.signed"))
    return person_decider(vault, item, proposal.id)


def person_decider(vault: Vault, item: RoutedItem, named: str) -> Decider:
    """Return the person at this machine as the one who decides. Raise as `check_decider` does."""
    who, signed = user_identity(vault), vault.settings.flag("review.signed")
    if not may_decide(vault, who, item):
        names = all_of_names(reviewers_of(vault, item))
        you = "git has no user.name here" if who == UNNAMED else f"you are {who.name} <{who.email}>"
        what = f"{item.kind} about {item.entity}" if item.entity else item.kind
        raise NotPermitted(
            f"Only {names} may decide {named} ({what}), and {you}.",
            "`review.routes` says who decides: `clawmem config get review.routes`.",
        )
    if signed:
        check_signing_key(vault)
    return Decider(A_PERSON if who == UNNAMED else f"{who.name} <{who.email}>", signed=signed)


def all_of_names(names: tuple[str, ...]) -> str:
    """Return the names in a sentence."""
    return " or ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} or {names[-1]}"


def _check_content(index: Index, proposal: Proposal, agent: str) -> None:
    """Raise NotPermitted if the content comes from outside or has instructions: the agent may be manipulated by it."""
    changed = [placed.fact for placed in by_ids(index, (target.id for target in proposal.targets)).values()]
    for fact in (proposal.fact, *changed):
        if fact is not None and (is_low_trust(fact.trust) or orders_in(fact)):
            raise NotPermitted(
                f"The content comes from outside (trust {fact.trust}). Only a person may decide about it, and {agent}"
                " is an agent.",
                PERSON_RUNS,
            )


def _agent_decider(vault: Vault, proposal: Proposal, item: RoutedItem, agent: str, signed: bool) -> Decider:
    """Return the agent as the one who decides, if a person delegated it. Raise NotPermitted otherwise."""
    named = reviewers_of(vault, item)
    who = f"{all_of_names(named)} may" if named else "a person may"
    if not BY_KIND[proposal.kind].delegable:
        raise NotPermitted(
            f"Only {who} decide about {with_article(proposal.kind)}, and {agent} is an agent;"
            f" {delegation_refusal(proposal.kind)}.",
            PERSON_RUNS,
        )
    delegations = read_delegations(vault.settings.words(DELEGATIONS))
    place = last_match(delegations, item)
    if place is None or delegations[place].agent != agent:
        raise NotPermitted(
            f"Only {who} decide about {proposal.id}, and {agent} is an agent.",
            f"{PERSON_RUNS} `clawmem review delegate` leaves a kind to an agent.",
        )
    if signed:
        raise NotPermitted(
            f"review.signed requires that a person signs each decision, and {agent} is an agent.", PERSON_RUNS
        )
    return Decider(agent, delegations[place].by)


def check_signing_key(vault: Vault) -> None:
    """Raise Refused if git is not configured with a key to sign commits with."""
    with vault.git.with_user_config():
        key, command, form = (
            (vault.git.try_run("config", name) or b"").decode().strip()
            for name in ("user.signingKey", "gpg.ssh.defaultKeyCommand", "gpg.format")
        )
    if not key and not (form == "ssh" and command):
        raise Refused(
            "review.signed requires a signed commit, and git has no key to sign with.",
            "Set one: `git config --global gpg.format ssh`, then `git config --global user.signingKey FILE`.",
        )


def delegate(
    vault: Vault, caller: Caller, kind: str | None, agent: str | None, entity: str | None = None, remove: bool = False
) -> DelegationChange:
    """Leave the decisions of a kind, about some entities, to an agent on this machine, or take that back.

    Without a kind, only list. Raise NotPermitted if the caller is an agent, and Refused for a kind that is never
    delegated."""
    before = read_delegations(vault.settings.words(DELEGATIONS))
    if kind is None:
        return DelegationChange(before, None)
    check_choice(kind, "kind of proposal", KINDS)
    if not BY_KIND[kind].delegable:
        raise Refused(f"{delegation_refusal(kind).capitalize()}.", "A person decides each of them.")
    if agent is None:
        raise InvalidInput("The agent is missing.", "Example: clawmem review delegate promotion night-clerk")
    check_agent(agent)
    pattern = f"kind:{kind}" + (f"&{entity}" if entity else "")
    others = tuple(delegation for delegation in before if (delegation.pattern, delegation.agent) != (pattern, agent))
    if remove:
        if others == before:
            raise NotFound(
                f"Nothing is delegated to {agent} as {pattern}.", "`clawmem review delegate` lists what is delegated."
            )
        after = others
    else:
        if not (vault.root / "agents" / agent).is_dir():
            raise NotFound(
                f"There is no agent '{agent}'.", f"`clawmem agent list` shows them; `clawmem agent create {agent}`."
            )
        who = user_identity(vault)
        by = A_PERSON if who == UNNAMED else f"{who.name} <{who.email}>"
        after = (*others, Delegation(pattern, agent, by))
    return DelegationChange(after, change_setting(vault, caller, DELEGATIONS, written(after)).file)


EVERY_SECONDS = 0.5


def watch_proposals(vault: Vault, seconds: float | None) -> Iterator[dict[str, Any]]:
    """Yield what happens from now on, for that long, or until the caller stops."""
    signature, known = _signature(vault), _by_id(vault)
    pause, waited = Event(), 0.0
    while seconds is None or waited < seconds:
        pause.wait(EVERY_SECONDS)
        waited += EVERY_SECONDS
        now = _signature(vault)
        if now == signature:
            continue
        signature, current = now, _by_id(vault)
        for proposal in current.values():
            yield from _changes(known.get(proposal.id), proposal)
        known = current


def _signature(vault: Vault) -> tuple[tuple[str, int, int], ...]:
    return signature_of((vault.root / FOLDER).glob(f"{PREFIX}*.json"))


def signature_of(paths: Iterable[Path]) -> tuple[tuple[str, int, int], ...]:
    """Return values that change when one of some files does, or when one comes or goes."""
    found = []
    for path in paths:
        with suppress(FileNotFoundError):
            status = path.stat()
            found.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(sorted(found))


def _by_id(vault: Vault) -> Mapping[str, Proposal]:
    return {proposal.id: proposal for proposal in read_proposals(vault).proposals}


def _changes(before: Proposal | None, after: Proposal) -> Iterator[dict[str, Any]]:
    """Yield what happened to a proposal between two readings."""
    about = {"proposal": after.id, "kind": after.kind, "says": after.says, "entity": after.entity}
    if before is None:
        yield _entry("filed", after.created, about, why=after.why, agent=after.agent)
    elif before.status != OPEN and after.status == OPEN:
        yield _entry("reopened", after.created, about, why=after.why)
    if after.decided and after.status != OPEN and (before is None or before.status != after.status):
        decision = after.decided
        yield _entry(
            after.status, decision.at, about, by=decision.by, reason=decision.reason, delegated_by=decision.delegated_by
        )


def _entry(event: str, at: str, about: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": event, "at": at, **{key: value for key, value in {**about, **more}.items() if value is not None}}


# A strategy is proposed if it gives the decision of at least this part of at least so many conflicts.
LEAST_CONFLICTS, LEAST_SHARE = 10, 0.9
# So many approvals of one kind in a row propose to delegate it.
DELEGATE_AFTER = 20


class KindAgreement(NamedTuple):
    """How people decided about one kind: counts, how many of the last decisions in a row they approved, the agent to
    whom it is delegated, and whether delegation is proposed."""

    kind: str
    waiting: int
    approved: int
    rejected: int
    in_a_row: int
    delegated_to: str | None = None
    delegate: bool = False

    @property
    def decided(self) -> int:
        """Return how many were decided by people."""
        return self.approved + self.rejected


class ConflictAgreement(NamedTuple):
    """How people decided conflicts of one relation (`relation:NAME`) or workflow (`workflow:NAME`).

    `newest` counts those decided for the newest fact. `confident` counts those decided for the most confident fact, of
    the `comparable` ones where one fact has the highest confidence. `strategy` is in force, `proposed` fits better."""

    of: str
    decided: int
    newest: int
    confident: int
    comparable: int
    strategy: str = ASK
    proposed: str | None = None


class AgreementReport(NamedTuple):
    """The agreement per kind and per source of conflicts."""

    kinds: tuple[KindAgreement, ...]
    conflicts: tuple[ConflictAgreement, ...]
    notices: tuple[str, ...] = ()


def agreement(vault: Vault) -> AgreementReport:
    """Count the decisions of people. Delegated decisions are not counted."""
    filed = read_proposals(vault)
    delegations = read_delegations(vault.settings.words(DELEGATIONS))

    def counted(index: Index) -> AgreementReport:
        found = conflicts_decided(index, filed.proposals, vault.catalog, _workflow_strategies(vault))
        kinds = kinds_decided(filed.proposals, delegations)
        return AgreementReport(kinds, found, (*filed.unreadable, *index.notices))

    return run_query(vault, counted)


def _workflow_strategies(vault: Vault) -> dict[str, str]:
    """Return the strategies that readable workflows set, by workflow."""
    found = {}
    for path in sorted((vault.root / WORKFLOWS).glob("*.yaml")):
        name = f"{WORKFLOWS}/{path.name}"
        try:
            workflow = parse_workflow(vault.read(name) or b"", name, parse_yaml)
        except ClawmemError:
            continue  # `workflow check` names the problem
        if workflow.conflicts:
            found[workflow.id] = workflow.conflicts
    return found


def kinds_decided(proposals: Sequence[Proposal], delegations: Sequence[Delegation] = ()) -> tuple[KindAgreement, ...]:
    """Return the agreement for each kind that has proposals, in the order of the table of kinds."""
    of_kind: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        of_kind[proposal.kind].append(proposal)
    return tuple(_of_kind(kind, of_kind[kind], delegations) for kind in BY_KIND if kind in of_kind)


def _of_kind(kind: str, proposals: Sequence[Proposal], delegations: Sequence[Delegation]) -> KindAgreement:
    by_people = sorted(
        _decided_by_people(proposals), key=lambda proposal: proposal.decided.at if proposal.decided else ""
    )
    approved = [by_person.status == APPROVED for by_person in by_people]
    in_a_row = next((n for n, flag in enumerate(reversed(approved)) if not flag), len(approved))
    place = last_match(delegations, RoutedItem(kind))
    agent = delegations[place].agent if place is not None else None
    propose = BY_KIND[kind].delegable and agent is None and in_a_row >= DELEGATE_AFTER
    waiting = sum(proposal.status == OPEN for proposal in proposals)
    return KindAgreement(kind, waiting, sum(approved), len(approved) - sum(approved), in_a_row, agent, propose)


def _decided_by_people(proposals: Iterable[Proposal]) -> list[Proposal]:
    return [
        proposal
        for proposal in proposals
        if proposal.status != OPEN
        and (decided := proposal.decided)
        and not decided.delegated_by
        and not decided.by.startswith((BY_EVALUATION, BY_STRATEGY))
    ]


def conflicts_decided(
    index: Index, proposals: Iterable[Proposal], catalog: Catalog, workflows: Mapping[str, str]
) -> tuple[ConflictAgreement, ...]:
    """Return how conflicts were decided, for each relation and workflow."""
    groups: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in _decided_by_people(proposals):
        if proposal.kind == "conflict" and proposal.does == SUPERSEDE:
            relation = relation_of(proposal)
            workflow = item_of(index, proposal).workflow
            for name, value in (("relation", relation), ("workflow", workflow)):
                if value:
                    groups[f"{name}:{value}"].append(proposal)
    return tuple(_of_group(index, of, groups[of], catalog, workflows) for of in sorted(groups))


def relation_of(proposal: Proposal) -> str | None:
    """Return the relation of a conflict: the one noted when it was filed, else the predicate of its fact."""
    noted = (proposal.details or {}).get("relation")
    return noted if isinstance(noted, str) else proposal.fact.predicate if proposal.fact else None


def _of_group(
    index: Index, of: str, decided: Sequence[Proposal], catalog: Catalog, workflows: Mapping[str, str]
) -> ConflictAgreement:
    newest = sum(_newest_won(proposal) for proposal in decided)
    confident = [won for proposal in decided if (won := _confident_won(index, proposal)) is not None]
    kind, _, name = of.partition(":")
    if kind == "relation":
        entry = catalog.predicates.get(name)
        strategy = (entry.conflict if entry else None) or ASK
    else:
        strategy = workflows.get(name, ASK)
    shares = {NEWEST: (newest, len(decided)), CONFIDENCE: (sum(confident), len(confident))}
    fitting = [
        name
        for name, (won, of_all) in shares.items()
        if of_all >= LEAST_CONFLICTS and won >= LEAST_SHARE * of_all and name != strategy
    ]
    best = max(fitting, key=lambda text: shares[text][0] / shares[text][1]) if fitting and strategy == ASK else None
    return ConflictAgreement(of, len(decided), newest, sum(confident), len(confident), strategy, best)


def _newest_won(proposal: Proposal) -> bool:
    """Return whether a conflict was decided for its newest fact: the last target, or one that was not stored before."""
    winner = proposal.decided.winner if proposal.decided and proposal.status == APPROVED else None
    known = [target.id for target in proposal.targets]
    return winner is not None and (winner not in known or winner == known[-1])


def _confident_won(index: Index, proposal: Proposal) -> bool | None:
    """Return whether a conflict was decided for its most confident fact, or None if there is no such fact."""
    winner = proposal.decided.winner if proposal.decided else None
    ids = dict.fromkeys((*(target.id for target in proposal.targets), *([winner] if winner else [])))
    found = [placed.fact for placed in by_ids(index, ids).values()]
    best = confident_winner(found) if len(found) == len(ids) else None
    return best.id == winner if best is not None else None
