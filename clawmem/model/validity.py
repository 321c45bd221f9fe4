"""When facts stop being true: where a successor begins, never before they began themselves."""

from __future__ import annotations

from clawmem.model.fact import Fact


def ended_at(old: Fact, since: str) -> str:
    """The end of a fact's validity once something else is true from `since` on."""
    end = since if old.valid_to is None or old.valid_to > since else old.valid_to
    if old.valid_from is not None and end < old.valid_from:
        return old.valid_from
    return end
