"""Local settings: a person sets them, or accepts the suggestions of a vault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import PERSON_RUNS, NotPermitted, Refused, StorageFailed
from clawmem.memory.yaml_edit import with_value
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
from clawmem.vault.disk import writer_lock
from clawmem.vault.git.acceptance import accept, is_accepted, revoke_acceptance
from clawmem.vault.git.config import shown
from clawmem.vault.state.local_settings import (
    SettingsFile,
    delete_parsed_cache,
    local_settings_file,
    machine_settings,
    parse_settings_text,
    read_settings_text,
    settings_lock,
    write_settings_text,
)
from clawmem.vault.state.own_commits import disown
from clawmem.vault.vault import Vault


class SettingsProposal(NamedTuple):
    """What a vault suggests: whether it was accepted on this machine, each value that is suggested and not in force,
    what would leave the machine with them, in sentences, and the settings of its git configuration that `sync` would
    use from then on."""

    accepted: bool
    differences: tuple[SettingSuggestion, ...]
    reached: tuple[str, ...]
    git: tuple[str, ...] = ()


def proposed_settings(vault: Vault) -> SettingsProposal:
    """Return what `accept_settings` would set. All files are read again, because cached values may be of another vault.

    Raise the problem of a settings file, for example Unreadable."""
    if vault.vault_settings.unread is not None:
        raise vault.vault_settings.unread
    accepted = is_accepted(vault.git_dir, vault.environment)
    settings = vault.settings if accepted else _settings_of_copy(vault)
    found = open_suggestions(settings)
    hidden = tuple(dict.fromkeys(shown(ignored_setting) for ignored_setting in vault.git.ignored_settings()))
    return SettingsProposal(accepted, found, data_flows(with_suggestions(settings)) if found else (), hidden)


def _settings_of_copy(vault: Vault) -> Settings:
    """Return the settings of a vault that was not accepted. Its `local.yaml` counts as suggestions."""
    place = local_settings_file(vault)
    text = read_settings_text(place)
    if text is None:
        return vault.settings
    own = read_local_settings(parse_settings_text(place, text), HERE, place.name, accepted=False)
    for problem in own.wrong.values():
        raise problem
    return in_force(
        vault.vault_settings,
        [own, *(machine_setting for machine_setting in machine_settings(vault) if machine_setting.origin != HERE)],
    )


def accept_settings(vault: Vault, wanted: SettingsProposal) -> str:
    """Copy the suggested values to this machine, and record the vault as accepted. Return the name of the file.

    The commits of a vault from elsewhere stay another's: `review trust` accepts their authors.
    Later changes of the suggestions have no effect.
    """
    place, wait = local_settings_file(vault), vault.settings.number("lock.wait_seconds")
    write_values(place, {difference.key: difference.suggested for difference in wanted.differences}, wait)
    if not wanted.accepted:
        delete_parsed_cache(place)
        if vault.is_foreign:
            vault.prepare_state()
            with writer_lock(vault.state / "lock", wait, "trust"):
                disown(vault)
        _record_acceptance(vault, accepted=True)
        vault.is_foreign = False
    return place.name


def withdraw_acceptance(vault: Vault) -> bool:
    """Withdraw the acceptance of the vault. Return whether it was accepted. `local.yaml` stays without effect."""
    accepted = is_accepted(vault.git_dir, vault.environment)
    if accepted:
        _record_acceptance(vault, accepted=False)
    return accepted


def check_person(caller: Caller, what: str) -> None:
    """Raise NotPermitted if the caller is an agent."""
    if caller.agent is not None:
        does = "says who decides in review" if what.startswith("review.") else "decides which data leaves this machine"
        raise NotPermitted(
            f"{what} {does}, so only a person may change it, and {caller.agent} is an agent.", PERSON_RUNS
        )


def check_accepted(vault: Vault) -> None:
    """Raise Refused if the vault was not accepted here, because its `local.yaml` would have no effect."""
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so it cannot have local settings here.",
            "`clawmem config trust` shows what it suggests and accepts it; `--user` sets the value for all vaults.",
        )


def write_values(place: SettingsFile, values: Mapping[str, Value], wait: float) -> Mapping[str, Value]:
    """Write values to a local settings file and return its former values. Comments are kept.

    Nothing is written if no value changes. Raise the problems of the file, except those of the replaced values."""
    try:
        with settings_lock(place, wait):
            text = read_settings_text(place) or ""
            before = read_local_settings(parse_settings_text(place, text), place.origin, place.name)
            for problem in (error for key, error in before.wrong.items() if key not in values):
                raise problem
            new = text
            for key, value in values.items():
                new = with_value(new, key, value, place.name) if before.values.get(key) != value else new
            if new != text:
                write_settings_text(place, new)
            return before.values
    except OSError as problem:
        raise StorageFailed(f"{place.name} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem


def _record_acceptance(vault: Vault, accepted: bool) -> None:
    try:
        (accept if accepted else revoke_acceptance)(vault.git_dir, vault.environment)
    except OSError as problem:
        raise StorageFailed(
            f"The list of accepted vaults cannot be written: {problem.strerror}.",
            "Make your configuration folder writable, or set XDG_CONFIG_HOME to another one.",
        ) from problem
