"""Extensions of other distributions: find them, and accept one on this machine. Nothing here imports one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import NamedTuple

from clawmem.errors import ExtensionUnusable, NotFound, StorageFailed
from clawmem.extension import ACCEPTED_FILE, GROUP, OWN, extensions, load_foreign, named, read_accepted
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.vault.disk import Disk
from clawmem.vault.git.acceptance import user_folder
from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault

_WAIT_SECONDS = 10.0


class FoundExtension(NamedTuple):
    """An extension of another distribution: where its value is, as `module:name`, and whether it was accepted."""

    name: str
    reference: str
    distribution: str
    version: str
    accepted: bool


def found_extensions() -> tuple[FoundExtension, ...]:
    """Return the installed extensions of other distributions by name."""
    accepted = read_accepted()
    found = {
        entry.name: FoundExtension(
            entry.name,
            entry.value,
            entry.dist.name if entry.dist else "",
            entry.dist.version if entry.dist else "",
            accepted.get(entry.name) == entry.value,
        )
        for entry in entry_points(group=GROUP)
        if entry.name not in OWN
    }
    return tuple(found[name] for name in sorted(found))


def find_extension(name: str) -> FoundExtension:
    """Return an installed extension. Raise NotFound."""
    found = next((extension for extension in found_extensions() if extension.name == name), None)
    if found is None:
        raise NotFound(
            f"No installed distribution has an extension '{name}'.", "`clawmem config extension` lists those there are."
        )
    return found


def accept_extension(environment: Mapping[str, str], extension: FoundExtension) -> str:
    """Accept an extension for all vaults of this user on this machine. Return the file that says so."""
    return _write(environment, {**read_accepted(), extension.name: extension.reference})


def withdraw_extension(environment: Mapping[str, str], name: str) -> bool:
    """Withdraw the acceptance of an extension, also of one that is gone. Return whether it had one."""
    accepted = read_accepted()
    if name not in accepted:
        return False
    _write(environment, {other: reference for other, reference in accepted.items() if other != name})
    return True


def _write(environment: Mapping[str, str], accepted: Mapping[str, str]) -> str:
    folder = user_folder(environment)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writer_lock(folder / "extensions.lock", _WAIT_SECONDS, "config extension"):
            text = json.dumps(accepted, indent=1, sort_keys=True) + "\n"
            Disk().replace(folder / ACCEPTED_FILE, text.encode(), folder)
    except OSError as problem:
        raise StorageFailed(f"{folder} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem
    return str(folder / ACCEPTED_FILE)


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
