"""Files below a folder in which others are at work."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest

from clawmem.errors import Locked
from clawmem.vault.disk import Disk, _next_pause, files_below, staged_path, writer_lock
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.faults.checks import assert_whole
from tests.faults.scenarios import keep
from tests.waiting import wait_until


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


HOLD = """
import sys, time
from collections.abc import Iterator
from pathlib import Path
from clawmem.vault.disk import _next_pause, writer_lock
with writer_lock(Path(sys.argv[1]), 1, "dreaming of sheep"):
    print("held", flush=True)
    time.sleep(300)
"""


@pytest.fixture
def holder(vault: Vault) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the writer lock."""
    vault.prepare_state()
    command = [sys.executable, "-c", HOLD, str(vault.state / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_the_wait_is_bounded_and_names_the_holder(
    vault: Vault, holder: subprocess.Popen[bytes], clawmem: Command
) -> None:
    (vault.root / "clawmem.yaml").write_text("format: 1\nlock:\n  wait_seconds: 0.3\n")
    result = clawmem("remember", "First.", "--json")
    assert result.code == 11
    assert result.json["error"]["code"] == "locked"
    message = result.json["error"]["message"]
    assert message == f"The vault is locked by process {holder.pid} (dreaming of sheep); gave up after 0.3 seconds."
    assert clawmem("recall", "anything").code == 0
    assert holder.poll() is None


def test_the_lock_ends_with_its_process(vault: Vault, holder: subprocess.Popen[bytes]) -> None:
    with pytest.raises(Locked), writer_lock(vault.state / "lock", 0, "impatience"):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with writer_lock(vault.state / "lock", 1, "patience"):
        assert (vault.state / "lock").read_text() == f"{os.getpid()} patience\n"


def test_a_git_process_that_outlives_its_clawmem_keeps_the_lock(vault: Vault) -> None:
    """clawmem is killed alone: no other process may write until its git has ended."""
    vault.prepare_state()
    path = vault.state / "lock"
    with writer_lock(path, 1, "starting") as descriptor:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
    with pytest.raises(Locked), writer_lock(path, 0.05, "too early"):
        pass
    assert child.stdin is not None
    Timer(0.2, child.stdin.close).start()
    with writer_lock(path, 60, "in time"):
        assert child.wait(60) == 0


def _has_open(pid: int, path: Path) -> bool:
    """A descriptor may close between listing and reading: only what can still be read counts."""
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if file.readlink() == path.resolve():
                return True
    return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the files of other processes cannot be seen here")
def test_a_waiting_writer_gets_its_turn(vault: Vault, environment: dict[str, str], clawmem: Command) -> None:
    with writer_lock(vault.state / "lock", 1, "a moment"):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "clawmem", "remember", "First."], cwd=vault.root, env=environment
        )
        assert wait_until(lambda: _has_open(waiting.pid, vault.state / "lock"))
        assert waiting.poll() is None
    assert waiting.wait(60) == 0
    keep(vault, "Second.")
    assert_whole(vault.root, environment)


def test_a_lock_file_with_anything_in_it_is_taken(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_bytes(b"\xff\xfe 99999999 \x00 nobody" * 50)
    with writer_lock(path, 0, "mine"):
        assert path.read_text() == f"{os.getpid()} mine\n"


def test_who_waits_long_looks_more_often() -> None:
    """Sixteen writers of which each new one looked as often as the oldest: one of a thousand was passed over."""
    naps = [_next_pause(1.0, waited / 10) for waited in range(100)]
    assert naps[0] == pytest.approx(0.02)
    assert naps == sorted(naps, reverse=True)
    assert naps[-1] == pytest.approx(0.0005)
    assert _next_pause(0.002, 0) == pytest.approx(0.003)
