"""Check the local settings files, and report suggested settings that are not used here."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.records.layout import SETTINGS
from clawmem.model.settings.local import open_suggestions
from clawmem.vault.git.config import shown as shown_entry
from clawmem.vault.state.local_settings import machine_settings
from clawmem.vault.vault import Vault

LOCAL_SETTINGS = "own-settings"
_TRUST = "`clawmem config trust` shows the effect and accepts it."


def local_settings_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield problems of the local settings files, and suggestions that were not accepted."""
    for own in machine_settings(vault):
        if not own.accepted:
            message = f"The vault was not accepted on this machine, so the file has no effect. {_TRUST}"
            yield HealthProblem(WARNING, LOCAL_SETTINGS, own.name, None, message)
            continue
        for message in dict.fromkeys(f"{error.message} {error.hint}" for error in own.wrong.values()):
            yield HealthProblem(ERROR, LOCAL_SETTINGS, own.name, None, message.removeprefix(f"{own.name}: "))
        for key in own.no_effect:
            message = f"'{key}' is not a local setting; it has no effect here."
            yield HealthProblem(WARNING, LOCAL_SETTINGS, own.name, None, message)
    try:
        settings = vault.settings
    except ClawmemError:
        return  # a newer format, which is reported with the file
    for suggestion in open_suggestions(settings):
        value = str(suggestion.suggested)[:200]
        message = f"{suggestion.key} is suggested as '{value}', which this machine does not use. {_TRUST}"
        yield HealthProblem(INFO, LOCAL_SETTINGS, SETTINGS, None, message)
    for named in dict.fromkeys(shown_entry(ignored_setting) for ignored_setting in vault.git.ignored_settings()):
        message = f"git's setting {named} is not used, as this vault was not accepted on this machine. {_TRUST}"
        yield HealthProblem(INFO, LOCAL_SETTINGS, ".git/config", None, message)
