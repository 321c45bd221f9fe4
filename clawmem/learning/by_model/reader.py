"""The program of a harness as the reader of this machine: tried before it is set; what it replaced is put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.learning.by_model.trial import try_model
from clawmem.llm.choice import choose_model
from clawmem.llm.presets import PRESETS
from clawmem.memory.health.configure import PRESET
from clawmem.memory.health.local_settings import check_accepted, check_person, write_values
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.settings.model_names import COMMAND
from clawmem.model.settings.settings import BY_KEY
from clawmem.vault.state.local_settings import local_settings_file
from clawmem.vault.state.spending import UseMeter
from clawmem.vault.vault import Vault


class TriedReader(NamedTuple):
    """The settings of this machine before, if the program answered and is set now; else why it cannot read."""

    former: Mapping[str, Any] = {}
    problem: ClawmemError | None = None


def preset_of(harness: str) -> str | None:
    """Return the preset that runs the program of a harness, or None if it has none without tools and sessions."""
    return next((name for name, preset in PRESETS.items() if preset.harness == harness), None)


def try_reader(vault: Vault, caller: Caller, preset: str) -> TriedReader:
    """Ask the program of a preset one short question, and make it the model of this machine if it answers.

    Raise NotPermitted for an agent, and Refused if the vault was not accepted on this machine."""
    check_person(caller, PRESET)
    check_accepted(vault)
    wanted = {PRESET: preset, "llm.model": COMMAND, "llm.command": ""}
    model = choose_model(vault.settings._replace(values={**vault.settings.values, **wanted}), vault.environment)
    assert model is not None
    meter = UseMeter(vault, stamp(caller.now)[:10])
    problem = try_model(vault, caller, model._replace(meter=meter)).problem
    if problem is not None:
        return TriedReader(problem=problem)
    former = write_values(local_settings_file(vault), wanted, vault.settings.number("lock.wait_seconds"))
    return TriedReader({key: former.get(key, BY_KEY[key].default) for key in wanted})


def restore_reader(vault: Vault, former: Mapping[str, Any]) -> None:
    """Put the settings of this machine back as they were before `try_reader`."""
    write_values(local_settings_file(vault), former, vault.settings.number("lock.wait_seconds"))
