"""Promote facts to the organisation, decide about promotions, and withdraw what this vault withdrew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.extensions.hub.organisation import ask_organisation, organisation_folder, own_marks, own_vault
from clawmem.extensions.hub.organisation_vault import (
    APPROVED,
    folder_status,
    own_shared,
    promote_to_folder,
    withdraw_from_folder,
)
from clawmem.extensions.hub.postgres.organisation import (
    HubIdentity,
    Promotion,
    ask_promotion,
    decide_promotion,
    identity,
    own_vaults,
    promoted_facts,
    promotions,
    withdraw_promotions,
)
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.memory.permission import check_not_read_only, check_scope_right
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.facts.gates import GateResult, passes
from clawmem.model.facts.pulled import origin_of
from clawmem.model.facts.reach import ORGANISATION
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import owner_of
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

WITHDRAWN_HERE = "its vault withdrew the fact"


class PromoteResult(NamedTuple):
    """A promotion: its number, status and scope, whether it is new, and the facts that were withdrawn with this act.

    Where the organisation is a vault, the number is the id of the fact or the proposal there."""

    number: int | str
    status: str
    scope: str
    is_new: bool
    withdrawn: tuple[str, ...] = ()


def promote_to_organisation(
    vault: Vault, caller: Caller, placed: PlacedFact, verdicts: Sequence[GateResult], scope: str
) -> PromoteResult:
    """Ask the organisation to share a fact of this vault with one of its scopes.

    `verdicts` are those of the gates of the wiki, all of which must have passed. Raise Refused with the reasons if one
    did not, for a pulled fact, and if the hub does not have this state of the fact; NotPermitted for an agent that may
    not write for the organisation, and for a role without the right to promote there."""
    fact = placed.fact
    check_not_read_only(vault, caller)
    check_scope_right(vault, caller, fact._replace(scope=ORGANISATION))
    _check_promotable(placed, verdicts)
    if (folder := organisation_folder(vault)) is not None:
        number, status, is_new = promote_to_folder(vault, folder, caller, placed, scope)
        return PromoteResult(number, status, scope, is_new, withdraw_what_ended(vault, caller))
    marks = own_marks(vault)
    gates = {verdict.gate: verdict.reason for verdict in verdicts}

    def work(connection: HubConnection) -> tuple[PromoteResult, dict[str, list[tuple[str, str]]], str]:
        own = own_vault(connection, marks).vault
        pair = ask_promotion(connection, own, fact.id, scope, fact.fact, gates)
        return PromoteResult(pair[0], pair[1], scope, pair[2]), promoted_facts(connection, own), own

    result, shared, own = ask_organisation(vault, work)
    return result._replace(withdrawn=_withdraw_gone(vault, own, shared))


def withdraw_from_organisation(vault: Vault, caller: Caller, fact: Fact, reason: str | None) -> int:
    """Take a fact of this vault back from every scope that it was promoted to. Return from how many.

    Raise NotFound if there is none that the role may withdraw."""
    check_not_read_only(vault, caller)
    check_scope_right(vault, caller, fact._replace(scope=ORGANISATION))
    folder, marks = organisation_folder(vault), own_marks(vault)

    def work(connection: HubConnection) -> int:
        return withdraw_promotions(connection, own_vault(connection, marks).vault, fact.id, reason)

    if folder is not None:
        number = len(withdraw_from_folder(vault, folder, caller, [fact], reason))
    else:
        number = ask_organisation(vault, work)
    if not number:
        raise NotFound(
            f"{fact.id} has no promotion that your role may withdraw.",
            "`clawmem org status` shows what this vault promoted.",
        )
    return number


def withdraw_what_ended(vault: Vault, caller: Caller) -> tuple[str, ...]:
    """Withdraw the promoted facts of this vault that were retracted, revoked or redacted here. Return their ids.

    Where the organisation is a vault, no worker follows what was superseded here, so that is withdrawn, too."""
    if (folder := organisation_folder(vault)) is not None:
        known = own_shared(vault, folder_status(vault, folder).shared)
        gone = [
            fact
            for other_fact, fact in known
            if other_fact.status == APPROVED and (_is_ended(fact) or not fact.is_current)
        ]
        return withdraw_from_folder(vault, folder, caller, gone, WITHDRAWN_HERE) if gone else ()
    marks = own_marks(vault)

    def read(connection: HubConnection) -> tuple[str, dict[str, list[tuple[str, str]]]]:
        found = own_vaults(connection, marks)
        return (found[0].vault, promoted_facts(connection, found[0].vault)) if len(found) == 1 else ("", {})

    own, shared = ask_organisation(vault, read)
    return _withdraw_gone(vault, own, shared)


def list_promotions(vault: Vault, status: str) -> tuple[HubIdentity, tuple[Promotion, ...]]:
    """Return who asks, and the promotions of a status that they may decide or asked for."""
    return ask_organisation(vault, lambda connection: (identity(connection), tuple(promotions(connection, status))))


def decide(vault: Vault, number: int, approved: bool, reason: str | None) -> str:
    """Approve or reject a promotion as a person, and return its status. Rejecting an approved one withdraws it."""
    return ask_organisation(vault, lambda connection: decide_promotion(connection, number, approved, reason))


def _check_promotable(placed: PlacedFact, verdicts: Sequence[GateResult]) -> None:
    fact = placed.fact
    if (origin := origin_of(fact)) is not None:
        raise Refused(
            f"{fact.id} was pulled from the organisation {origin.org}.", "Only its own vault promotes it further."
        )
    if (owner := owner_of(placed.entity)) is not None:
        raise Refused(f"{fact.id} belongs to the workspace of the agent {owner}.", "Move it to a shared entity first.")
    if not passes(verdicts):
        reasons = "; ".join(f"{verdict.gate}: {verdict.reason}" for verdict in verdicts if not verdict.passed)
        raise Refused(
            f"{fact.id} does not pass the gates: {reasons}.", f"`clawmem wiki gate {fact.id} --explain` shows all."
        )


def _withdraw_gone(vault: Vault, own: str, shared: Mapping[str, object]) -> tuple[str, ...]:
    gone = _ended_here(vault, shared) if shared else ()
    if gone:

        def withdraw(connection: HubConnection) -> None:
            for text in gone:
                withdraw_promotions(connection, own, text, WITHDRAWN_HERE)

        ask_organisation(vault, withdraw)
    return gone


def _ended_here(vault: Vault, shared: Mapping[str, object]) -> tuple[str, ...]:
    """Return those of some facts of this vault that were retracted or redacted here.

    One that is not here may be of another clone of the vault, whose commits this one has not received yet."""
    known = run_query(vault, lambda index: by_ids(index, shared))
    return tuple(text for text in sorted(known) if _is_ended(known[text].fact))


def _is_ended(fact: Fact) -> bool:
    return fact.status == RETRACTED or bool((fact.metadata or {}).get("redacted"))
