"""The options that filter facts, and the point in time for which a question is asked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Call
from clawmem.index.search.channels import FactFilter
from clawmem.model.language.dates import parse_state
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners
from clawmem.vault.vault import Vault


def filter_of(
    vault: Vault,
    caller: Caller,
    entity: str | None = None,
    category: str | None = None,
    tag: str | None = None,
    as_of: str | None = None,
    superseded: bool = False,
) -> FactFilter:
    """The filter for some options; an agent sees the global facts and its own.

    Raises InvalidInput where one is empty, and what `entity_asked` does where the entity is not one of this vault.
    """
    for name, value in (("entity", entity), ("category", category), ("tag", tag), ("as-of", as_of)):
        if value is not None and not value.strip():
            raise InvalidInput(f"--{name} is empty.", "Give it a value or leave it out.")
    if entity is not None:
        from clawmem.memory.entities.places import find_readable_entity  # most calls ask for no entity

        entity = find_readable_entity(vault, entity, caller)
    return FactFilter(
        owners=visible_owners(caller.agent, entity),
        entity=entity,
        category=category.lower() if category is not None else None,
        tag=tag,
        as_of=parse_state(as_of, caller.now) if as_of is not None else None,
        superseded=superseded,
    )


class PointInTime(NamedTuple):
    """The vault to read and who asks it, with the clock of that time; what the result has to say of it."""

    vault: Vault
    caller: Caller
    data: Mapping[str, Any] = MappingProxyType({})
    notices: tuple[str, ...] = ()


def point_in_time(call: Call, at: str | None) -> PointInTime:
    """Today's vault and caller, or those of the point that `at` names; raises where there is no such point."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if at is None:
        return PointInTime(vault, caller)
    from clawmem.memory.history.past import open_past  # only for a look at the past

    then = open_past(vault, caller, at)
    return PointInTime(then.vault, then.caller, {"at": then.point._asdict()}, then.notices)
