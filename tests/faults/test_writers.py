"""Eight processes write at the same time: none fails, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

from tests.faults.writers import write_at_once


def test_eight_writers_of_thirty_two_facts(vault_root: Path, environment: dict[str, str]) -> None:
    # On a machine that is fifteen times slower a turn takes a second, and the eighth in the row waits longer than ten.
    write_at_once(vault_root, environment, writers=8, each=32, patience=200)
