"""The git identity of the person who runs a command: `user.name` and `user.email` as git resolves them for them.

The files that git would read are read here, which takes no process, where they can mean one thing only. git itself
answers in every other case: an included file, a quoted value, a git that may have its system file elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.model.records.change import Author
from clawmem.vault.disk import read_regular_file
from clawmem.vault.git.config import CONFIG, parse_simple_config
from clawmem.vault.git.git import AUTHOR_VARIABLES, USER_CONFIG, Git
from clawmem.vault.git.refs import common_dir_of, git_dir_of

_QUESTION = ("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
# The system file of a git in one of these folders. It is not known for other builds.
_SYSTEM_FOLDERS = ("/usr/bin", "/bin")
_SYSTEM_FILE = "/etc/gitconfig"
# git removes some punctuation from the ends of a name, and control characters.
_ENDS = frozenset(".,:;<>\"\\'")
_MORE_FILES = ("extensions.worktreeconfig",)


class IdentityQuestion:
    """The question who the person is. A git that has to answer it runs while the command does something else."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._answer = identity_in_files(git)
        self._process: subprocess.Popen[bytes] | None = None
        if self._answer is None:
            with git.with_user_config():
                self._process = git.start(*_QUESTION, variables=git.author_variables)

    def answer(self) -> Author | None:
        """Wait for git if it was asked, and return the identity, or None if git is configured with none."""
        if self._process is not None:
            printed, _ = self._git.communicate(self._process)
            self._answer = _author(printed) if self._process.returncode == 0 else None
            self._process = None
        return self._answer


def personal_identity(git: Git) -> Author | None:
    """Return the identity of the person who runs this command, or None if git is configured with none."""
    return IdentityQuestion(git).answer()


def identity_in_files(git: Git) -> Author | None:
    """Return the identity that the configuration files certainly give, or None where git has to be asked."""
    files = _files(git.root, git.environment)
    values: dict[str, str] = {}
    try:
        for path in files or ():
            found = _plain_values(path)
            if found is None:
                return None
            values |= found
    except (ClawmemError, OSError):
        return None
    own = (git.author_variables.get(name) for name in AUTHOR_VARIABLES)
    name, email = (
        values.get(f"author.{key}", values.get(f"user.{key}", "")) if value is None else value
        for key, value in zip(("name", "email"), own, strict=True)
    )
    return Author(name, email) if all(map(_is_verbatim, (name, email))) else None


def _files(root: Path, environment: Mapping[str, str]) -> list[Path] | None:
    """Return the files that git reads for this user, the deciding one last, or None where they are not known."""
    git_dir, home = git_dir_of(root), environment.get("HOME", "")
    base = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    if (
        git_dir is None
        or not home.startswith("/")
        or not base.startswith("/")
        or not _has_known_system_file(environment)
    ):
        return None
    users = [Path(base) / "git" / CONFIG, Path(home) / ".gitconfig"]
    if USER_CONFIG in environment:
        users = [Path(environment[USER_CONFIG])]
    return [Path(_SYSTEM_FILE), *users, common_dir_of(git_dir) / CONFIG]


def _has_known_system_file(environment: Mapping[str, str]) -> bool:
    if sys.platform != "linux":
        return False
    for folder in environment.get("PATH", "").split(os.pathsep):
        if os.access(f"{folder}/git", os.X_OK):
            return folder in _SYSTEM_FOLDERS
    return False


def _plain_values(path: Path) -> dict[str, str] | None:
    """Return the names and addresses in a file; None if the file includes others or only git can parse it."""
    text = (read_regular_file(path) or b"").decode(errors="surrogateescape")
    entries = parse_simple_config(text)
    if entries is None or any(entry.section.startswith("include") or entry.key in _MORE_FILES for entry in entries):
        return None
    found = {entry.key: entry.value for entry in entries if entry.section in ("user", "author")}
    # Tabs in a value, and a name without a value ("true"), are left to git.
    return found if all(value in text and value != "true" for value in found.values()) else None


def _is_verbatim(value: str) -> bool:
    return bool(value) and _ENDS.isdisjoint((value[0], value[-1])) and "<" not in value and ">" not in value


def _author(printed: bytes) -> Author | None:
    name, _, rest = printed.decode(errors="replace").partition(" <")
    return Author(name, rest.partition(">")[0]) if name.strip() else None
