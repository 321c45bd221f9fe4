"""Copy the committed state of a vault to another folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clawmem.vault.exchange.create import configure_repository
from clawmem.vault.git.git import Git
from clawmem.vault.vault import Vault


def copy_vault(own: Vault, root: Path, environment: Mapping[str, str]) -> None:
    """Clone the vault into a new folder, without its remotes. What is local to the machine stays behind."""
    own.git.run("clone", "--quiet", "--no-hardlinks", "--", str(own.root), str(root))
    git = Git(root, environment)
    git.run("remote", "remove", "origin")
    configure_repository(git)
    (root / ".git" / "clawmem").mkdir(mode=0o700, exist_ok=True)
