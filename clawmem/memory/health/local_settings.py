"""What a person decides of this machine's own settings: their values, and whether suggestions are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import NotPermitted, Refused, StorageFailed
from clawmem.memory.health.yaml_edit import with_value
from clawmem.model.records.caller import Caller
from clawmem.model.settings.local import (
    HERE,
    SettingSuggestion,
    data_flows,
    in_force,
    open_suggestions,
    read_local_settings,
    with_suggestions,
)
from clawmem.model.settings.settings import Settings
from clawmem.model.settings.values import Value
from clawmem.vault.git.acceptance import accept, forget, is_accepted
from clawmem.vault.state.local_settings import (
    SettingsFile,
    changing,
    forget_parsed,
    local_place,
    own_files,
    parse_own,
    read_own,
    write_own,
)
from clawmem.vault.vault import Vault


class Proposed(NamedTuple):
    """What a vault suggests: whether it was accepted on this machine, each value that is suggested and not in force,
    and what would leave the machine with them, in sentences."""

    accepted: bool
    differences: tuple[SettingSuggestion, ...]
    reached: tuple[str, ...]


def proposed(vault: Vault) -> Proposed:
    """What `accept_proposed` would put in force. Everything is read anew, as an earlier reading may be a stranger's.
    Raises what is wrong with a file that it depends on."""
    if vault.stated.unread is not None:
        raise vault.stated.unread
    accepted = is_accepted(vault.git_dir, vault.environment)
    settings = vault.settings if accepted else _settings_of_copy(vault)
    found = open_suggestions(settings)
    return Proposed(accepted, found, data_flows(with_suggestions(settings)) if found else ())


def _settings_of_copy(vault: Vault) -> Settings:
    """The settings of a vault that was not accepted, whose `local.yaml` suggests, too."""
    place = local_place(vault)
    text = read_own(place)
    if text is None:
        return vault.settings
    own = read_local_settings(parse_own(place, text), HERE, place.name, accepted=False)
    for problem in own.wrong.values():
        raise problem
    return in_force(vault.stated, [own, *(one for one in own_files(vault) if one.origin != HERE)])


def accept_proposed(vault: Vault, caller: Caller, wanted: Proposed) -> str:
    """Put what was shown in force on this machine, and record the vault as accepted; the file that has it now.

    A later change of a suggestion has no effect: the values are copied.
    """
    check_person(caller, "What a vault suggests")
    place = local_place(vault)
    put_values(place, {one.key: one.suggested for one in wanted.differences}, _wait(vault))
    if not wanted.accepted:
        forget_parsed(place)
        _recorded(vault, accepted=True)
    return place.name


def withdraw(vault: Vault, caller: Caller) -> bool:
    """Take the acceptance of the vault back; whether there was one. `local.yaml` stays, and has no effect."""
    check_person(caller, "The acceptance of a vault")
    accepted = is_accepted(vault.git_dir, vault.environment)
    if accepted:
        _recorded(vault, accepted=False)
    return accepted


def check_person(caller: Caller, what: str) -> None:
    """Raise NotPermitted where an agent would decide what reaches outside."""
    if caller.agent is not None:
        raise NotPermitted(
            f"{what} decides what leaves this machine, so a person decides it, and no agent.",
            "A person runs the command without --agent and CLAWMEM_AGENT.",
        )


def check_accepted(vault: Vault) -> None:
    """Raise Refused where nobody accepted the vault here, as its `local.yaml` would have no effect."""
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so it can have no settings of its own here.",
            "`clawmem config trust` shows what it suggests and accepts it; `--user` sets the value for all vaults.",
        )


def put_values(place: SettingsFile, values: Mapping[str, Value], wait: float) -> Mapping[str, Value]:
    """Write values into one of the machine's files, comments kept; what it said before. Nothing is written where it
    says all of them already. Raises what is wrong with the file, but for the values that are replaced."""
    try:
        with changing(place, wait):
            text = read_own(place) or ""
            before = read_local_settings(parse_own(place, text), place.origin, place.name)
            for problem in (one for key, one in before.wrong.items() if key not in values):
                raise problem
            new = text
            for key, value in values.items():
                new = with_value(new, key, value, place.name) if before.values.get(key) != value else new
            if new != text:
                write_own(place, new)
            return before.values
    except OSError as problem:
        raise StorageFailed(f"{place.name} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem


def _recorded(vault: Vault, accepted: bool) -> None:
    try:
        (accept if accepted else forget)(vault.git_dir, vault.environment)
    except OSError as problem:
        raise StorageFailed(
            f"Which vaults are accepted cannot be written: {problem.strerror}.",
            "Make the user's configuration folder writable, or name another with XDG_CONFIG_HOME.",
        ) from problem


def _wait(vault: Vault) -> float:
    return vault.settings.number("lock.wait_seconds")
