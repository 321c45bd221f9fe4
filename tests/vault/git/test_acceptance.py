"""The record of accepted vaults: what counts as the same vault, and what is not lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.vault.git.acceptance import RECORD, accept, is_accepted, revoke_acceptance, user_folder
from tests.conftest import Command


def test_a_copy_and_a_newcomer_in_its_place_do_not_count(
    vault_root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    git_dir = vault_root / ".git"
    assert is_accepted(git_dir, environment)
    copy = Path(shutil.copytree(vault_root, tmp_path / "copy", symlinks=True)) / ".git"
    assert not is_accepted(copy, environment)
    (git_dir / "clawmem" / "accepted").write_text("another")
    assert not is_accepted(git_dir, environment)
    accept(git_dir, environment)
    assert is_accepted(git_dir, environment)
    revoke_acceptance(git_dir, environment)
    assert not is_accepted(git_dir, environment)


def test_a_copy_back_in_the_same_place_has_another_inode(vault_root: Path, environment: dict[str, str]) -> None:
    git_dir = vault_root / ".git"
    shutil.copytree(git_dir, vault_root / "aside", symlinks=True)
    git_dir.rename(vault_root / "old")
    (vault_root / "aside").rename(git_dir)
    assert not is_accepted(git_dir, environment)


@pytest.mark.parametrize("text", ["", "[", "[]", "5", '{"PLACE": null}', '{"PLACE": 7}', '{"PLACE": {}}', "[" * 9000])
def test_a_damaged_record_accepts_nothing(text: str, vault_root: Path, environment: dict[str, str]) -> None:
    git_dir = vault_root / ".git"
    (user_folder(environment) / RECORD).write_text(text.replace("PLACE", os.path.realpath(git_dir)))
    assert not is_accepted(git_dir, environment)
    (git_dir / "clawmem" / "accepted").unlink()
    assert not is_accepted(git_dir, environment)


def test_vaults_accepted_at_once_are_all_recorded(tmp_path: Path, environment: dict[str, str]) -> None:
    code = (
        "import os, sys; from pathlib import Path; from clawmem.vault.git.acceptance import accept\n"
        "for each in sys.argv[1:]: accept(Path(each), os.environ)"
    )
    folders = [tmp_path / f"git{number}" for number in range(40)]
    for folder in folders:
        folder.mkdir()
    parts = [folders[start::4] for start in range(4)]
    running = [subprocess.Popen([sys.executable, "-c", code, *map(str, part)], env=environment) for part in parts]
    assert [process.wait() for process in running] == [0] * 4
    assert all(is_accepted(folder, environment) for folder in folders)


def test_a_home_that_cannot_be_written_is_said(clawmem: Command, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = clawmem("init", str(tmp_path / "new"), env={"XDG_CONFIG_HOME": str(blocked)})
    assert result.code == 0 and result.err.count("a person accepts it with `clawmem config trust`") == 1


@pytest.mark.parametrize("record", [{"XDG_CONFIG_HOME": "here", "HOME": "/h"}, {"XDG_CONFIG_HOME": "", "HOME": "/h"}])
def test_a_relative_folder_is_not_the_users(record: dict[str, str]) -> None:
    assert user_folder(record) == Path("/h/.config/clawmem")
