"""Sixteen writers of sixty-four facts, for `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.writers import write_at_once

pytestmark = pytest.mark.soak


def test_sixteen_writers_of_sixty_four_facts(vault_root: Path, environment: dict[str, str]) -> None:
    write_at_once(vault_root, environment, writers=16, each=64)
