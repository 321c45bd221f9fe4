"""The repository at an address of the user's own: who can read it, making a bare one, cloning the vault in it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.errors import InvalidInput, Refused
from clawmem.model.records.layout import SETTINGS
from clawmem.vault.exchange.create import BRANCH, configure_repository
from clawmem.vault.exchange.remote import FETCH_SETTINGS, remote_failure, without_prompts
from clawmem.vault.exchange.remote_process import create_parents, run_remote_git, staging
from clawmem.vault.git.acceptance import accept
from clawmem.vault.git.git import Git

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress

_WITH_PASSWORD = re.compile(r"https?://[^/@]*:[^/@]+@")
_SECONDS, _PROBE_SECONDS = 300.0, 20.0


def refuse_readable(address: str, environment: Mapping[str, str]) -> None:
    """Raise InvalidInput for an address with a password, and Refused for one that can be read without any."""
    if _WITH_PASSWORD.match(address):
        raise InvalidInput(
            "The address contains a password, which git would store as plain text.",
            "Leave it out, and set up a credential helper for git.",
        )
    # No configuration, so that git has no credentials.
    anonymous = {"PATH": environment.get("PATH", os.defpath), "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    anonymous |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_CONFIG_GLOBAL": os.devnull}
    with suppress(subprocess.TimeoutExpired):
        probe = ["git", "ls-remote", "--", address]
        if not subprocess.run(
            probe, env=anonymous, capture_output=True, timeout=_PROBE_SECONDS, check=False
        ).returncode:
            raise Refused(
                f"Everybody can read {address}, and the whole memory would be there.",
                "Make the repository private, or use another one.",
            )


def make_bare(folder: Path, environment: Mapping[str, str]) -> None:
    """Make an empty bare repository. Raise InvalidInput if there is no parent folder."""
    if not folder.parent.is_dir():
        raise InvalidInput(f"There is no folder {folder.parent}.", "Name a git address, or a place in a folder.")
    folder.mkdir(mode=0o700)
    Git(folder, environment).run("init", "--quiet", "--bare", "--template=", f"--initial-branch={BRANCH}", ".")


def clone_vault(root: Path, address: str, environment: Mapping[str, str], on_progress: OnProgress | None) -> bool:
    """Clone the vault at the address to `root`, and accept it. Return False if nothing is at the address yet.

    Raise RemoteFailed if it cannot be read, and Refused if it is no vault or `root` is not free."""
    with create_parents(root), staging(root) as work:
        git = work.git(work.folder, Git(work.folder, environment))
        settings = [part for setting in FETCH_SETTINGS for part in ("-c", setting)]
        order = (*settings, "clone", "--progress", "--template=", "--no-hardlinks", "--", address, "vault")
        variables = without_prompts(git.environment, own_ssh=False)
        with git.with_environment(variables):
            output = run_remote_git(git, order, _SECONDS, on_progress)
        if output.code != 0:
            raise remote_failure("read", address, output)
        clone = work.git(work.folder / "vault", git)
        if clone.try_run("rev-parse", "--quiet", "--verify", "HEAD") is None:
            return False
        if not (clone.root / SETTINGS).is_file():
            raise Refused(f"{address} is a repository, but no vault.", "Create an empty private one for the memory.")
        configure_repository(clone)
        try:
            clone.root.rename(root)
        except OSError as problem:
            raise Refused(f"{root} cannot be created: {problem.strerror}.", "Name another place.") from None
    accept(root / ".git", environment)
    return True
