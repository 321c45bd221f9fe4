"""The error for a failed git command: its own message, and a hint."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clawmem.vault.git.git import _PATIENCE_SECONDS, git_error
from clawmem.vault.vault import Vault


@pytest.mark.parametrize(
    ("complaint", "message", "hint"),
    [
        ("error: bad signature 0x4c495645\nfatal: index file corrupt", "bad signature 0x4c495645", "doctor --fix"),
        ("error: bad index file sha1 signature\nfatal: index file corrupt", "bad index file sha1", "doctor --fix"),
        ("fatal: detected dubious ownership in repository at '/x'", "dubious ownership", "safe.directory"),
        ("error: file write error: No space left on device", "No space left", "free some space"),
        ("fatal: bad object HEAD", "bad object HEAD", "Run `clawmem doctor`."),
        ("", "exit code 128", "Run `clawmem doctor`."),
    ],
)
def test_a_failure_says_what_to_do(complaint: str, message: str, hint: str) -> None:
    problem = git_error("status", 128, complaint.encode())
    assert problem.message.startswith("git status failed: ") and message in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize("size", [1_000, 1_000_000])
def test_a_git_that_is_slow_to_read_gets_all_of_its_input(vault: Vault, size: int) -> None:
    """Longer than the wait after which the vault is checked for files that would block git."""
    slow = f"import sys, time; time.sleep({_PATIENCE_SECONDS + 0.3}); print(len(sys.stdin.buffer.read()))"
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", slow], stdin=pipe, stdout=pipe, stderr=pipe)
    assert vault.git.communicate(process, b"x" * size) == (b"%d\n" % size, b"")
    assert process.returncode == 0
