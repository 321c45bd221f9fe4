"""Who the person is, as git itself says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from clawmem.model.records.change import Author
from clawmem.vault.git.git import Git, personal_identity

PLAIN = "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n"
ADA = Author("Ada Lovelace", "ada@example.org")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """git in a new repository of a user whose home folder is empty."""
    root, home = tmp_path / "vault", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    subprocess.run(["git", "init", "-q", str(root)], env=environment, check=True)
    return Git(root, environment)


def configure(git: Git, text: str, place: str = ".gitconfig") -> None:
    path = Path(git.environment["HOME"]) / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def as_git_says(git: Git) -> Author | None:
    with git.with_user_config():
        printed = git.try_run("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    name, _, rest = (printed or b"").decode().partition(" <")
    return Author(name, rest.partition(">")[0]) if name else None


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (".config/git/config", "[user]\n\tname = Other\n\temail = other@example.org\n"),
        (".gitconfig", PLAIN + "[author]\n\tname = Countess\n"),
        ("../vault/.git/config", "[user]\n\tname = In This Vault\n"),
        (".gitconfig", ""),
        (".gitconfig", "[user]\n\tname = Ada\n"),
        (".gitconfig", "[include]\n\tpath = other\n" + PLAIN),
    ],
)
def test_the_person_is_who_git_says(git: Git, place: str, text: str) -> None:
    configure(git, "[user]\n\tname = Included\n", "other")
    configure(git, PLAIN)
    assert personal_identity(git) == ADA
    configure(git, text, place)
    assert personal_identity(git) == as_git_says(git)
