"""Files below a folder in which others are at work."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clawmem.vault.disk import Disk, files_below, staged_path


def test_a_folder_that_goes_meanwhile_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("")
    (tmp_path / "going" / "deep").mkdir(parents=True)
    (tmp_path / "going" / "deep" / "second").write_text("")
    found = files_below(tmp_path)
    assert next(found) == tmp_path / "first"
    shutil.rmtree(tmp_path / "going")
    assert list(found) == []
    assert list(files_below(tmp_path / "never")) == []


def test_folders_of_one_name_are_left_out(tmp_path: Path) -> None:
    for name in ("a/.git/x", "a/b/y", ".git/z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert list(files_below(tmp_path, leaving_out=".git")) == [tmp_path / "a/b/y"]
    assert len(list(files_below(tmp_path))) == 3


def test_a_folder_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        list(files_below(tmp_path / ("x" * 300)))


@pytest.mark.parametrize("known", [False, True], ids=["a new file", "one that was there"])
def test_a_half_file_that_is_swept_away_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """A command that begins to write clears half files of the dead away; the heartbeat writes its own without the lock,
    and one of them may be among them."""
    path, half = tmp_path / "state" / "file", staged_path(tmp_path)
    path.parent.mkdir()
    if known:
        path.write_bytes(b"old")
    swept: list[bytes] = []
    put_in_place = os.replace

    def sweep_first(source: Path, target: Path) -> None:
        if len(swept) < 2:
            swept.append(half.read_bytes())
            half.unlink()
        put_in_place(source, target)

    monkeypatch.setattr(os, "replace", sweep_first)
    Disk().replace(path, b"new", tmp_path)
    assert (path.read_bytes(), swept, half.exists()) == (b"new", [b"new", b"new"], False)


def test_a_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place = os.replace

    def lose_the_folder(source: Path, target: Path) -> None:
        (tmp_path / "place").rmdir()
        put_in_place(source, target)

    monkeypatch.setattr(os, "replace", lose_the_folder)
    with pytest.raises(FileNotFoundError):
        Disk().replace(tmp_path / "place" / "file", b"new", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_threads_of_a_process_never_share_a_partial_file(tmp_path: Path) -> None:
    """A commit updates git's index in a thread while its caller keeps other files of the same folder."""

    def write(name: str) -> list[bytes]:
        path, seen = tmp_path / name, []
        for _ in range(300):
            Disk().replace(path, name.encode(), tmp_path)
            seen.append(path.read_bytes())
        return seen

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(write, ("first", "second"))
    assert (set(first), set(second)) == ({b"first"}, {b"second"})
