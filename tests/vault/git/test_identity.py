"""Who the person is: what the configuration files say, as git itself reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.model.records.change import Author
from clawmem.vault.git.git import Git
from clawmem.vault.git.identity import IdentityQuestion, identity_in_files, personal_identity

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


needs_usual_git = pytest.mark.skipif(
    not Path("/usr/bin/git").exists() or sys.platform != "linux", reason="the place of git's system file is unknown"
)


@needs_usual_git
def test_a_plain_configuration_needs_no_process(git: Git) -> None:
    git.environment["PATH"] = "/usr/bin"
    configure(git, PLAIN)
    assert identity_in_files(git) == ADA == as_git_says(git)
    assert IdentityQuestion(git)._process is None


@needs_usual_git
@pytest.mark.parametrize(
    ("place", "text"),
    [
        (".config/git/config", "[user]\n\tname = Other\n\temail = other@example.org\n"),
        (".gitconfig", PLAIN + "[author]\n\tname = Countess\n"),
        (".gitconfig", PLAIN + "[user]\n\tname = Later\n"),
        ("../vault/.git/config", "[user]\n\tname = In This Vault\n"),
    ],
)
def test_the_file_that_decides_is_the_one_that_git_takes(git: Git, place: str, text: str) -> None:
    git.environment["PATH"] = "/usr/bin"
    configure(git, PLAIN)
    configure(git, text, place)
    assert identity_in_files(git) == as_git_says(git) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[user]\n\tname = Ada\n",
        "[include]\n\tpath = other\n" + PLAIN,
        '[includeIf "gitdir:~/"]\n\tpath = other\n' + PLAIN,
        '[user]\n\tname = "Ada Lovelace"\n\temail = ada@example.org\n',
        "[user]\n\tname = Ada ; the first\n\temail = ada@example.org\n",
        "[user]\n\tname = Ada, Jr.\n\temail = ada@example.org\n",
        "[user]\n\tname = Ada\tLovelace\n\temail = ada@example.org\n",
        "[user]\n\tname\n\temail = ada@example.org\n",
    ],
)
def test_what_is_not_certain_is_asked_of_git(git: Git, text: str) -> None:
    configure(git, "[user]\n\tname = Included\n", "other")
    configure(git, text)
    assert identity_in_files(git) is None
    assert personal_identity(git) == as_git_says(git)


def test_a_git_of_another_build_is_asked(git: Git, tmp_path: Path) -> None:
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(real)
    git.environment["PATH"] = f"{tmp_path / 'bin'}:{git.environment['PATH']}"
    configure(git, PLAIN)
    assert identity_in_files(git) is None
    assert personal_identity(git) == ADA


def test_a_pipe_in_place_of_a_file_is_not_read(git: Git) -> None:
    os.mkfifo(Path(git.environment["HOME"]) / ".gitconfig")
    assert identity_in_files(git) is None


names = st.text(st.sampled_from("aB é.,;\"'<>\\#[]=\t-_1\r"), max_size=12)


@needs_usual_git
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=names, email=names)
def test_an_identity_from_files_is_always_that_of_git(git: Git, name: str, email: str) -> None:
    git.environment["PATH"] = "/usr/bin"
    configure(git, f"[user]\n\tname = {name}\n\temail = {email}\n")
    found = identity_in_files(git)
    assert found is None or found == as_git_says(git)
