"""Connect a vault with a git address of the user's own, or join the memory that is there on a further machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import PERSON_RUNS, NotPermitted, Refused
from clawmem.index.refresh import run_query
from clawmem.index.tables.contents import row_counts
from clawmem.memory.sync.sync import SyncOptions, SyncResult, sync
from clawmem.model.records.caller import Caller
from clawmem.vault.exchange.create import clone_vault, create_vault, make_bare, refuse_readable
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress

_DRIVES = re.compile(
    r"dropbox( .*)?|onedrive.*|google ?drive.*|my drive|icloud ?drive|mobile documents|nextcloud|owncloud|"
    r"pcloud ?drive|mega(sync)?",
    re.IGNORECASE,
)


class Connection(NamedTuple):
    """The connected vault, the address as git has it, whether the vault was joined (the memory was there), the bare
    repository that was made, and the first sync."""

    vault: Vault
    address: str
    joined: bool
    made: Path | None
    sync: SyncResult


def connect(
    vault: Vault | None, root: Path, address: str, caller: Caller, environment: Mapping[str, str],
    on_progress: OnProgress | None = None,
) -> Connection:  # fmt: skip
    """Connect the vault at `root` with an address and sync. Without a vault there, join the memory at the address, or
    create one. A path where nothing is becomes a bare repository.

    Raise NotPermitted for an agent, Refused for an address that everybody can read, that is on a synced drive or is no
    vault, or where git has another one, and RemoteFailed if it cannot be reached. Only a new vault is left then.
    """
    if caller.agent is not None or caller.shell is not None:
        raise NotPermitted("Only a person says where a memory is sent to.", PERSON_RUNS)
    _refuse_synced_drive(root)
    made = None
    if ":" not in address.partition("/")[0]:
        folder = Path(address).expanduser().resolve()
        _refuse_synced_drive(folder)
        made = None if folder.exists() else folder
        address = str(folder)
    elif address.startswith(("http://", "https://")):
        refuse_readable(address, environment)
    try:
        if made is not None:
            make_bare(made, environment)
        joined = vault is None and clone_vault(root, address, environment, on_progress)
        vault = Vault(root, environment) if joined else vault or create_vault(root, environment, caller.now)
        return Connection(vault, address, joined, made, _first_sync(vault, address, caller, on_progress))
    except BaseException:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise


def _refuse_synced_drive(folder: Path) -> None:
    for place in (folder, *folder.parents):
        if _DRIVES.fullmatch(place.name) or (place / ".stfolder").exists():
            raise Refused(
                f"{folder} is on a drive that a program syncs ({place.name}). It copies files one by one, and two"
                " machines that write at once would damage a git repository.",
                "Keep the vault outside, and use a git host, or a folder on a disk or server that is not copied.",
            )


def _first_sync(vault: Vault, address: str, caller: Caller, on_progress: OnProgress | None) -> SyncResult:
    """Add the remote and sync. If that fails, the remote is removed again."""
    vault.check_writable()
    name = vault.settings.words("sync.remote")
    present = (vault.git.try_run("config", f"remote.{name}.url") or b"").decode().strip()
    if present and present != address:
        raise Refused(
            f"This vault is connected with {present} already.",
            f"To change that: `git -C {vault.root} remote set-url {name} {address}`.",
        )
    if not present:
        vault.git.run("remote", "add", name, address)
    try:
        # A vault in which nothing is yet takes what is there.
        is_empty = run_query(vault, lambda index: row_counts(index)[:2] == (0, 0))
        result = sync(vault, caller, SyncOptions(allow_unrelated=is_empty), on_progress)
        if result.problem is not None:
            raise result.problem
        # A plain `git pull` and `git push` of a person know where to.
        own = (vault.head().branch or "").removeprefix("refs/heads/")
        vault.git.run("config", f"branch.{own}.remote", name)
        vault.git.run("config", f"branch.{own}.merge", f"refs/heads/{result.branch}")
    except BaseException:
        if not present:
            vault.git.run("remote", "remove", name)
        raise
    return result
