"""`clawmem cron`, run as cron runs it: its line in sh, without a terminal, with a minimal environment."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from clawmem.vault.exchange.create import create_vault
from clawmem.vault.state.heartbeat_state import LOCK, LOG
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command
from tests.setup.test_cron import CRONTAB, through_cron

ODD = 'it\'s 100% "mine" & $HOME `x` \\%'


@pytest.fixture
def odd(tmp_path: Path, environment: dict[str, str]) -> Vault:
    """A vault at a path that cron and the shell would each misread."""
    return create_vault(tmp_path / ODD / "vault", environment, NOW)


def _as_cron_does(line: str, home: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/usr/bin/env", "-i", f"HOME={home}", "PATH=/usr/bin:/bin", "/bin/sh", "-c", through_cron(line)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=120,
        check=False,
    )


def test_the_line_runs_as_cron_runs_it_from_any_path(odd: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    assert clawmem("note", "We decided to use Postgres for billing.", "--vault", str(odd.root)).code == 0
    shown = clawmem("cron", "show", "--json", "--vault", str(odd.root), env={"PATH": environment["PATH"]})
    (entry,) = shown.data["entries"]
    assert entry["installed"] is False
    line = entry["text"]
    first = _as_cron_does(line, environment["HOME"])
    log = (odd.state / LOG).read_text()
    assert (first.returncode, first.stdout, first.stderr) == (0, b"", b""), log
    assert " commits; `clawmem log" in log
    assert all(row[:2] == "20" and row[19] == "Z" for row in log.splitlines()), log
    head = odd.head()
    assert _as_cron_does(line, environment["HOME"]).returncode == 0
    assert odd.head() == head
    assert (odd.state / LOG).read_text() == log


def test_a_run_that_overlaps_waits_and_leaves_a_line_in_the_log(
    odd: Vault, clawmem: Command, environment: dict[str, str]
) -> None:
    where = ("--vault", str(odd.root))
    assert clawmem("config", "set", "lock.wait_seconds", "0.2", *where).code == 0
    line = clawmem("cron", "show", "--json", *where).data["entries"][0]["text"]
    descriptor = os.open(odd.state / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert _as_cron_does(line, environment["HOME"]).returncode == 11
    finally:
        os.close(descriptor)
    log = (odd.state / LOG).read_text()
    assert "the heartbeat did not run" in log
    assert "gave up after 0.2 seconds" in log
    assert _as_cron_does(line, environment["HOME"]).returncode == 0


def test_a_vault_that_is_gone_is_no_secret_to_cron(vault: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    line = clawmem("cron", "show", "--json").data["entries"][0]["text"]
    vault.root.rename(vault.root.with_name("elsewhere"))
    assert _as_cron_does(line, environment["HOME"]).returncode != 0


def test_install_show_and_remove(clawmem: Command, environment: dict[str, str], tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "crontab"
    tool.parent.mkdir()
    tool.write_text(CRONTAB)
    tool.chmod(0o755)
    around = {"PATH": f"{tool.parent}:{environment['PATH']}"}
    dry = clawmem("cron", "install", "--every", "15m", "--dry-run", env=around)
    first, entry = dry.out.split("\n", 1)
    assert first == "would be installed in crontab: the heartbeat runs every 15 minutes"
    assert entry.startswith("*/15 * * * * cd / && ")
    assert not (Path(environment["HOME"]) / "table").exists()
    assert clawmem("cron", "install", "--every", "15m", env=around).out == dry.out.replace("would be ", "")
    assert clawmem("cron", "install", "--every", "15m", env=around).out.startswith("crontab has it already\n")
    assert clawmem("cron", "show", env=around).out == entry
    assert clawmem("cron", "remove", env=around).out.startswith("removed from crontab: */15")
    assert clawmem("cron", "remove", env=around).out == "nothing is installed, so nothing was removed\n"


def test_what_cannot_be_is_refused(clawmem: Command) -> None:
    assert clawmem("cron", "install", "--every", "7m").code == 2
    assert clawmem("cron", "install", "--every", "30m", "--at", "03:30").code == 2
    missing = clawmem("cron", "install", env={"PATH": "/nowhere"})
    assert missing.code == 1
    assert "*/15 * * * * cd / && " in missing.err
