"""A disk that is read-only and one that is full: nothing is lost or half-written, and once it is well all goes on."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import accept
from tests.conftest import NOW, Command, Result

BLOCK = 4096
# How many blocks are left free when a change begins: from none to enough, so that the steps meet the end in turn.
LEFT = [0, 2, 4, 8, 12, 16, 20, 24, 32, 64, 128]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A separate small file system."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(place)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def on_disk(disk: Path, environment: Mapping[str, str], clawmem: Command) -> Callable[..., Result]:
    """The command in a vault on that file system."""
    accept(create_vault(disk / "vault", environment, NOW).git_dir, environment)
    serial = iter(range(10**6))

    def run(*arguments: str) -> Result:
        return clawmem(*arguments, cwd=disk / "vault", env={"CLAWMEM_SEED": str(next(serial))})

    return run


def fill(disk: Path, left: int) -> None:
    """Take all of the disk but some blocks."""
    free = os.statvfs(disk).f_bavail - left
    (disk / "filler").write_bytes(b"\0" * max(free, 0) * BLOCK)


def git(vault: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=vault, check=True, capture_output=True, text=True).stdout


def statements(vault: Path) -> set[str]:
    """What HEAD says, read by plain git."""
    paths = [path for path in git(vault, "ls-files").splitlines() if path.endswith("items.json")]
    return {fact["fact"] for path in paths for fact in json.loads(git(vault, "show", f"HEAD:{path}"))}


def assert_sound(vault: Path, expected: set[str]) -> None:
    assert statements(vault) == expected
    assert git(vault, "status", "--porcelain") == ""
    subprocess.run(["git", "fsck", "--strict"], cwd=vault, check=True, capture_output=True)


def test_a_full_disk_loses_nothing(disk: Path, on_disk: Callable[..., Result]) -> None:
    vault, kept, failed = disk / "vault", {"The first fact."}, []
    assert on_disk("remember", "The first fact.", "--entity", "areas/test").code == 0
    for left in LEFT:
        statement = f"Said with {left} blocks left."
        fill(disk, left)
        result = on_disk("remember", statement, "--entity", "areas/test")
        assert left or "The first fact." in on_disk("recall", "the first fact").out
        (disk / "filler").unlink()
        if result.code == 0:
            kept.add(statement)
        else:
            failed.append((left, result))
        assert statements(vault) == kept, f"{left} blocks left: {result}"
    assert len(failed) > 3 and len(kept) > 3, "the disk was never full, or always"
    for left, result in failed:
        assert result.code == 1, f"{left} blocks left: {result}"
        assert result.err.startswith("error: ") and "hint: " in result.err, f"{left} blocks left: {result}"
        assert "disk is full" in result.err, f"{left} blocks left: {result}"
    # The same commands work once there is space, and leave all as it should be.
    for left, _ in failed:
        assert on_disk("remember", f"Said with {left} blocks left.", "--entity", "areas/test").code == 0
    assert_sound(vault, kept | {f"Said with {left} blocks left." for left, _ in failed})
    assert on_disk("doctor", "--full").code == 0


def test_a_read_only_disk(disk: Path, on_disk: Callable[..., Result]) -> None:
    vault = disk / "vault"
    fact = on_disk("remember", "The first fact.", "--entity", "areas/test", "--json").data["facts"][0]["id"]
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        refused = on_disk("remember", "The second fact.", "--entity", "areas/test", "--json")
        assert refused.code == 1
        assert refused.json["error"]["code"] == "storage"
        assert "cannot be written" in refused.json["error"]["message"]
        assert refused.json["error"]["hint"]
        for question in (
            ["recall", "first fact"], ["recall", "first fact", "--agent", "scout"], ["list"], ["context", "first"],
            ["context"], ["show", fact], ["why", fact], ["tier", fact], ["log"], ["log", fact], ["diff", "HEAD~1"],
            ["status"], ["doctor"], ["entity", "list"], ["entity", "show", "areas/test"], ["agent", "list"],
            ["review", "list"], ["config", "list"], ["graph", "neighbors", fact],
            ["heartbeat", "--dry-run"], ["promote", "--dry-run"], ["synthesize", "--dry-run"],
            ["revoke", "--since", "2020", "--dry-run"],
        ):  # fmt: skip
            result = on_disk(*question)
            assert result.code == 0, f"{question}: {result}"
        assert "The first fact." in on_disk("recall", "first fact").out
        assert "not recorded" in on_disk("recall", "first fact").err
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert on_disk("remember", "The second fact.", "--entity", "areas/test").code == 0
    assert_sound(vault, {"The first fact.", "The second fact."})
