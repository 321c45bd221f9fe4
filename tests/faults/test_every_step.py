"""Fail at step n of a change: the vault is at the old state or the new one, never between.

A normal run tries each kind of step (its name and the moment in it) in one of the scenarios that have it; under soak
every step of every scenario is tried.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pytest

from clawmem.errors import ClawmemError
from clawmem.vault.disk import writer_lock
from clawmem.vault.vault import Vault
from tests.conftest import _environment
from tests.faults.checks import assert_sound, assert_whole, commits, facts
from tests.faults.scenarios import ACCESSES, SCENARIOS, Scenario, keep
from tests.faults.steps import Steps, die, faulty_vault, in_child
from tests.trees import Tree

NEXT = "The next command works."
SAMPLES = pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["sample", "whole"])
Point = tuple[int, str]
Choice = Callable[[Steps], list[Point]]


class Ground(NamedTuple):
    """A prepared vault to copy, the commits a run without failure leaves, and how many steps that run takes."""

    scenario: Scenario
    prepared: Path
    commits: list[str]
    before: int
    steps: Steps


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory, newborn: Tree) -> dict[str, Ground]:
    """Each scenario, prepared once and run once without failure."""
    folder = tmp_path_factory.mktemp("grounds")
    environment = _environment(folder / "home")
    return {
        name: _prepared(scenario, newborn, folder / str(number), environment)
        for number, (name, scenario) in enumerate(SCENARIOS.items())
    }


def _prepared(scenario: Scenario, newborn: Tree, folder: Path, environment: Mapping[str, str]) -> Ground:
    vault = Vault(newborn.write(folder / "vault"), environment)
    scenario.prepare(vault)
    before = len(commits(vault.root, environment))
    clean = shutil.copytree(vault.root, folder / "clean", symlinks=True)
    steps = Steps()
    scenario.act(faulty_vault(clean, environment, steps))
    after = commits(clean, environment)
    assert len(after) - before == max(scenario.allowed)
    assert_whole(clean, environment)
    return Ground(scenario, vault.root, after, before, steps)


@pytest.fixture(params=SCENARIOS)
def name(request: pytest.FixtureRequest) -> str:
    """The name of each scenario."""
    return str(request.param)


def _points(grounds: Mapping[str, Ground], name: str, choice: Choice, whole: bool) -> list[Point]:
    """The points of a scenario that are tried. A kind that several scenarios have falls to one of them."""
    if whole:
        return choice(grounds[name].steps)
    holders: dict[str, list[tuple[str, Point]]] = {}
    for holder, ground in grounds.items():
        for number, when in choice(ground.steps):
            holders.setdefault(f"{when} {ground.steps.names[number - 1]}", []).append((holder, (number, when)))
    chosen = [items[crc32(kind.encode()) % len(items)] for kind, items in sorted(holders.items())]
    return [point for holder, point in chosen if holder == name] or choice(grounds[name].steps)[:1]


def _errors(steps: Steps) -> list[Point]:
    """Where an error can strike: before any step, and half way through or after one that changes something.

    Before the end of a git process is the same as before its start, and left out.
    """
    before = [(number, "before") for number, name in enumerate(steps.names, 1) if not name.startswith("finish")]
    during = [(number, "during") for number in steps.halves & steps.changing]
    return before + during + [(number, "after") for number in steps.changing]


def _full(steps: Steps) -> list[Point]:
    """Where a disk can become full for good."""
    return [(number, "before") for number in sorted(steps.needing_room)]


def _kills(steps: Steps) -> list[Point]:
    """Where a kill can strike: around what changes something; between two readings it strikes nothing new."""
    around = [(number, when) for number in steps.changing for when in ("before", "after")]
    return around + [(number, "during") for number in steps.halves]


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
    if not done:
        scenario.act(Vault(root, environment))
        assert_whole(root, environment)
    texts = [record["fact"] for record in facts(root)]
    assert [text for text in (*scenario.texts, NEXT) if texts.count(text) != 1] == []
    if scenario is SCENARIOS["accesses folded"]:
        assert [record["access_count"] for record in facts(root)].count(ACCESSES) == 1


@SAMPLES
@pytest.mark.few(3)
def test_a_disk_that_fills_up_once(
    grounds: dict[str, Ground], name: str, whole: bool, tmp_path: Path, environment: dict[str, str]
) -> None:
    ground = grounds[name]
    for number, when in _points(grounds, name, _errors, whole):
        root = shutil.copytree(ground.prepared, tmp_path / f"{when}-{number}", symlinks=True)
        vault = faulty_vault(root, environment, Steps(number, when))
        flag = _try(partial(ground.scenario.act, vault))
        _check(ground, root, environment, flag)


@SAMPLES
def test_a_disk_that_stays_full(
    grounds: dict[str, Ground], name: str, whole: bool, tmp_path: Path, environment: dict[str, str]
) -> None:
    ground = grounds[name]
    for number, _ in _points(grounds, name, _full, whole):
        root = shutil.copytree(ground.prepared, tmp_path / f"full-{number}", symlinks=True)
        vault = faulty_vault(root, environment, Steps(number, for_good=True))
        flag = _try(partial(ground.scenario.act, vault))
        _check(ground, root, environment, flag)


@SAMPLES
@pytest.mark.few(3)
def test_a_process_that_is_killed(
    grounds: dict[str, Ground], name: str, whole: bool, tmp_path: Path, environment: dict[str, str]
) -> None:
    ground = grounds[name]
    assert len(_kills(ground.steps)) > 10
    for number, when in _points(grounds, name, _kills, whole):
        root = shutil.copytree(ground.prepared, tmp_path / f"{when}-{number}", symlinks=True)
        vault = faulty_vault(root, environment, Steps(number, when, die))
        assert in_child(partial(ground.scenario.act, vault)) == -9
        _wait_for_children(root)
        _check(ground, root, environment, done=False)
        assert_sound(root, environment)


def _wait_for_children(root: Path) -> None:
    """The git processes of a killed command hold the writer lock until they end; who looks at HEAD waits for them."""
    with writer_lock(root / ".git/clawmem/lock", 60, "wait"):
        return
