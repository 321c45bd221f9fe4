"""Which temporary folders are deleted: those without a running process."""

from __future__ import annotations

import os
import time
from pathlib import Path

from clawmem.vault.exchange.staging import leftover_folders, staging
from clawmem.vault.lock import writer_lock

HOUR = 3600
NOBODY = 2**22 + 1  # beyond the largest process id there is


def left_behind(target: Path, process: int, seconds_ago: float) -> Path:
    """A folder in which a process was making `target`."""
    made = time.time_ns() - int(seconds_ago * 1e9)
    folder = target.with_name(f".{target.name}.{process}.{made:x}.making")
    folder.mkdir()
    return folder


def test_the_folder_of_a_process_that_is_gone_goes(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / "copy", NOBODY, 0)
    with staging(tmp_path / "copy"):
        assert not folder.exists()
    assert leftover_folders(tmp_path / "copy") == []


def test_one_that_was_made_just_now_may_not_be_locked_yet(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / "copy", os.getpid(), 1)
    with staging(tmp_path / "copy"):
        assert folder.exists()


def test_the_number_of_a_process_that_is_gone_may_be_another_ones_now(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / "copy", os.getpid(), HOUR)
    with staging(tmp_path / "copy"):
        assert not folder.exists()


def test_what_somebody_works_in_stays_however_long_it_takes(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / "copy", NOBODY, HOUR)
    with writer_lock(folder / "lock", 0, "making"), staging(tmp_path / "copy"):
        assert folder.exists()


def test_what_only_looks_alike_is_somebody_elses(tmp_path: Path) -> None:
    names = (".copy.making", ".copy.a.b.c.making", ".copy.1.making", ".other.1.2.making", "copy.1.2.making")
    for name in names:
        (tmp_path / name).mkdir()
    with staging(tmp_path / "copy"):
        assert {path.name for path in tmp_path.iterdir()} > set(names)
