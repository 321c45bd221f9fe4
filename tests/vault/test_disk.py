"""Files below a folder in which others are at work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clawmem.vault.disk import files_below


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
