"""A memory is its owner's alone: what is made new is closed to others, and what was there keeps its permissions."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest

from clawmem.index.refresh import open_index
from clawmem.memory.backup import backup_to_file, restore
from clawmem.model.records.caller import Caller
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault
from tests.conftest import NOW


@pytest.fixture(autouse=True)
def _usual_mask() -> None:
    os.umask(0o022)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _open_to_others(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if _mode(path) & 0o077]


def test_a_new_vault(tmp_path: Path, environment: dict[str, str]) -> None:
    vault = create_vault(tmp_path / "new" / "vault", environment, NOW)
    assert (_mode(vault.root), _mode(vault.git_dir), _mode(vault.state)) == (0o700, 0o700, 0o700)


def test_an_empty_folder_that_was_there_keeps_its_mode(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "vault").mkdir(mode=0o755)
    vault = create_vault(tmp_path / "vault", environment, NOW)
    assert (_mode(vault.root), _mode(vault.state)) == (0o755, 0o700)


def test_the_index_and_the_journal_in_a_vault_that_is_open_to_others(vault: Vault) -> None:
    for path in vault.state.iterdir():
        path.unlink()
    for folder in (vault.root, vault.git_dir, vault.state):
        folder.chmod(0o755)
    open_index(vault).close()
    assert record_access(vault, "2026-11-21T08:00:00Z", ["fact_1"]) is None
    assert [path.name for path in vault.state.glob("index-*.sqlite") if _mode(path) != 0o600] == []
    assert _mode(vault.state / "access.log") == 0o600
    assert (_mode(vault.root), _mode(vault.state)) == (0o755, 0o755)


def test_a_clone_gets_a_closed_state_folder(vault: Vault) -> None:
    for path in vault.state.iterdir():
        path.unlink()
    vault.state.rmdir()
    vault.prepare_state()
    assert _mode(vault.state) == 0o700


def test_backups_and_what_is_restored(
    vault: Vault, tmp_path: Path, caller: Caller, environment: dict[str, str]
) -> None:
    target = tmp_path / "memory.clawmem"
    backup_to_file(vault, caller, target)
    assert _mode(target) == 0o600
    made = restore(io.BytesIO(target.read_bytes()), tmp_path / "back", caller, environment)
    assert (_mode(made.root), _mode(made.root / ".git")) == (0o700, 0o700)
    assert _open_to_others(made.root / ".git" / "clawmem") == []
