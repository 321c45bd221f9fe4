"""Readers and writers at the same time: no reader fails, even if the index disappears."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clawmem.vault.vault import Vault
from tests.command_server import shared_server
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

    def run(words: list[str]) -> str | None:
        process = shared_server().run([*words, "--vault", str(root)], b"", root.parent, environment, seconds=300)
        return f"{words}: {process.returncode} {process.stderr.decode()}" if process.returncode else None

    with ThreadPoolExecutor(len(commands)) as pool:
        return [said for said in pool.map(run, commands) if said]
