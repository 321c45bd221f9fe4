"""Upkeep: packs what is due, and blocks nobody."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from clawmem.vault.state.upkeep import pack_repository
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.faults.checks import assert_sound, assert_whole, facts, git
from tests.faults.scenarios import keep

MANY = 10_000


def _loose(vault: Vault, number: int) -> None:
    """Objects that no branch leads to, as interrupted work leaves them."""
    blobs = "".join(f"blob\ndata <<END\nloose {at}\nEND\n" for at in range(number))
    command = ["git", "-c", "fastimport.unpackLimit=10000", "fast-import", "--quiet"]
    subprocess.run(command, cwd=vault.root, input=blobs.encode(), capture_output=True, check=True)


def test_nothing_due_is_nothing_done(vault: Vault) -> None:
    keep(vault, "Jane lives in Oslo.")
    assert not pack_repository(vault, MANY).repacked


def test_loose_objects_are_packed_once(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "Jane lives in Oslo.")
    assert pack_repository(vault, 5).repacked
    assert not pack_repository(vault, 5).repacked
    assert_sound(vault.root, environment)


def test_what_no_branch_leads_to_does_not_make_every_run_pack(vault: Vault) -> None:
    _loose(vault, 12)
    assert pack_repository(vault, 10).repacked
    assert not pack_repository(vault, 10).repacked
    _loose(vault, 4)
    keep(vault, "Jane lives in Oslo.", "Jane has a cat.")
    pack_repository(vault, 10)
    assert not pack_repository(vault, 10).repacked


def test_many_packs_become_one_and_old_waste_goes(vault: Vault, environment: dict[str, str]) -> None:
    _loose(vault, 3)
    month_ago = time.time() - 30 * 86400
    waste = list((vault.git_dir / "objects").glob("??/*"))
    reachable = git(vault.root, environment, "rev-list", "--objects", "--all").split()
    waste = [path for path in waste if path.parent.name + path.name not in reachable]
    assert len(waste) == 3
    for path in waste[:2]:
        os.utime(path, (month_ago, month_ago))
    for number in range(14):
        keep(vault, f"Fact number {number}.")
        result = pack_repository(vault, 1)
    assert result.repacked
    for number in range(14):
        keep(vault, f"Fact number {number + 20}.")
        pack_repository(vault, 1)
    assert len(list((vault.git_dir / "objects/pack").glob("*.pack"))) <= 13
    assert [path.exists() for path in waste] == [False, False, True]
    assert_sound(vault.root, environment)
    assert_whole(vault.root, environment)
    assert len(facts(vault.root)) == 28


@contextmanager
def _git_at_work(vault: Vault) -> Iterator[None]:
    """A git that sits in the vault and waits, as one that serves a slow clone does."""
    process = subprocess.Popen(
        ["git", "cat-file", "--batch"], cwd=vault.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    process.stdin.write(b"none\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"none missing\n"  # until then it may still be about to become a git
    try:
        yield
    finally:
        process.communicate(b"")


def test_writers_go_on_while_it_packs(vault: Vault, environment: dict[str, str]) -> None:
    """Packing holds no lock: what is written meanwhile is there afterwards."""
    keep(vault, *(f"Fact number {number}." for number in range(50)))
    child = os.fork()
    if child == 0:
        code = 70
        try:
            for _ in range(6):
                pack_repository(Vault(vault.root, vault.git.environment), 1)
            code = 0
        finally:
            os._exit(code)
    for number in range(12):
        keep(vault, f"Written meanwhile, number {number}.", entity="areas/meanwhile")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(facts(vault.root)) == 62
    assert_whole(vault.root, environment)
    assert_sound(vault.root, environment)


def test_what_killed_gits_left_goes_after_an_hour(vault: Vault, clawmem: Command) -> None:
    names = ("pack/tmp_pack_x", "pack/.tmp-7-pack-x.pack", "71/tmp_obj_x", "../../.merge_file_x")
    young = [vault.git_dir / "objects" / name for name in (*names, "../fast_import_crash_7")]
    old = [path.with_name(f"{path.name}.old") for path in young]
    for path in (*old, *young):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half a pack")
    for path in old:
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    with _git_at_work(vault):
        pack_repository(vault, MANY)
    assert all(path.exists() for path in old)
    problems = clawmem("doctor", "--json").data["problems"]
    found = [problem["path"] for problem in problems if problem["check"] == "half-file"]
    assert [path.name for path in old if not any(name.endswith(path.name) for name in found)] == []
    pack_repository(vault, MANY)
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in young)


def test_it_waits_for_room_on_the_disk(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(vault, "Jane lives in Oslo.")

    class Full:
        f_bavail, f_bfree, f_blocks, f_frsize = 1000, 1000, 2000, 4096

    monkeypatch.setattr(os, "statvfs", lambda path: Full)
    result = pack_repository(vault, 5)
    assert not result.repacked and "4 MB are free on the disk" in result.notices[0]
    monkeypatch.undo()
    assert pack_repository(vault, 5).repacked
