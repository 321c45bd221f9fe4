"""The files of a commit of any repository, written to a folder. Its hooks, filters and settings do not run."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from clawmem.vault.git.git import Git


def resolve_commit(root: Path, environment: Mapping[str, str], named: str) -> str | None:
    """Return the hash of the commit that a name means in a repository, or None."""
    found = Git(root, environment).try_run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}"
    )
    return found.decode().strip() if found else None


def write_snapshot(root: Path, environment: Mapping[str, str], commit: str, target: Path) -> None:
    """Write the files of a commit, given by its hash, to a folder. Links that lead out of it are refused."""
    data = Git(root, environment).run("archive", "--format=tar", commit)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(target, filter="data")
