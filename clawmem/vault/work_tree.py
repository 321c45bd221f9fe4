"""Writing single files of the work tree."""

from __future__ import annotations

import os
from pathlib import Path

from clawmem.model.records.bounds import UnreadFile
from clawmem.vault.disk import staged_path
from clawmem.vault.vault import Vault


def update_file(vault: Vault, path: str, before: bytes | None, after: bytes | None) -> bool:
    """Change one file of the work tree from `before` to `after` (None: no file).

    Return False, and change nothing, if it contains neither: then somebody edited it.
    """
    if vault.obstacle(path) is not None:
        return after is None and before is None
    current = vault.read(path)
    if current == after:
        return True
    if current != before:
        return False
    write_file(vault, path, after)
    return True


def write_file(vault: Vault, path: str, content: bytes | None) -> None:
    """Write one file of the work tree. With None, remove it and the folders that are empty then."""
    target = vault.path(path)
    if isinstance(content, UnreadFile):
        _write_blob(vault, target, content.blob)
        return
    if content is not None:
        vault.disk.replace(target, content, vault.state)
        return
    vault.disk.remove(target)
    folder = target.parent
    while folder != vault.root:
        try:
            folder.rmdir()
        except OSError:
            return  # not empty, which is the usual end
        folder = folder.parent


def _write_blob(vault: Vault, target: Path, blob: str) -> None:
    """Write a file too large to be read, by letting git write it aside."""
    aside = staged_path(vault.state)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        aside.unlink(missing_ok=True)
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:  # noqa: PTH123
            for piece in vault.git.stream("cat-file", "blob", blob):
                file.write(piece)
        vault.disk.move(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
