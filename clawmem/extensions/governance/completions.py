"""The values that a shell is offered for parameters of this extension."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.extensions.governance.principles import read_principles
from clawmem.extensions.governance.suites.store import suite_names
from clawmem.runtime import Runtime


def suites(runtime: Runtime, prefix: str, before: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of suites that begin with the word at the cursor."""
    return [(name, "") for name in suite_names(runtime.vault()) if name.startswith(prefix)]


def principles(runtime: Runtime, prefix: str, before: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ids of principles that begin with the word at the cursor, with their rules."""
    return [
        (principle.id, principle.rule)
        for principle in read_principles(runtime.vault())
        if principle.id.startswith(prefix)
    ]
