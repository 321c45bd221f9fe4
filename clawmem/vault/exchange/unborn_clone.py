"""Clones of a vault in which git has checked out nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clawmem.errors import GitFailed, Refused
from clawmem.model.records.layout import SETTINGS
from clawmem.vault.git.refs import git_dir_of, read_head


def unborn_clone(root: Path, environment: Mapping[str, str]) -> str | None:
    """Return the branch to switch to, if the folder is a clone whose HEAD names a branch that does not exist, else
    None.

    Runs git only if HEAD has no commit.
    """
    git_dir = git_dir_of(root)
    try:
        if git_dir is None or read_head(git_dir).commit is not None:
            return None
    except GitFailed:
        pass  # the branch of HEAD is missing and others exist, as in such a clone
    except (Refused, OSError):
        return None
    return _branch_with_a_vault(root, environment)


def _branch_with_a_vault(root: Path, environment: Mapping[str, str]) -> str | None:
    from clawmem.vault.git.git import Git

    git = Git(root, environment)
    if git.try_run("rev-parse", "--quiet", "--verify", "HEAD") is not None:
        return None
    names = (git.try_run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/remotes") or b"").decode().split()
    found = (name for name in names if git.try_run("cat-file", "-e", f"refs/remotes/{name}:{SETTINGS}") is not None)
    return next((name.partition("/")[2] for name in found), None)
