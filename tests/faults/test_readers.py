"""Readers and writers at the same time: no reader fails, even if the index disappears."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.vault.vault import Vault
from tests.faults.checks import assert_whole
from tests.faults.scenarios import keep


@pytest.mark.parametrize("turns", [2, pytest.param(12, marks=pytest.mark.soak)])
def test_readers_beside_writers_and_a_vanishing_index(turns: int, vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, *(f"Lighthouse number {number} is lit." for number in range(300)))
    failed: list[str] = []
    for turn in range(turns):
        for path in vault.state.glob("index*"):
            path.unlink(missing_ok=True)
        failed += _turn(vault.root, environment, turn)
    assert failed == []
    assert_whole(vault.root, environment)


def _turn(root: Path, environment: dict[str, str], turn: int) -> list[str]:
    commands = [["recall", "lighthouse"]] * 4 + [["remember", f"Turn {turn}."], ["list"]]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "clawmem", *command, "--vault", str(root)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for command in commands
    ]
    items = [(process.communicate(timeout=300)[1].decode(), process.returncode) for process in running]
    return [f"{command}: {code} {text}" for command, (text, code) in zip(commands, items, strict=True) if code != 0]
