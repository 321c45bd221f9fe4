"""The options that choose facts, made into one filter."""

from __future__ import annotations

from clawmem.errors import InvalidInput
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
            raise InvalidInput(f"--{name} is empty.", "Give it a value, or leave it out to choose by anything.")
    if entity is not None:
        from clawmem.memory.entities.places import entity_asked  # most calls ask for no entity

        entity = entity_asked(vault, entity, caller)
    return FactFilter(
        owners=visible_owners(caller.agent, entity),
        entity=entity,
        category=category.lower() if category is not None else None,
        tag=tag,
        as_of=parse_state(as_of, caller.now) if as_of is not None else None,
        superseded=superseded,
    )
