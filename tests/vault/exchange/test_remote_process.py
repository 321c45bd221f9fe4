"""git processes that contact other machines: they end in time with all their children, and their progress is shown."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.errors import RemoteFailed
from clawmem.model.progress import Progress
from clawmem.vault.disk import writer_lock
from clawmem.vault.exchange.remote import Remote, fetch
from clawmem.vault.exchange.remote_process import leftover_folders, run_remote_git, staging
from clawmem.vault.git.git import Git
from clawmem.vault.git.refs import read_ref
from clawmem.vault.vault import Vault
from tests.faults.checks import git
from tests.waiting import is_alive, wait_until

DEAF = "trap '' TERM; exec 2>&-"


def slow_ssh(folder: Path, manner: str) -> Mapping[str, str]:
    """Variables with which git reaches a machine that never answers; the pid of its ssh is noted."""
    ssh = folder / "ssh"
    ssh.write_text(f"#!/bin/sh\necho $$ >'{folder}/pid'\n{manner}\nexec sleep 300\n")
    ssh.chmod(0o755)
    return {"GIT_SSH_COMMAND": str(ssh)}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes cannot be seen here")
@pytest.mark.parametrize("manner", [":", DEAF], ids=["well-behaved", "deaf"])
def test_when_the_time_is_over_all_of_it_is_ended(vault: Vault, tmp_path: Path, manner: str) -> None:
    git(vault.root, vault.git.environment, "remote", "add", "origin", "ssh://nobody@nowhere.invalid/vault.git")
    noted = tmp_path / "pid"
    # A slow machine needs longer than a second until git has started its ssh at all: then it has more time.
    for seconds in (1.0, 10.0, 60.0):
        with pytest.raises(RemoteFailed, match=r"took more than \d+ seconds \(sync\.timeout_seconds\)"):
            fetch(vault, Remote("origin", slow_ssh(tmp_path, manner)), "main", None, seconds)
        if noted.exists() and noted.read_text().strip():
            break
    ssh = int(noted.read_text())
    assert wait_until(lambda: not is_alive(ssh))
    assert not list((vault.git_dir / "refs").rglob("*.lock"))


# A program in place of `git-upload-pack`: after the first bytes of a pack it sends one now and then.
DRIP = """#!{python}
import subprocess, sys, time
from pathlib import Path
with subprocess.Popen(["git-upload-pack", sys.argv[1]], stdout=subprocess.PIPE) as real:
    while byte := real.stdout.read(1):
        sys.stdout.buffer.write(byte)
        sys.stdout.buffer.flush()
        if byte == b"K":  # of PACK
            Path({noted!r}).write_text("dripping")
        if Path({noted!r}).exists():
            time.sleep(1)
"""


def hub_of(vault: Vault, folder: Path) -> Path:
    """A bare copy of the vault's repository."""
    git(folder, vault.git.environment, "clone", "-q", "--bare", str(vault.root), "hub.git")
    return folder / "hub.git"


def test_a_byte_now_and_then_is_no_progress_and_leaves_nothing(vault: Vault, tmp_path: Path) -> None:
    hub, copy, program = hub_of(vault, tmp_path), tmp_path / "copy", tmp_path / "upload-pack"
    program.write_text(DRIP.format(python=sys.executable, noted=str(tmp_path / "noted")))
    program.chmod(0o755)
    git(tmp_path, vault.git.environment, "init", "-q", "-b", "main", str(copy))
    arguments = ("fetch", "--progress", f"--upload-pack={program}", "--", str(hub), "main:refs/heads/taken")
    output = run_remote_git(Git(copy, vault.git.environment), arguments, 30, silent_seconds=2)
    assert output == (None, "", "it made no progress for 2 seconds")
    assert read_ref(copy / ".git", "refs/heads/taken") is None
    assert not list((copy / ".git").rglob("tmp_*")) and not list((copy / ".git").rglob("*.lock"))


@pytest.mark.parametrize(("pause", "lines"), [(0.4, 10), (2, 10)], ids=["slow", "dead"])
def test_slow_is_not_dead(vault: Vault, tmp_path: Path, pause: float, lines: int) -> None:
    hook = hub_of(vault, tmp_path) / "hooks/pre-receive"
    hook.write_text(f"#!/bin/sh\nfor i in $(seq {lines}); do echo works >&2; sleep {pause}; done\n")
    hook.chmod(0o755)
    arguments = ("push", "--porcelain", "--progress", "--", str(hook.parent.parent), "HEAD:refs/heads/other")
    output = run_remote_git(vault.git, arguments, 300, silent_seconds=3)
    if pause < 1:
        assert output.code == 0 and output.complaint.count("remote: works") == lines
    else:  # too few signs of it in any three seconds
        assert output == (None, "", "it made no progress for 3 seconds")


def test_git_has_ended_whoever_still_holds_its_errors(vault: Vault, tmp_path: Path) -> None:
    hub, program = hub_of(vault, tmp_path), tmp_path / "upload-pack"
    program.write_text(f"#!/bin/sh\nsleep 300 >/dev/null &\necho $! >'{tmp_path}/pid'\nexec git-upload-pack \"$1\"\n")
    program.chmod(0o755)
    arguments = ("ls-remote", f"--upload-pack={program}", "--", str(hub), "HEAD")
    output = run_remote_git(vault.git, arguments, 300)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert output.code == 0 and output.printed.endswith("HEAD\n")


def test_there_is_no_terminal_to_ask_at(vault: Vault, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\n(: </dev/tty) 2>/dev/null && echo yes >'{asked}'\nps -o sid= -p $$ >'{tmp_path}/sid'\n")
    ssh.chmod(0o755)
    with vault.git.with_environment({"GIT_SSH_COMMAND": str(ssh)}):
        output = run_remote_git(vault.git, ("ls-remote", "ssh://nobody@nowhere.invalid/vault.git"), 300)
    assert output.code == 128 and "Could not read from remote repository" in output.complaint
    assert not asked.exists()
    assert int((tmp_path / "sid").read_text()) != os.getsid(0)


def test_progress_is_heard_line_by_line(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    hub = tmp_path / "hub.git"
    git(tmp_path, environment, "init", "-q", "--bare", "-b", "main", str(hub))
    heard: list[Progress] = []
    arguments = ("push", "--porcelain", "--progress", "--", str(hub), "HEAD:refs/heads/main")
    output = run_remote_git(vault.git, arguments, 300, heard.append)
    assert output.code == 0 and "HEAD:refs/heads/main\t[new branch]" in output.printed
    written = [progress for progress in heard if progress.what == "Writing objects"]
    assert written and written[-1].total and written[-1].done == written[-1].total and written[-1].unit == "objects"
    assert "Writing objects" not in output.complaint
    assert not [
        progress for progress in heard if "\r" in progress.what or "\n" in progress.what or "%" in progress.what
    ]


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
