"""The access journal: many readers note accesses while it is folded, and none is lost or counted twice."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.model.records.strict_json import checksum
from clawmem.vault.disk import writer_lock
from clawmem.vault.state.journal import (
    FOLDING,
    JOURNAL,
    AccessCount,
    count_accesses,
    record_access,
    take_journal,
    unfolded_accesses,
)
from clawmem.vault.vault import Vault
from tests.faults.steps import in_child

READERS, EACH, FOLDS = 6, 400, 6

READER = """
import os, sys
from pathlib import Path
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault
vault, name, least, enough = Vault(Path(sys.argv[1]), os.environ), sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
number = 0
while number < least or not enough.exists():
    assert record_access(vault, "2026-11-21T09:30:00Z", [f"fact_{name}", "fact_all"]) is None
    number += 1
print(number)
"""


def _reader(vault: Vault, environment: dict[str, str], name: str, least: int, enough: Path) -> subprocess.Popen[str]:
    """A process that notes so many accesses, and more until there is a file that says enough; it tells how many."""
    command = [sys.executable, "-c", READER, str(vault.root), name, str(least), str(enough)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_readers_while_the_journal_is_folded(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    enough = tmp_path / "enough"
    readers = [_reader(vault, environment, str(n), EACH, enough) for n in range(READERS)]
    total: dict[str, int] = {}
    folds = 0
    try:
        while any(reader.poll() is None for reader in readers):
            folds += _fold(vault, total)
            if folds == FOLDS:
                enough.touch()
    finally:
        enough.touch()
    folds += _fold(vault, total)
    noted = [int(reader.communicate()[0]) for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * READERS
    assert total == {**{f"fact_{n}": number for n, number in enumerate(noted)}, "fact_all": sum(noted)}
    assert min(noted) >= EACH and folds >= FOLDS
    assert unfolded_accesses(vault) == b""


def _fold(vault: Vault, total: dict[str, int]) -> bool:
    with writer_lock(vault.state / "lock", 60, "fold"):
        counted = count_accesses(take_journal(vault))
        for fact_id, access in counted.items():
            total[fact_id] = total.get(fact_id, 0) + access.count
        vault.disk.remove(vault.state / FOLDING)
    return bool(counted)


def test_readers_that_are_killed_lose_at_most_their_last_line(
    vault: Vault, environment: dict[str, str], tmp_path: Path
) -> None:
    for _ in range(4):
        before = len(unfolded_accesses(vault))
        with _reader(vault, environment, "x", 1, tmp_path / "never") as reader:
            try:
                while len(unfolded_accesses(vault)) < before + 2000:
                    assert reader.poll() is None
            finally:
                reader.kill()
    lines = unfolded_accesses(vault).decode().splitlines()
    assert set(lines) == {"2026-11-21T09:30:00Z fact_x fact_all #3909abe8"}
    assert count_accesses(unfolded_accesses(vault))["fact_all"].count == len(lines)


@pytest.mark.parametrize("left", [1, 7, 30, 37])
def test_what_a_killed_reader_left_of_its_line_spoils_no_other(vault: Vault, left: int) -> None:
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    line = (vault.state / JOURNAL).read_bytes()
    (vault.state / JOURNAL).write_bytes(line + line[:left])
    assert count_accesses(unfolded_accesses(vault)) == {"fact_a": AccessCount(1, "2026-11-21T09:00:00Z")}
    record_access(vault, "2026-11-21T09:01:00Z", ["fact_b"])
    assert take_journal(vault).startswith(line)
    assert {name: access.count for name, access in count_accesses(unfolded_accesses(vault)).items()} == {
        "fact_a": 1,
        "fact_b": 1,
    }


def test_half_a_line_that_was_set_aside_spoils_no_line_after_it(vault: Vault) -> None:
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    with (vault.state / JOURNAL).open("ab") as journal:
        journal.write(b"2026-11-2")
    first = take_journal(vault)
    record_access(vault, "2026-11-21T09:01:00Z", ["fact_b"])
    assert take_journal(vault) == first
    assert list(count_accesses(unfolded_accesses(vault))) == ["fact_a", "fact_b"]


def test_what_was_set_aside_and_not_folded_comes_alone(vault: Vault) -> None:
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    first = take_journal(vault)
    record_access(vault, "2026-11-21T09:01:00Z", ["fact_a"])
    assert take_journal(vault) == first
    assert count_accesses(unfolded_accesses(vault)) == {"fact_a": AccessCount(2, "2026-11-21T09:01:00Z")}
    vault.disk.remove(vault.state / FOLDING)
    assert count_accesses(take_journal(vault)) == {"fact_a": AccessCount(1, "2026-11-21T09:01:00Z")}


def test_no_journal_is_no_access(vault: Vault) -> None:
    assert take_journal(vault) == b""
    assert count_accesses(b"") == {}


def test_a_disk_that_fills_up_leaves_no_torn_line(vault: Vault) -> None:
    """With disk space for half a line, the line is not written, and the reader gets a notice."""
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_a"])
    before = (vault.state / JOURNAL).read_bytes()

    def full() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, resource.RLIM_INFINITY))
        text = record_access(vault, "2026-11-21T09:01:00Z", ["fact_b", "fact_c", "fact_d"])
        os._exit(3 if text and "not recorded" in text else 4)

    assert in_child(full) == 3
    assert (vault.state / JOURNAL).read_bytes() == before
    record_access(vault, "2026-11-21T09:02:00Z", ["fact_e"])
    assert list(count_accesses(unfolded_accesses(vault))) == ["fact_a", "fact_e"]


def test_only_the_new_lines_of_a_journal_that_grew_are_counted_and_the_sum_is_the_same() -> None:
    def line(moment: str, *ids: str) -> bytes:
        text = " ".join((moment, *ids))
        return f"{text} #{checksum(text):08x}\n".encode()

    data, two, three = line("2026-01-02", "a", "b"), line("2026-01-03", "a"), line("2026-01-01", "b", "c")
    first = count_accesses(data)
    assert count_accesses(data + two) == {"a": (2, "2026-01-03"), "b": (1, "2026-01-02")}
    assert first == {"a": (1, "2026-01-02"), "b": (1, "2026-01-02")}, "what was given out stays as it was"
    assert count_accesses(data + two + three[:-1]) == count_accesses(data + two + three)
    assert count_accesses(data + two + three)["b"] == (2, "2026-01-02")
    assert count_accesses(three) == {"b": (1, "2026-01-01"), "c": (1, "2026-01-01")}, "folded and begun again"
    assert count_accesses(b"") == {}
