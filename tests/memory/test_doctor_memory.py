"""Doctor reads ledgers as a stream: four times the events take hardly more memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.index.refresh import rebuild
from clawmem.vault.vault import Vault
from tests.faults.checks import git

# The most memory a command took, in kB.
_PEAK = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def _fill(vault: Vault, days: int, events: int) -> None:
    """Commit and index days of so many events each."""
    for day in range(1, days + 1):
        lines = (
            json.dumps(
                {
                    "id": f"evt_{day:08x}{number:08x}",
                    "timestamp": f"2026-10-{day:02}T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
                    "role": "user",
                    "text": f"Bird number {number} of day {day} was ringed on the island and flew off again.",
                }
            )
            for number in range(events)
        )
        (vault.root / f"ledger/2026-10-{day:02}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    git(vault.root, vault.git.environment, "add", "-A")
    git(vault.root, vault.git.environment, "commit", "-q", "-m", "events")
    rebuild(vault).close()


def _peak(root: Path, environment: dict[str, str], *options: str) -> int:
    command = [sys.executable, "-c", _PEAK, sys.executable, "-m", "clawmem", "doctor", *options]
    return int(subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux only")
def test_four_times_the_events_take_hardly_more_memory(vault: Vault, environment: dict[str, str]) -> None:
    _fill(vault, 3, 800)
    few = _peak(vault.root, environment)
    _fill(vault, 12, 800)
    files = sum(path.stat().st_size for path in vault.root.glob("ledger/*.jsonl")) / 1024
    many = _peak(vault.root, environment)
    assert many - few < files, (few, many, files)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux only")
def test_a_day_of_many_events_takes_little_more_than_its_file(vault: Vault, environment: dict[str, str]) -> None:
    """Each way in which a full check reads a day holds few of its events at once."""
    _fill(vault, 1, 3_000)
    few = _peak(vault.root, environment, "--full")
    _fill(vault, 1, 14_000)
    file = (vault.root / "ledger/2026-10-01.jsonl").stat().st_size / 1024
    many = _peak(vault.root, environment, "--full")
    assert many - few < 6 * file, (few, many, file)
