"""The organisation that a vault is connected to: its address, who asks there, and which vault this one is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clawmem.errors import InvalidInput, Refused, RemoteFailed
from clawmem.extensions.hub.organisation_vault import check_folder, folder_status, named_folder, own_shared
from clawmem.extensions.hub.postgres.connect import HubAddress, ask, hub_address
from clawmem.extensions.hub.postgres.organisation import (
    HubIdentity,
    OwnVault,
    VaultMarks,
    identity,
    own_vaults,
    promoted_facts,
    readable_counts,
)
from clawmem.memory.health.local_settings import check_accepted, write_values
from clawmem.model.facts.reach import ORGANISATION
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


def is_connected(vault: Vault) -> bool:
    """Return whether the environment or the settings of this machine name an organisation."""
    return bool(vault.environment.get(ORG_URL) or vault.settings.words(_URL))


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
