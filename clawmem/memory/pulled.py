"""Facts that were pulled from the organisation are read-only: only a pull changes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clawmem.errors import Refused
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.pulled import origin_of
from clawmem.model.records.change import Change
from clawmem.model.records.entity import ITEMS

if TYPE_CHECKING:
    from clawmem.memory.scope import WriteScope

_PULL = "org-pull"


def check_pulled(work: WriteScope, changes: Sequence[Change], purpose: str) -> None:
    """Raise Refused if a change alters, moves or removes a pulled fact. How often it was used may change."""
    if purpose == _PULL:
        return
    for change in changes:
        for path, data in change.writes.items():
            if path.endswith(ITEMS):
                _compare(_pulled(work.read(path), path), _pulled(data, path))


def _compare(before: dict[str, Fact], after: dict[str, Fact]) -> None:
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            raise Refused(
                f"{name} is a fact of the organisation, which is read-only here.",
                "Its own vault changes it; `clawmem org pull` brings the change. State a fact of your own beside it.",
            )


def _pulled(data: bytes | None, path: str) -> dict[str, Fact]:
    facts = parse_items(data, path) if data is not None else ()
    return {fact.id: fact._replace(access_count=0, last_accessed=None) for fact in facts if origin_of(fact) is not None}
