"""The vault at one commit: read like the vault itself, never written.

Derived files are kept in `.git/clawmem/at/<commit>/`. Only the last few used commits are kept.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clawmem.errors import ClawmemError
from clawmem.model.records.layout import check_inside
from clawmem.model.settings.settings import LOCAL, Settings
from clawmem.vault.git.folder import check_folder, check_state_folder
from clawmem.vault.git.refs import Head
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.model.facts.catalog import Catalog

FOLDER = "at"
MAX_KEPT = 4


class VaultAt(Vault):
    """The vault at a commit, with the pages, settings and catalog of that commit.

    `notices` name what could not be read at that commit. The present version is used instead.
    """

    present: Vault

    def __init__(self, present: Vault, commit: str) -> None:
        self.root, self.git_dir, self.disk, self.git = present.root, present.git_dir, present.disk, present.git
        self.environment = present.environment
        self.present = present
        self.commit = commit
        self.viewer = present.viewer
        self.state = present.state / FOLDER / commit
        for folder in (self.state.parent, self.state):
            check_folder(folder, or_file=True)  # with a file in the way the index is kept in memory
        check_state_folder(self.state)
        self.notices: list[str] = []
        with suppress(OSError):  # not created yet, or a read-only disk, where nothing is evicted either
            os.utime(self.state)

    def head(self) -> Head:
        """Return the commit, with no branch."""
        return Head(None, self.commit)

    def read(self, name: str) -> bytes | None:
        """Return a file at the commit, or None if the commit does not contain it. Runs git."""
        check_inside(name)
        return self.contents_at(self.commit, [name])[name] if name.isprintable() else None

    @cached_property
    def vault_settings(self) -> Settings:
        """The settings in `clawmem.yaml` at the commit."""
        past = super().vault_settings
        problem = past.unread or next((error for key, error in past.wrong.items() if key not in LOCAL), None)
        if problem is None:
            return past
        self._notify(problem)
        return self.present.vault_settings

    @cached_property
    def catalog(self) -> Catalog:
        """The predicate catalog at the commit."""
        try:
            return super().catalog
        except ClawmemError as problem:
            self._notify(problem)
            return self.present.catalog

    def prepare_state(self) -> None:
        """Create the folder for files derived from this commit, and delete the least recently used ones."""
        if not self.state.is_dir():
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            _evict(self.state)

    def _state_of(self, name: str) -> list[Any] | None:
        return [self.commit]

    def _notify(self, problem: ClawmemError) -> None:
        self.notices.append(f"in {self.commit[:12]} {problem.message} The present version is used.")


def delete_past_state(vault: Vault) -> None:
    """Delete all files derived from past commits."""
    import shutil

    shutil.rmtree(vault.state / FOLDER, ignore_errors=True)


def _evict(newest: Path) -> None:
    import shutil

    others = [path for path in newest.parent.iterdir() if path != newest]
    for path in sorted(others, key=_used, reverse=True)[MAX_KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
