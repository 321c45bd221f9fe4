"""The settings files of this machine: whose counts, and which are not read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError
from clawmem.vault.git.acceptance import accept
from clawmem.vault.state.local_settings import MAX_BYTES
from clawmem.vault.vault import Vault

MODEL = "llm:\n  model: openai/x\n"


def _model(vault: Vault) -> str:
    return Vault(vault.root, vault.git.environment).settings.words("llm.model")


def _local(vault: Vault) -> Path:
    return vault.git_dir / "clawmem" / "local.yaml"


def _users(vault: Vault) -> Path:
    return Path(vault.git.environment["HOME"]) / ".config/clawmem/settings.yaml"


def test_a_copy_of_a_vault_brings_no_settings_until_a_person_accepts_it(vault: Vault) -> None:
    _local(vault).write_text(MODEL)
    assert _model(vault) == "openai/x"
    copy = Vault(Path(shutil.copytree(vault.root, vault.root.parent / "copy")), vault.git.environment)
    assert _model(copy) == ""
    accept(copy.git_dir, vault.git.environment)
    assert _model(copy) == "openai/x"


def test_the_users_file_counts_in_every_vault(vault: Vault) -> None:
    _users(vault).write_text(MODEL)
    copy = Vault(Path(shutil.copytree(vault.root, vault.root.parent / "copy")), vault.git.environment)
    assert (_model(vault), _model(copy)) == ("openai/x", "openai/x")


@pytest.mark.parametrize("more", [0, 1])
def test_a_file_is_read_up_to_its_limit(vault: Vault, more: int) -> None:
    _local(vault).write_text(MODEL + "#" * (MAX_BYTES - len(MODEL) + more))
    if more:
        with pytest.raises(ClawmemError, match="has more than 65,536 bytes"):
            _model(vault)
    else:
        assert _model(vault) == "openai/x"


def test_a_link_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text(MODEL)
    _users(vault).symlink_to(tmp_path / "elsewhere.yaml")
    with pytest.raises(ClawmemError, match="it is a symbolic link"):
        _model(vault)
