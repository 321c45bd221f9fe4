"""What the checks of extensions find, and which accepted extension cannot be used."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.errors import ExtensionUnusable
from clawmem.extension import extensions, load_foreign, named, read_accepted
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.vault.vault import Vault


def extension_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield the problems of extensions."""
    for name, reference in read_accepted().items():
        try:
            load_foreign(name, reference)
        except ExtensionUnusable as problem:
            yield HealthProblem(WARNING, "extension", None, None, f"{problem.message} {problem.hint}")
    for extension in extensions():
        for check in extension.checks:
            yield from named(check)(vault)
