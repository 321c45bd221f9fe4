"""The git identity of the person who runs a command: `user.name` and `user.email` as git resolves them for them."""

from __future__ import annotations

import subprocess

from clawmem.model.records.change import Author
from clawmem.vault.git.git import Git

_QUESTION = ("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")


class IdentityQuestion:
    """The question who the person is. git answers it while the command does something else."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._answer: Author | None = None
        with git.with_user_config():
            self._process: subprocess.Popen[bytes] | None = git.start(*_QUESTION, variables=git.author_variables)

    def answer(self) -> Author | None:
        """Wait for git, and return the identity, or None if git is configured with none."""
        if self._process is not None:
            printed, _ = self._git.communicate(self._process)
            self._answer = _author(printed) if self._process.returncode == 0 else None
            self._process = None
        return self._answer


def personal_identity(git: Git) -> Author | None:
    """Return the identity of the person who runs this command, or None if git is configured with none."""
    return IdentityQuestion(git).answer()


def _author(printed: bytes) -> Author | None:
    name, _, rest = printed.decode(errors="replace").partition(" <")
    return Author(name, rest.partition(">")[0]) if name.strip() else None
