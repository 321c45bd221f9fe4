"""Eight processes write at the same time: none fails, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.writers import write_at_once


@pytest.mark.parametrize("each", [3, pytest.param(32, marks=pytest.mark.soak)])
def test_eight_writers(vault_root: Path, environment: dict[str, str], each: int) -> None:
    # On a machine that is fifteen times slower a turn takes a second, and the eighth in the row waits longer than ten.
    write_at_once(vault_root, environment, writers=8, each=each, patience=200)
