"""The commands that a person allowed here: `.git/clawmem/allowed-commands.json`.

The file is no part of the vault: no commit, sync or pull brings it. It has no effect in a copy of the vault, which the
user did not accept on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from clawmem.errors import InvalidInput, Refused, StorageFailed, Unreadable
from clawmem.model.forms import read_record, to_record
from clawmem.model.records.allowed_command import AllowedCommand
from clawmem.vault.disk import writer_lock
from clawmem.vault.git.acceptance import is_accepted
from clawmem.vault.vault import Vault

FILE = "allowed-commands.json"
NAME = f".git/clawmem/{FILE}"


def read_allowed(vault: Vault) -> tuple[AllowedCommand, ...]:
    """Return the allowed commands, oldest first. Raise Unreadable, and Refused for a link or an unaccepted vault."""
    path = vault.state / FILE
    if path.is_symlink():
        raise Refused(f"{NAME} is a symbolic link.", f"Delete it. {_AGAIN}")
    data = vault.disk.read(path)
    if data is None:
        return ()
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so the commands allowed in it have no effect.",
            "`clawmem config trust` accepts it. Look at `clawmem evaluate allow --list` afterwards.",
        )
    try:
        return tuple(read_record(AllowedCommand, command) for command in json.loads(data)["commands"])
    except (ValueError, TypeError, KeyError, RecursionError, InvalidInput) as problem:
        unread = Unreadable(NAME, None, f"it is not a list of allowed commands ({problem})")
        unread.hint = f"Delete it. {_AGAIN}"
        raise unread from None


def change_allowed(
    vault: Vault, purpose: str, changed: Callable[[tuple[AllowedCommand, ...]], Sequence[AllowedCommand]]
) -> None:
    """Replace the allowed commands under the writer lock.

    Raise Locked, StorageFailed, and what `read_allowed` raises.
    """
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so no command can be allowed in it.",
            "`clawmem config trust` shows what it suggests, and accepts it.",
        )
    try:
        vault.prepare_state()
        with writer_lock(vault.state / "lock", vault.settings.number("lock.wait_seconds"), purpose):
            records = [to_record(command, ()) for command in changed(read_allowed(vault))]
            text = json.dumps({"commands": records}, indent=1) + "\n"
            vault.disk.replace(vault.state / FILE, text.encode(), vault.state)
    except OSError as problem:
        raise StorageFailed(f"{NAME} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem


_AGAIN = "A person allows the commands again with `clawmem evaluate allow COMMAND`."
