"""The organisation that a vault is connected to: its address, who asks there, and which vault this one is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clawmem.errors import InvalidInput, NotFound, Refused, RemoteFailed
from clawmem.extensions.hub.organisation_vault import (
    APPROVED,
    check_folder,
    folder_status,
    named_folder,
    own_shared,
    promote_to_folder,
    withdraw_from_folder,
)
from clawmem.extensions.hub.postgres.connect import HubAddress, ask, hub_address
from clawmem.extensions.hub.postgres.organisation import (
    HubIdentity,
    OwnVault,
    VaultMarks,
    ask_promotion,
    identity,
    own_vaults,
    promoted_facts,
    readable_counts,
    withdraw_promotions,
)
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.index.tables.rights import marks_of
from clawmem.memory.health.configure import check_accepted, write_values
from clawmem.memory.permission import check_not_read_only, check_scope_right
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.facts.gates import GateResult, passes
from clawmem.model.facts.pulled import origin_of
from clawmem.model.facts.reach import ORGANISATION
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import owner_of
from clawmem.model.settings.values import has_password
from clawmem.vault.state.local_settings import local_settings_file
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection


ORG_URL = "CLAWMEM_ORG_URL"
"""The variable that names the address in place of the setting; only there, it may contain a password."""

_URL = "org.url"
# A hub whose worker is further behind than this knows the vault by its address alone.
_COMMITS = 2000
Answer = TypeVar("Answer")


class OrganisationStatus(NamedTuple):
    """The state of the connection: the address without a password, who asks, this vault at the hub, how many facts are
    readable there and how many of them were promoted (each up to MOST_COUNTED), and this vault's promotions by fact.

    `is_vault` says that the organisation is a vault in a folder, which does not take this one in. `problem` says why
    the organisation could not be asked; the rest is then empty."""

    address: str
    who: HubIdentity | None = None
    own: OwnVault | None = None
    readable: int = 0
    promoted: int = 0
    promotions: tuple[tuple[str, str, str], ...] = ()
    is_vault: bool = False
    problem: RemoteFailed | None = None


def organisation_folder(vault: Vault) -> Path | None:
    """Return the folder of the vault that is the organisation, or None if it is a hub. Raise Refused without one."""
    url = _url(vault)
    return Path(url) if url.startswith("/") else None


def organisation_address(vault: Vault) -> HubAddress:
    """Return the address of the hub. Raise Refused if the vault is connected to none."""
    return hub_address(_url(vault), from_environment=bool(vault.environment.get(ORG_URL)))


def ask_organisation(vault: Vault, work: Callable[[HubConnection], Answer]) -> Answer:
    """Return what `work` makes of a connection to the organisation, within `org.timeout_seconds`.

    Raise Refused without a connection in the settings, HubUnavailable if the hub does not answer, and NotPermitted."""
    return ask(organisation_address(vault), vault.settings.number("org.timeout_seconds"), work)


def connect_organisation(vault: Vault, url: str, resolved: Callable[[str], Path]) -> tuple[str, HubIdentity]:
    """Store the address of an organisation in the settings of this machine, if it answers there. Return how the address
    is shown, and who asks.

    `resolved` gives the absolute folder of a path. Raise InvalidInput for an address that cannot be read or has a
    password, and like `ask_organisation` and `ask_folder`."""
    check_accepted(vault)
    if vault.environment.get(ORG_URL):
        raise InvalidInput(
            f"The variable {ORG_URL} names the organisation already.", "Unset it, or use it without `org connect`."
        )
    if (folder := named_folder(url.strip(), resolved)) is not None:
        who = check_folder(vault, folder)
        _store(vault, str(folder))
        return str(folder), who
    address = hub_address(url.strip())
    who = ask(address, vault.settings.number("org.timeout_seconds"), identity)
    _store(vault, url.strip())
    return address.shown(), who


def disconnect_organisation(vault: Vault) -> bool:
    """Remove the address from the settings of this machine. Return whether there was one."""
    had = bool(vault.settings.words(_URL))
    if had:
        _store(vault, "")
    return had


def organisation_status(vault: Vault) -> OrganisationStatus:
    """Return the state of the connection. An organisation that does not answer is part of the answer."""
    if (folder := organisation_folder(vault)) is not None:
        return _vault_status(vault, folder)
    address = organisation_address(vault)
    marks = own_marks(vault)

    def read(connection: HubConnection) -> OrganisationStatus:
        who = identity(connection)
        own = _own_or_none(connection, marks)
        readable, promoted = readable_counts(connection)
        open_ones = promoted_facts(connection, own.vault) if own else {}
        listed = tuple((fact, scope, status) for fact, found in open_ones.items() for scope, status in found)
        return OrganisationStatus(address.shown(), who, own, readable, promoted, listed)

    try:
        return ask_organisation(vault, read)
    except RemoteFailed as problem:
        return OrganisationStatus(address.shown(), problem=problem)


def _vault_status(vault: Vault, folder: Path) -> OrganisationStatus:
    try:
        found = folder_status(vault, folder)
    except RemoteFailed as problem:
        return OrganisationStatus(str(folder), is_vault=True, problem=problem)
    own = tuple(
        (shared_fact.fact, ORGANISATION, shared_fact.status)
        for shared_fact, _ in own_shared(vault, found.shared)
        if shared_fact.is_open
    )
    return OrganisationStatus(str(folder), found.who, None, found.readable, found.promoted, own, is_vault=True)


def _url(vault: Vault) -> str:
    url = vault.environment.get(ORG_URL) or vault.settings.words(_URL)
    if not url:
        raise Refused("This vault is connected to no organisation.", "`clawmem org connect ADDRESS` connects it.")
    return url


def own_marks(vault: Vault) -> VaultMarks:
    """Return by what the hub knows a vault."""
    commits = vault.git.run("rev-list", f"--max-count={_COMMITS}", "HEAD").decode().split()
    remotes = (vault.git.try_run("config", "--get-regexp", r"^remote\..*\.url$") or b"").decode().splitlines()
    addresses = [url for line in remotes if not has_password(url := line.partition(" ")[2])]
    return VaultMarks((str(vault.root), *addresses), tuple(commits))


def own_vault(connection: HubConnection, marks: VaultMarks) -> OwnVault:
    """Return this vault as the hub knows it. Raise Refused if it is not there, or if several have the same history."""
    found = own_vaults(connection, marks)
    if not found:
        raise Refused(
            "The hub does not know this vault, or your role may not read it.",
            "The operator of the hub adds it with `clawmem hub vault add` and gives you its scope; then its worker"
            " takes it in.",
        )
    if len(found) > 1:
        names = ", ".join(own_vault.vault for own_vault in found)
        raise Refused(f"The hub has several copies of this vault: {names}.", "Its operator removes all but one.")
    return found[0]


def _own_or_none(connection: HubConnection, marks: VaultMarks) -> OwnVault | None:
    found = own_vaults(connection, marks)
    return found[0] if len(found) == 1 else None


def _store(vault: Vault, url: str) -> None:
    write_values(local_settings_file(vault), {_URL: url}, vault.settings.number("lock.wait_seconds"))


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
    if marks := run_query(vault, lambda index: marks_of(index, fact.id, fact.source_event or "")):
        says = f"{fact.id} is {', and '.join(mark.in_words for mark in marks)}, and a mark does not count there."
        raise Refused(says, f"`clawmem access mark {fact.id}` lets everybody see it.")
    if (folder := organisation_folder(vault)) is not None:
        number, status, is_new = promote_to_folder(vault, folder, caller, placed, scope)
        return PromoteResult(number, status, scope, is_new, withdraw_what_ended(vault, caller))
    known = own_marks(vault)
    gates = {verdict.gate: verdict.reason for verdict in verdicts}

    def work(connection: HubConnection) -> tuple[PromoteResult, dict[str, list[tuple[str, str]]], str]:
        own = own_vault(connection, known).vault
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
    """Withdraw those of some facts of this vault that were retracted or redacted here. Return their ids.

    One that is not here may be of another clone of the vault, whose commits this one has not received yet."""
    known = run_query(vault, lambda index: by_ids(index, shared)) if shared else {}
    gone = tuple(text for text in sorted(known) if _is_ended(known[text].fact))
    if gone:

        def withdraw(connection: HubConnection) -> None:
            for text in gone:
                withdraw_promotions(connection, own, text, WITHDRAWN_HERE)

        ask_organisation(vault, withdraw)
    return gone


def _is_ended(fact: Fact) -> bool:
    return fact.status == RETRACTED or bool((fact.metadata or {}).get("redacted"))
