"""The error boundary: which failure is the disk's, which the index's, and which a bug."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.errors import BUG, REFUSED
from clawmem.faces.cli.terminal import bounded
from tests.conftest import Command


def failing(problem: Exception) -> int:
    """Return the exit code of a command in which the error occurs."""

    def act() -> int:
        raise problem

    return bounded([], act)


def test_a_statement_of_ours_that_sqlite_cannot_read_is_a_bug(capsys: pytest.CaptureFixture[str]) -> None:
    base = sqlite3.connect(":memory:")
    for statement, values in (("SELEC 1", ()), ("SELECT 1 FROM nowhere", ()), ("SELECT ?", ())):
        with pytest.raises(sqlite3.Error) as caught:
            base.execute(statement, values)
        assert failing(caught.value) == BUG
        assert "clawmem has a bug" in capsys.readouterr().err
    base.close()


def test_a_file_that_sqlite_cannot_use_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.sqlite").write_bytes(b"no database at all" * 100)
    for path in (tmp_path / "odd.sqlite", tmp_path):
        with pytest.raises(sqlite3.Error) as caught:
            sqlite3.connect(path).execute("SELECT * FROM sqlite_master")
        assert failing(caught.value) == REFUSED
        assert "clawmem reindex" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "The disk is full (/v/x)."),
        (errno.EROFS, "The vault cannot be written (/v/x): Read-only file system."),
        (errno.EACCES, "The vault cannot be written (/v/x): Permission denied."),
        (errno.EPIPE, "The system call failed (/v/x): Broken pipe."),
    ],
)
def test_what_the_system_refuses(number: int, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(OSError(number, os.strerror(number), "/v/x")) == REFUSED
    assert says in capsys.readouterr().err


def test_an_input_that_cannot_be_read_is_not_the_vault(clawmem: Command, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for words in (["ingest", str(loop)], ["remember", "--jsonl", str(loop)], ["restore", str(loop), "x"]):
        result = clawmem(*words)
        assert result.code == REFUSED
        assert f"{loop} cannot be read: Too many levels of symbolic links." in result.err
        assert "vault" not in result.err.replace(str(loop), "")
    made = clawmem("init", "/proc/none/vault")
    assert made.code == REFUSED
    assert made.err.startswith("error: /proc/none/vault cannot be created: ")
    assert "doctor" not in made.err


def test_a_folder_that_is_gone(clawmem: Command, tmp_path: Path) -> None:
    line = f"mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir {tmp_path}/gone; {sys.executable} -m clawmem "
    for verb in ("status", "remember x", "recall x --json"):
        process = subprocess.run(["bash", "-c", line + verb], capture_output=True, text=True)
        assert process.returncode == REFUSED
        assert "no longer exists" in process.stdout + process.stderr
        assert "Traceback" not in process.stderr
