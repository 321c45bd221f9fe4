"""Clones that write and sync at the same time, and syncs that are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.checks import git
from tests.faults.kill_sync import kill_sync
from tests.faults.meeting import assert_no_marks, meet_at_once

KILLS = 2


def test_clones_that_meet_at_once_lose_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    meet_at_once(tmp_path, environment, 3, 2)


def test_sync_is_killed(tmp_path: Path, environment: dict[str, str]) -> None:
    assert kill_sync(tmp_path, environment, KILLS).killed == KILLS


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", ">>>>>>> theirs", "||||||| 1234567", "<<<<<<<"])
def test_marks_in_a_commit_are_found_wherever_it_is(line: str, vault_root: Path, environment: dict[str, str]) -> None:
    """The check of the meeting itself: a commit that was taken back, with a zero byte, so that git shows no text."""
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    assert_no_marks(vault_root, environment)
    (vault_root / "picture.bin").write_bytes(b"\0\n" + line.encode() + b"\nours\n")
    git(vault_root, environment, "add", "picture.bin")
    git(vault_root, environment, *who, "commit", "-qm", "with marks")
    git(vault_root, environment, "reset", "-q", "--hard", "HEAD~1")
    with pytest.raises(AssertionError):
        assert_no_marks(vault_root, environment)
