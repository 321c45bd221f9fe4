"""`sync` killed at random moments: both sides keep all that was acknowledged, and the next sync finishes the job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.faults.checks import facts
from tests.faults.kills import Arena, Tally, kill_many
from tests.memory.machines import Machine, make_machines


def kill_sync(folder: Path, environment: Mapping[str, str], count: int) -> Tally:
    """Before each sync both clones have learned something the other does not know."""
    here, elsewhere = make_machines(folder, environment)
    arena = Arena(here.root, environment, seed=count)
    arena.acknowledged += here.standing()
    items: list[str] = []

    def command(number: int) -> tuple[str, ...]:
        arena.acknowledged.append(f"Known here, number {number}.")
        here.keep(arena.acknowledged[-1], entity=f"projects/place-{number % 3}")
        items.append(f"Known elsewhere, number {number}.")
        elsewhere.keep(items[-1], entity=f"projects/place-{number % 3}")
        elsewhere.sync()
        return ("sync",)

    tally = kill_many(arena, count, command)
    for machine in (here, elsewhere, here):
        machine.sync()
    assert_everywhere([*arena.acknowledged, *items], here, elsewhere)
    return tally


def assert_everywhere(texts: list[str], *machines: Machine) -> None:
    """All machines are at the same commit and hold just these facts."""
    assert len({machine.head() for machine in machines}) == 1
    for machine in machines:
        assert sorted(record["fact"] for record in facts(machine.root)) == sorted(texts)
