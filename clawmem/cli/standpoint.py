"""Where a question is asked from: today, or with --at a point in the past."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.cli.face import Face
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

AT_HELP = "What the vault knew at this commit or date; a day, month or year counts to its end."
AS_OF_HELP = "What was true then, as we know now; of a month or year, at its end."


class Standpoint(NamedTuple):
    """The vault to read and who asks it, with the clock of that time; what the result has to say of it."""

    vault: Vault
    caller: Caller
    data: Mapping[str, Any] = MappingProxyType({})
    notices: tuple[str, ...] = ()


def standpoint(face: Face, at: str | None) -> Standpoint:
    """Today's vault and caller, or those of the point that `at` names; raises where there is no such point."""
    vault, caller = face.runtime.vault(), face.runtime.caller()
    if at is None:
        return Standpoint(vault, caller)
    from clawmem.memory.history.past import open_past  # only for a look at the past

    then = open_past(vault, caller, at)
    return Standpoint(then.vault, then.caller, {"at": then.point._asdict()}, then.notices)
