"""The access journal: many readers note accesses while it is folded, and none is lost or counted twice."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from clawmem.vault.journal import FOLDING, JOURNAL, Access, accesses, record_access, set_aside, unfolded
from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault
from tests.faults.steps import in_child

READERS, EACH = 6, 400

READER = """
import os, sys
from pathlib import Path
from clawmem.vault.journal import record_access
from clawmem.vault.vault import Vault
vault = Vault(Path(sys.argv[1]), os.environ)
for number in range(int(sys.argv[3])):
    assert record_access(vault, "2026-11-21T09:30:00Z", [f"fact_{sys.argv[2]}", "fact_all"]) is None
"""


def test_readers_while_the_journal_is_folded(vault: Vault, environment: dict[str, str]) -> None:
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(vault.root), str(n), str(EACH)], env=environment)
        for n in range(READERS)
    ]
    total: dict[str, int] = {}
    folds = 0
    while any(reader.poll() is None for reader in readers):
        folds += _fold(vault, total)
    folds += _fold(vault, total)
    assert [reader.returncode for reader in readers] == [0] * READERS
    assert total == {**{f"fact_{n}": EACH for n in range(READERS)}, "fact_all": READERS * EACH}
    assert folds > 5
    assert unfolded(vault) == b""


def _fold(vault: Vault, total: dict[str, int]) -> bool:
    with writer_lock(vault.state / "lock", 5, "fold"):
        counted = accesses(set_aside(vault))
        for fact_id, access in counted.items():
            total[fact_id] = total.get(fact_id, 0) + access.count
        vault.disk.remove(vault.state / FOLDING)
    return bool(counted)


def test_readers_that_are_killed_lose_at_most_their_last_line(vault: Vault, environment: dict[str, str]) -> None:
    for number in range(12):
        reader = subprocess.Popen([sys.executable, "-c", READER, str(vault.root), "x", "100000"], env=environment)
        while len(unfolded(vault)) < (number + 1) * 2000:
            assert reader.poll() is None
        reader.kill()
        reader.wait()
    lines = unfolded(vault).decode().splitlines()
    assert set(lines) == {"2026-11-21T09:30:00Z fact_x fact_all #3909abe8"}
    assert accesses(unfolded(vault))["fact_all"].count == len(lines)


@pytest.mark.parametrize("left", [1, 7, 30, 37])
def test_what_a_killed_reader_left_of_its_line_spoils_no_other(vault: Vault, left: int) -> None:
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    line = (vault.state / JOURNAL).read_bytes()
    (vault.state / JOURNAL).write_bytes(line + line[:left])
    assert accesses(unfolded(vault)) == {"fact_a": Access(1, "2026-11-21T09:00:00Z")}
    record_access(vault, "2026-11-21T09:01:00Z", ["fact_b"])
    assert set_aside(vault).startswith(line)
    assert {name: access.count for name, access in accesses(unfolded(vault)).items()} == {"fact_a": 1, "fact_b": 1}


def test_half_a_line_that_was_set_aside_spoils_no_line_after_it(vault: Vault) -> None:
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    with (vault.state / JOURNAL).open("ab") as journal:
        journal.write(b"2026-11-2")
    first = set_aside(vault)
    record_access(vault, "2026-11-21T09:01:00Z", ["fact_b"])
    assert set_aside(vault) == first
    assert list(accesses(unfolded(vault))) == ["fact_a", "fact_b"]


def test_what_was_set_aside_and_not_folded_comes_alone(vault: Vault) -> None:
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    first = set_aside(vault)
    record_access(vault, "2026-11-21T09:01:00Z", ["fact_a"])
    assert set_aside(vault) == first
    assert accesses(unfolded(vault)) == {"fact_a": Access(2, "2026-11-21T09:01:00Z")}
    vault.disk.remove(vault.state / FOLDING)
    assert accesses(set_aside(vault)) == {"fact_a": Access(1, "2026-11-21T09:01:00Z")}


def test_no_journal_is_no_access(vault: Vault) -> None:
    assert set_aside(vault) == b""
    assert accesses(b"") == {}


def test_a_disk_that_fills_up_leaves_no_torn_line(vault: Vault) -> None:
    """With room for half a line: the line is not there at all, and the reader is told."""
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    before = (vault.state / JOURNAL).read_bytes()

    def full() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, resource.RLIM_INFINITY))
        said = record_access(vault, "2026-11-21T09:01:00Z", ["fact_b", "fact_c", "fact_d"])
        os._exit(3 if said and "not recorded" in said else 4)

    assert in_child(full) == 3
    assert (vault.state / JOURNAL).read_bytes() == before
    record_access(vault, "2026-11-21T09:02:00Z", ["fact_e"])
    assert list(accesses(unfolded(vault))) == ["fact_a", "fact_e"]
