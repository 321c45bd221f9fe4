"""How people decided: how often they approved each kind, and which strategy fits their decisions about conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import by_ids
from clawmem.index.tables.store import Index
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.catalog import ASK, CONFIDENCE, NEWEST, Catalog
from clawmem.model.facts.gates import confident_winner
from clawmem.model.proposals.proposal import APPROVED, BY_EVALUATION, BY_KIND, BY_STRATEGY, OPEN, SUPERSEDE, Proposal
from clawmem.model.proposals.routes import Delegation, RoutedItem, last_match, read_delegations
from clawmem.model.records.task import WORKFLOWS, parse_workflow
from clawmem.review.reviewers import DELEGATIONS, item_of
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

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
