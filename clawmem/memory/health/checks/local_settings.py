"""This machine's own settings: files that cannot be read, and what the vault suggests that is not in force here."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.records.layout import SETTINGS
from clawmem.model.settings.local import open_suggestions
from clawmem.vault.state.local_settings import own_files
from clawmem.vault.vault import Vault

CHECK = "own-settings"
_TRUST = "`clawmem config trust` shows what that means, and accepts it."


def own_settings_problems(vault: Vault) -> Iterator[HealthProblem]:
    """What is wrong with the files of this machine, and what is suggested and not accepted."""
    for own in own_files(vault):
        if not own.accepted:
            message = f"The vault was not accepted on this machine, so the file has no effect. {_TRUST}"
            yield HealthProblem(WARNING, CHECK, own.name, None, message)
            continue
        for message in dict.fromkeys(f"{one.message} {one.hint}" for one in own.wrong.values()):
            yield HealthProblem(ERROR, CHECK, own.name, None, message.removeprefix(f"{own.name}: "))
        for key in own.no_effect:
            message = f"'{key}' is no setting of a machine; it has no effect here."
            yield HealthProblem(WARNING, CHECK, own.name, None, message)
    try:
        settings = vault.settings
    except ClawmemError:
        return  # a newer format, which is told with the file itself
    for one in open_suggestions(settings):
        shown = str(one.suggested)[:200]
        message = f"{one.key} is suggested as '{shown}', which is not in force on this machine. {_TRUST}"
        yield HealthProblem(INFO, CHECK, SETTINGS, None, message)
