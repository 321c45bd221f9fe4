"""Three workers at once, killed again and again: each commit is taken in exactly once, in order."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.extensions.hub import intake
from clawmem.extensions.hub.worker import work_once
from clawmem.model.facts.codec import parse_items
from tests.extensions.hub.postgres.hubs import (
    WORKER,
    History,
    add,
    fact,
    items,
    make_worker,
    rows,
    verified,
    work,
    worker_options,
)
from tests.extensions.hub.postgres.server import Database

_WORKERS = 3


def started(act: Callable[[], object]) -> int:
    """Run an act in a process of its own, without what the test has open; return its id."""
    child = os.fork()
    if child:
        return child
    try:
        act()
    except BaseException:  # noqa: BLE001 - a worker may end in any way
        os._exit(1)
    os._exit(0)


def histories(folder: Path, count: int, commits: int) -> list[History]:
    """Vaults in which each commit adds a fact, changes one, or removes one."""
    chance = random.Random(5)
    made = []
    for number in range(count):
        history = History(folder / f"source-{number}")
        known: dict[str, str] = {}
        states = []
        for step in range(commits):
            if len(known) > 3 and chance.random() < 0.3:
                del known[chance.choice(list(known))]
            elif len(known) > 3 and chance.random() < 0.3:
                known[chance.choice(list(known))] = f"Changed in step {step}."
            else:
                known[f"fact_{number}_{step}"] = f"Said in step {step}."
            halves: list[list[dict[str, object]]] = [[], []]
            for place, (name, claim) in enumerate(known.items()):
                halves[place % 2].append(fact(name, claim))
            states.append(
                {f"life/resources/half-{half}/items.json": items(*halve) for half, halve in enumerate(halves)}
            )
        history.many(states)
        made.append(history)
    return made


def facts_of(history: History) -> set[tuple[str, str, str]]:
    """The facts of the files of a vault, with their paths."""
    paths = [path.relative_to(history.root).as_posix() for path in history.root.glob("life/**/items.json")]
    return {
        (item.id, item.fact, path) for path in paths for item in parse_items((history.root / path).read_bytes(), path)
    }


def kill_and_finish(database: Database, folder: Path, made: list[History], kills: int) -> int:
    """Run workers and kill one after the other, each after some progress of all; then let them finish. One history is
    rewritten meanwhile. Return how many were killed."""
    chance = random.Random(7)
    # The half of one history that is rewritten may never be taken in.
    pause = (sum(other_history.number for other_history in made) - made[0].number // 2) // (kills + 1)

    def once() -> object:
        return list(work_once(database.address(WORKER), worker_options(folder)))

    running = [started(once) for _ in range(_WORKERS)]
    killed = 0
    with database.server.admin(database.name) as admin:
        until = time.monotonic() + 300
        while killed < kills and time.monotonic() < until:
            logged_now = len(admin.execute("SELECT FROM clawmem.log WHERE kind = 'commit'").fetchall())
            time.sleep(chance.uniform(0, 0.02))
            place = chance.randrange(_WORKERS)
            if logged_now >= pause * (killed + 1):
                os.kill(running[place], signal.SIGKILL)
                killed += 1
                if killed == kills // 2:
                    made[0].git("reset", "--quiet", "--hard", f"HEAD~{made[0].number // 2}")
            elif not os.waitpid(running[place], os.WNOHANG)[0]:
                continue  # it works
            else:
                running[place] = started(once)
                continue
            os.waitpid(running[place], 0)
            running[place] = started(once)
    for number in running:
        os.waitpid(number, 0)
    work(database, folder)
    for history in made:
        commits = history.git("rev-list", "--topo-order", "--reverse", "HEAD").split()
        taken = rows(
            database,
            "SELECT c.commit FROM taken_commit c JOIN vault v USING (org, vault)"
            " WHERE v.address = %s ORDER BY position",
            WORKER,
            str(history.root),
        )
        assert [commit for (commit,) in taken] == commits
        claims = rows(
            database,
            "SELECT f.id, f.claim, f.path, f.line FROM fact f JOIN vault v USING (org, vault) WHERE v.address = %s",
            WORKER,
            str(history.root),
        )
        assert {(other, claim, path) for other, claim, path, _ in claims} == facts_of(history)
    logged = rows(database, "SELECT count(*), count(DISTINCT (vault, epoch, subject)) FROM log WHERE kind = 'commit'")
    assert logged[0][0] == logged[0][1]
    verified(database)
    return killed


def test_workers_that_are_killed_lose_and_double_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_COMMITS", 5)
    make_worker(database)
    made = histories(tmp_path, 3, 150)
    for history in made:
        add(database, history.root)
    assert kill_and_finish(database, tmp_path, made, 4) == 4


@pytest.mark.soak
def test_workers_that_are_killed_a_hundred_times(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_COMMITS", 3)
    make_worker(database)
    made = histories(tmp_path, 12, 500)
    for history in made:
        add(database, history.root)
    assert kill_and_finish(database, tmp_path, made, 100) == 100
