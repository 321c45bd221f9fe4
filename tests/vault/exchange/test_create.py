"""Making a vault: refused where it would hurt, completed where it was interrupted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput, Refused
from clawmem.vault.exchange import create as birth
from clawmem.vault.exchange.create import create_vault, template_files
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command
from tests.faults.checks import assert_sound, assert_whole, commits, facts, git
from tests.faults.scenarios import keep
from tests.faults.steps import FaultyDisk, FaultyGit, Steps, die, in_child


def test_the_template_is_the_first_commit(vault: Vault, environment: dict[str, str]) -> None:
    names = git(vault.root, environment, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert sorted(names) == sorted(path for path, _ in template_files())
    assert git(vault.root, environment, "log", "--format=%s|%an") == "init(vault): a new memory|clawmem\n"
    assert_whole(vault.root, environment)


def test_an_empty_folder_will_do(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "empty").mkdir()
    create_vault(tmp_path / "empty", environment, NOW)
    assert_whole(tmp_path / "empty", environment)


def test_what_is_there_is_never_overwritten(vault: Vault, tmp_path: Path, environment: dict[str, str]) -> None:
    with pytest.raises(Refused, match="already a vault"):
        create_vault(vault.root, environment, NOW)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter.txt").write_text("mine")
    with pytest.raises(Refused, match="not empty"):
        create_vault(tmp_path / "full", environment, NOW)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match="is a file"):
        create_vault(tmp_path / "file", environment, NOW)
    git(tmp_path, environment, "init", "-q", "repository")
    with pytest.raises(Refused, match="already a git repository"):
        create_vault(tmp_path / "repository", environment, NOW)
    with pytest.raises(Refused, match="inside the git repository"):
        create_vault(tmp_path / "repository/deep/vault", environment, NOW)
    assert not (tmp_path / "repository/deep").exists()
    create_vault(tmp_path / "repository/deep/vault", environment, NOW, inside_repository=True)
    assert_whole(tmp_path / "repository/deep/vault", environment)


def _faulty(monkeypatch: pytest.MonkeyPatch, steps: Steps) -> None:
    """From here on vaults are made with a disk and a git whose steps are counted."""

    class FaultyVault(Vault):
        def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
            super().__init__(root, environment, FaultyDisk(steps))
            self.git = FaultyGit(root, environment, steps)

    monkeypatch.setattr(birth, "Vault", FaultyVault)
    monkeypatch.setattr(birth, "Git", lambda root, environment: FaultyGit(root, environment, steps))


@pytest.mark.parametrize("stride", [12, pytest.param(1, marks=pytest.mark.soak)])
def test_making_a_vault_is_killed_at_every_step(
    stride: int, tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps()
    with monkeypatch.context() as patched:
        _faulty(patched, steps)
        create_vault(tmp_path / "clean", environment, NOW)
    # After one step is before the next: only the last has an end of its own.
    points = [(number, "before") for number in sorted(steps.changing)] + [(max(steps.changing), "after")]
    points += [(number, "during") for number in sorted(steps.halves)]
    assert len(points) > 20
    for number, when in points[::stride]:
        root = tmp_path / f"{when}-{number}"

        def doomed(root: Path = root, number: int = number, when: str = when) -> None:
            with monkeypatch.context() as patched:
                _faulty(patched, Steps(number, when, die))
                create_vault(root, environment, NOW)

        assert in_child(doomed) == -9
        _complete(root, environment)
        vault = Vault(root, environment)
        keep(vault, "First.")
        assert_whole(root, environment)
        assert_sound(root, environment)
        assert len(commits(root, environment)) == 2
        assert [fact["fact"] for fact in facts(root)] == ["First."]
        shutil.rmtree(root)


def _complete(root: Path, environment: dict[str, str]) -> None:
    """Run `init` again: it makes what is missing, or says that there is a vault already."""
    try:
        create_vault(root, environment, NOW)
    except Refused as problem:
        assert "already a vault" in problem.message


def test_two_at_once_make_one_vault(tmp_path: Path, environment: dict[str, str], clawmem: Command) -> None:
    root = tmp_path / "shared"
    command = [sys.executable, "-m", "clawmem", "init", str(root)]
    makers = [subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) for _ in range(4)]
    codes = sorted(maker.wait(60) for maker in makers)
    assert codes[0] == 0
    assert set(codes) <= {0, 1}
    assert clawmem("remember", "First.", cwd=root).code == 0
    assert_whole(root, environment)
    assert len(commits(root, environment)) == 2
