"""Setting HEAD of a remote repository, which a clone checks out, after the first push to it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from clawmem.vault.exchange.remote import Remote
from clawmem.vault.exchange.remote_process import run_remote_git
from clawmem.vault.git.git import Git
from clawmem.vault.vault import Vault


def set_remote_head(vault: Vault, remote: Remote, branch: str, seconds: float) -> str | None:
    """Make clones of a repository check out the branch that was just pushed, as git hosts do by themselves.

    If it is a bare repository on this machine, its HEAD is set to that branch. Return a notice about what was done or
    is left to do, or None.
    """
    if not _has_no_head(vault, remote, seconds):
        return None
    order = ("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    place = _bare_here(vault, remote)
    if place is not None and Git(Path(place), vault.git.environment).try_run("--git-dir=.", *order) is not None:
        return (
            f"HEAD of {remote.name} named a branch that does not exist;"
            f" it now names {branch}, so that clones check it out"
        )
    command = shlex.join(("git", *(["-C", place] if place else []), *order))
    return (
        f"HEAD of {remote.name} names a branch that does not exist, so a clone checks nothing out: run `{command}`"
        f"{'' if place else ' in it'}, or clone with `git clone --branch {branch}`"
    )


def _has_no_head(vault: Vault, remote: Remote, seconds: float) -> bool:
    with vault.git.with_environment(remote.variables):
        output = run_remote_git(vault.git, ("ls-remote", "--", remote.name, "HEAD"), seconds)
    return output.code == 0 and not output.printed.strip()


def _bare_here(vault: Vault, remote: Remote) -> str | None:
    """Return the folder of the remote, if it is a bare repository on a disk of this machine."""
    with vault.git.with_user_config():
        url = vault.git.try_run("ls-remote", "--get-url", remote.name) or b""
    place = os.path.join(vault.root, os.fsdecode(url).rstrip("\n").removeprefix("file://"))  # noqa: PTH118 - may be an address
    if not Path(place).is_dir():
        return None
    bare = Git(Path(place), vault.git.environment).try_run("--git-dir=.", "rev-parse", "--is-bare-repository")
    return place if (bare or b"").strip() == b"true" else None
