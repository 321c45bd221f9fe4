"""Writing single files of the work tree."""

from __future__ import annotations

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
