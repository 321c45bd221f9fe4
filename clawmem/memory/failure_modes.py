"""The failure modes of a vault: the built-in ones, and what its own file says."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from clawmem.errors import ClawmemError, IncompleteAnswer, NotFound
from clawmem.model.records.failure import MODES_PATH, FailureMode, parse_modes, with_own
from clawmem.vault.exchange.create import template_folder
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class KnownModes(NamedTuple):
    """The modes by id, and a notice if the vault's own file cannot be read, so that only the built-in ones are
    known."""

    modes: dict[str, FailureMode]
    notices: tuple[str, ...] = ()


@cache
def built_in_modes() -> dict[str, FailureMode]:
    """Return the modes that the template of a vault defines."""
    return parse_modes((template_folder() / MODES_PATH).read_bytes(), MODES_PATH, parse_yaml)


def read_modes(vault: Vault) -> KnownModes:
    """Return the failure modes of the vault."""
    try:
        data = vault.read(MODES_PATH)
        return KnownModes(with_own(built_in_modes(), parse_modes(data, MODES_PATH, parse_yaml) if data else {}))
    except ClawmemError as problem:
        return KnownModes(dict(built_in_modes()), (IncompleteAnswer(problem.message),))


def find_mode(known: KnownModes, name: str) -> FailureMode:
    """Return a mode. Raise NotFound, naming the existing ones."""
    if name not in known.modes:
        raise NotFound(
            f"There is no failure mode '{name}'.",
            f"The modes are {', '.join(known.modes)}. More can be added to {MODES_PATH}.",
        )
    return known.modes[name]
