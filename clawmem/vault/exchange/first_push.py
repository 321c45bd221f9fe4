"""The HEAD of another repository, which a clone checks out, after the first push to it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from clawmem.vault.exchange.remote import Remote
from clawmem.vault.exchange.remote_process import run_remote_git
from clawmem.vault.git.git import Git
from clawmem.vault.vault import Vault


def set_remote_head(vault: Vault, remote: Remote, branch: str, seconds: float) -> str | None:
    """Make clones of a repository that just got its first branch check it out, as hosts of git do by themselves: where
    it is a bare one on a disk here, its HEAD is let name that branch. What was done or is to be done, None where
    nothing is."""
    if not _leads_nowhere(vault, remote, seconds):
        return None
    order = ("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    place = _bare_here(vault, remote)
    if place is not None and Git(Path(place), vault.git.environment).try_run("--git-dir=.", *order) is not None:
        return f"HEAD of {remote.name} named no branch that is there; it names {branch} now, as clones check that out"
    command = shlex.join(("git", *(["-C", place] if place else []), *order))
    return (
        f"HEAD of {remote.name} names no branch that is there, so a clone checks nothing out: run `{command}`"
        f"{'' if place else ' in it'}, or clone with `git clone --branch {branch}`"
    )


def _leads_nowhere(vault: Vault, remote: Remote, seconds: float) -> bool:
    with vault.git.with_environment(remote.variables):
        said = run_remote_git(vault.git, ("ls-remote", "--", remote.name, "HEAD"), seconds)
    return said.code == 0 and not said.printed.strip()


def _bare_here(vault: Vault, remote: Remote) -> str | None:
    """The folder of the other repository, where it is a bare one on a disk of this machine."""
    with vault.git.with_user_config():
        told = vault.git.try_run("ls-remote", "--get-url", remote.name) or b""
    place = os.path.join(vault.root, os.fsdecode(told).rstrip("\n").removeprefix("file://"))  # noqa: PTH118 - a text
    if not Path(place).is_dir():
        return None
    bare = Git(Path(place), vault.git.environment).try_run("--git-dir=.", "rev-parse", "--is-bare-repository")
    return place if (bare or b"").strip() == b"true" else None
