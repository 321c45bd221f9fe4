"""A damaged file of facts is restored from the last version that could be read, and what was in it is kept."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")

ITEMS = "life/areas/people/bo/items.json"
FACTS = ["Bo has a dog.", "Bo has a red kayak."]


@pytest.fixture
def damaged(clawmem: Command, vault_root: Path) -> Path:
    """The file of two facts, with other text in it."""
    for fact in FACTS:
        assert clawmem("remember", fact, "-e", "areas/people/bo").code == 0
    items = vault_root / ITEMS
    items.write_text("{{{ broken")
    return items


def _facts(clawmem: Command) -> list[str]:
    return sorted(fact["fact"] for fact in clawmem("list", "--json").data["facts"])


def _kept(vault_root: Path) -> list[str]:
    return [path.read_text() for path in (vault_root / ".git/clawmem/damaged").glob("*")]


@pytest.mark.parametrize("committed", [False, True])
def test_doctor_restores_it(
    clawmem: Command, vault_root: Path, damaged: Path, environment: dict[str, str], committed: bool
) -> None:
    if committed:
        subprocess.run(["git", "commit", "-qam", "bad"], cwd=vault_root, env=environment, check=True)
        assert clawmem("remember", "Bo sails.", "-e", "areas/people/bo").code != 0
    assert clawmem("doctor").code == 1
    result = clawmem("doctor", "--fix")
    assert result.code == 0 and "was restored from" in result.err
    assert _facts(clawmem) == FACTS and _kept(vault_root) == ["{{{ broken"]
    assert clawmem("remember", "Bo sails.", "-e", "areas/people/bo").code == 0
    assert clawmem("doctor", "--full").code == 0


def test_the_heartbeat_restores_what_nobody_edits_any_more(clawmem: Command, vault_root: Path, damaged: Path) -> None:
    edited = 1_795_253_400  # 2026-11-21T09:30:00Z, the time of the tests
    os.utime(damaged, (edited, edited))
    soon = clawmem("heartbeat", "--only", "summaries", env={"CLAWMEM_NOW": "2026-11-21T10:00:00Z"})
    assert soon.code == 4 and damaged.read_text() == "{{{ broken"
    later = clawmem("heartbeat", "--only", "summaries", env={"CLAWMEM_NOW": "2026-11-21T11:00:00Z"})
    assert later.code == 0 and f"{ITEMS} could not be read and was restored from" in later.err
    assert _facts(clawmem) == FACTS and _kept(vault_root) == ["{{{ broken"]


def test_a_merge_that_a_person_has_to_finish_is_no_damage(clawmem: Command, damaged: Path) -> None:
    damaged.write_text("<<<<<<< ours\n[]\n=======\n[]\n>>>>>>> theirs\n")
    assert clawmem("doctor", "--fix").code == 1
    assert damaged.read_text().startswith("<<<<<<< ours")
