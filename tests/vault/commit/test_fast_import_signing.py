"""Commits are signed only where the settings ask for it, and then verifiably; a missing key writes nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clawmem.errors import GitFailed
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.configure import change_setting
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.git.acceptance import accept
from clawmem.vault.vault import Vault
from tests.faults.checks import git

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen to make a key with")


def _key(vault: Vault, folder: Path) -> None:
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed = folder / "allowed"
    allowed.write_text(f"vault@clawmem {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(allowed)),
    ):
        git(vault.root, vault.git.environment, "config", name, value)
    accept(vault.git_dir, vault.git.environment)


def test_commits_are_signed_once_the_settings_ask(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    _key(vault, tmp_path)
    change_setting(vault, caller, "git.sign", "true")
    signing = Vault(vault.root, vault.git.environment)
    agent = caller._replace(agent="finance")
    drafts = [draft_from_record({"fact": f"Signed fact {n}"}, caller.now) for n in range(2)]
    result = remember(signing, drafts, agent)
    rows = git(vault.root, vault.git.environment, "log", "-3", "--format=%G? %an %cn %s").splitlines()
    assert rows[0] == "G finance clawmem remember(areas/general): Signed fact 1"
    assert rows[1] == "G finance clawmem remember(areas/general): Signed fact 0"
    assert rows[2].startswith("N ")
    assert vault.head().commit == result.commit
    assert vault.git.run("for-each-ref", "--format=%(refname)").decode().split() == ["refs/heads/main"]
    assert vault.git.run("status", "--porcelain") == b""


def test_a_key_that_is_missing_writes_nothing(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    change_setting(vault, caller, "git.sign", "true")
    git(vault.root, vault.git.environment, "config", "gpg.format", "ssh")
    git(vault.root, vault.git.environment, "config", "user.signingKey", str(tmp_path / "nowhere"))
    signing = Vault(vault.root, vault.git.environment)
    before = vault.head()
    with pytest.raises(GitFailed):
        remember(signing, [draft_from_record({"fact": "Unsigned"}, caller.now)], caller)
    assert vault.head() == before
    assert vault.git.run("for-each-ref", "--format=%(refname)").decode().split() == ["refs/heads/main"]
    assert vault.git.run("status", "--porcelain") == b""
