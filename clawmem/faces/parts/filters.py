"""The options that filter facts, and the point in time for which a question is asked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Call
from clawmem.index.search.channels import FactFilter
from clawmem.model.language.dates import day_of, parse_end, parse_start, parse_state
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
    since: str | None = None,
    until: str | None = None,
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
    first, last = _days(since, until, caller)
    return FactFilter(
        owners=visible_owners(caller.agent, entity),
        entity=entity,
        category=category.lower() if category is not None else None,
        tag=tag,
        as_of=parse_state(as_of, caller.now) if as_of is not None else None,
        superseded=superseded,
        since=first,
        until=last,
    )


def _days(since: str | None, until: str | None, caller: Caller) -> tuple[str | None, str | None]:
    """The first and the last day that are asked for. Raise InvalidInput where the last is before the first."""
    first = day_of(parse_start(since, caller.now)) if since is not None else None
    last = day_of(parse_end(until, caller.now)) if until is not None else None
    if first and last and last < first:
        raise InvalidInput(f"--until ({last}) is before --since ({first}).", "Swap the two dates, or drop one.")
    return first, last


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
