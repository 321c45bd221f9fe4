"""Fail at step n, for every step n of a change: the vault is at the old state or the new one, never between."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from clawmem.errors import ClawmemError
from clawmem.vault.journal import accesses, unfolded
from clawmem.vault.vault import Vault
from tests.faults.checks import assert_whole, commits, facts_in_head
from tests.faults.scenarios import ACCESSES, SCENARIOS, Scenario, keep
from tests.faults.steps import Steps, die, disk_full, faulty_vault, in_child

NEXT = "The next command works."


class Ground(NamedTuple):
    """A prepared vault to copy, the commits a run without failure leaves, and how many steps that run takes."""

    scenario: Scenario
    prepared: Path
    commits: list[str]
    before: int
    steps: list[str]


@pytest.fixture(params=SCENARIOS)
def ground(request: pytest.FixtureRequest, vault: Vault, tmp_path: Path, environment: dict[str, str]) -> Ground:
    """Each scenario, prepared once and run once without failure."""
    scenario = SCENARIOS[request.param]
    scenario.prepare(vault)
    before = len(commits(vault.root, environment))
    clean = shutil.copytree(vault.root, tmp_path / "clean", symlinks=True)
    steps = Steps()
    scenario.act(faulty_vault(clean, environment, steps))
    after = commits(clean, environment)
    assert len(after) - before == max(scenario.allowed)
    assert_whole(clean, environment)
    return Ground(scenario, vault.root, after, before, steps.names)


def _points(ground: Ground, *moments: str) -> list[tuple[int, str]]:
    return [(number, when) for number in range(1, len(ground.steps) + 1) for when in moments]


def _each(ground: Ground, tmp_path: Path, *moments: str) -> list[tuple[int, str, Path]]:
    copies = []
    for number, when in _points(ground, *moments):
        root = shutil.copytree(ground.prepared, tmp_path / f"{when}-{number}", symlinks=True)
        copies.append((number, when, root))
    return copies


def _try(act: Callable[[], None]) -> bool:
    try:
        act()
    except (ClawmemError, OSError):
        return False
    return True


def _check(ground: Ground, root: Path, environment: Mapping[str, str], done: bool) -> None:
    """Old or new now; whole after the next command; and the act itself can be tried again."""
    scenario = ground.scenario
    allowed = {ground.commits[ground.before - 1 + number] for number in scenario.allowed}
    standing = commits(root, environment)
    assert standing[-1] in allowed
    assert not done or standing == ground.commits
    keep(Vault(root, environment), NEXT, entity="areas/next")
    assert_whole(root, environment)
    assert commits(root, environment)[: len(standing)] == standing
    if done:
        return
    scenario.act(Vault(root, environment))
    assert_whole(root, environment)
    texts = [record["fact"] for record in facts_in_head(root, environment)]
    assert texts.count(NEXT) == 1
    assert [text for text in scenario.texts if texts.count(text) != 1] == []


def _check_counts(root: Path, environment: Mapping[str, str]) -> None:
    waiting = sum(one.count for fact_id, one in accesses(unfolded(Vault(root, environment))).items() if fact_id != "fact_00000000")
    folded = sum(record["access_count"] for record in facts_in_head(root, environment))
    assert folded + waiting == ACCESSES


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
def test_a_disk_that_fills_up_at_any_step(
    ground: Ground, tmp_path: Path, environment: dict[str, str], for_good: bool
) -> None:
    moments = ("before",) if for_good else ("before", "during", "after")
    for number, when, root in _each(ground, tmp_path, *moments):
        vault = faulty_vault(root, environment, Steps(number, when, disk_full, for_good))
        done = _try(lambda vault=vault: ground.scenario.act(vault))  # type: ignore[misc]
        _check(ground, root, environment, done)
        if ground.scenario is SCENARIOS["accesses folded"]:
            _check_counts(root, environment)
        shutil.rmtree(root)


def test_a_process_that_is_killed_at_any_step(ground: Ground, tmp_path: Path, environment: dict[str, str]) -> None:
    killed = 0
    for number, when, root in _each(ground, tmp_path, "before", "during", "after"):
        vault = faulty_vault(root, environment, Steps(number, when, die))
        code = in_child(lambda vault=vault: ground.scenario.act(vault))  # type: ignore[misc]
        killed += code == -9
        _wait_for_children(root, environment)
        _check(ground, root, environment, done=code == 0)
        if ground.scenario is SCENARIOS["accesses folded"]:
            _check_counts(root, environment)
        shutil.rmtree(root)
    assert killed >= 2 * len(ground.steps)


def _wait_for_children(root: Path, environment: Mapping[str, str]) -> None:
    """The killed process' git children hold the writer lock to their end; a reader of HEAD has to wait for them."""
    from clawmem.vault.lock import writer_lock

    with writer_lock(root / ".git/clawmem/lock", 10, "wait"):
        return
