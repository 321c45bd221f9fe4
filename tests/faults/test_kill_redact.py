"""kill -9 at random moments of `redact`; three hundred under soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_redact import kill_redact

KILLS, SOAK = 2, 300


def test_redact_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    assert kill_redact(vault_root, environment, KILLS).killed == KILLS


@pytest.mark.soak
def test_redact_is_killed_300_times(vault_root: Path, environment: dict[str, str]) -> None:
    assert kill_redact(vault_root, environment, SOAK).killed == SOAK
