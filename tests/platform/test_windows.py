"""The branches for Windows, run under Linux by `tests/platform/windows.py`. Nothing here ran on Windows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from clawmem.errors import LOCKED

AS_ON_WINDOWS = (sys.executable, str(Path(__file__).with_name("windows.py")))
Run = Callable[..., "subprocess.CompletedProcess[str]"]

IMPORT_ALL = """
import importlib, pkgutil, clawmem
names = [module.name for module in pkgutil.walk_packages(clawmem.__path__, "clawmem.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
HOLD = """
import sys, time
from pathlib import Path
from clawmem.vault.disk import writer_lock
with writer_lock(Path("vault/.git/clawmem/lock"), 1, "dreaming of sheep"):
    print("held", flush=True)
    time.sleep(300)
"""
LATE = """
from clawmem.platform.processes import TooLate, deadline
for seconds in (0.01, 300):
    try:
        with deadline(seconds):
            while seconds < 1:
                pass
        print("in time")
    except TooLate:
        print("too late")
"""
MOVED = """
from pathlib import Path
from clawmem.vault.disk import append_line, move_aside
path, aside = Path("journal"), Path("aside")
append_line(path, b"one\\n")
print(move_aside(path, aside), move_aside(path, aside), path.read_bytes())
"""


@pytest.fixture
def run(tmp_path: Path, environment: Mapping[str, str]) -> Run:
    """Run a command as on Windows in a folder of its own."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*AS_ON_WINDOWS, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    return run


def test_each_module_is_imported(run: Run) -> None:
    result = run("-c", IMPORT_ALL)
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) > 400


def test_the_main_road(run: Run, tmp_path: Path) -> None:
    said = ""
    for words in (
        ["init", "vault"],
        ["remember", "Jane lives in Oslo.", "--entity", "areas/people/jane", "--vault", "vault"],
        ["remember", "Jane has a cat.", "--entity", "areas/people/jane", "--vault", "vault"],
        *([verb, "--vault", "vault"] for verb in ("list", "log", "undo", "heartbeat", "heartbeat", "status")),
        ["recall", "where does Jane live?", "--vault", "vault"],
        ["show", "areas/people/jane", "--vault", "vault"],
        ["backup", "memory.clawmem", "--vault", "vault"],
        ["restore", "memory.clawmem", "again"],
        ["doctor", "--full", "--vault", "again"],
        ["doctor", "--full", "--vault", "vault"],
    ):
        result = run(*words)
        assert result.returncode == 0, (words, result)
        assert "cannot be stored" not in result.stderr, (words, result)
        said = result.stdout
    assert "0 errors, 0 warnings" in said
    git = ["git", "-C", str(tmp_path / "vault"), "status", "--porcelain"]
    assert subprocess.run(git, capture_output=True, check=True).stdout == b""


def test_a_lock_keeps_others_out_and_ends_with_its_process(
    run: Run, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    assert run("init", "vault").returncode == 0
    assert run("config", "set", "lock.wait_seconds", "0", "--vault", "vault").returncode == 0
    words = ("remember", "Jane lives in Oslo.", "--vault", "vault")
    command = [*AS_ON_WINDOWS, "-c", HOLD]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        refused = run(*words)
        holder.kill()
    assert refused.returncode == LOCKED
    assert f"locked by process {holder.pid} (dreaming of sheep)" in refused.stderr
    assert run(*words).returncode == 0


def test_a_deadline(run: Run) -> None:
    assert run("-c", LATE).stdout.splitlines() == ["too late", "in time"]


def test_a_journal_is_moved_aside_once(run: Run) -> None:
    assert run("-c", MOVED).stdout.split() == ["b'one\\n'", "b'one\\n'", "b''"]


def test_what_is_not_there_is_said(run: Run) -> None:
    assert run("init", "vault").returncode == 0
    refused = run("review", "decide", "--vault", "vault")
    assert "On Windows no single keys are read." in refused.stderr
