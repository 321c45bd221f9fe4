"""Backups, restores and upkeep that are killed: a file or a vault with its final name is always a whole one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from clawmem.memory.backup import verify_backup
from clawmem.vault.exchange.remote_process import leftover_folders
from tests.faults.checks import assert_sound, facts, git
from tests.faults.kills import Arena, Tally, kill_many
from tests.waiting import wait_until

PATIENCE = 60  # seconds


def kill_backup(root: Path, environment: Mapping[str, str], count: int, folder: Path) -> Tally:
    """The same file is written over again and again: it always verifies, and holds what was acknowledged before it
    was made."""
    arena = Arena(root, environment, seed=count)
    target = folder / "memory.clawmem"

    def command(number: int) -> tuple[str, ...]:
        if target.exists():
            with target.open("rb") as file:
                assert verify_backup(file, arena.environment).manifest.counts["facts"] >= held
        return ("backup", "--force", str(target))

    held = 0

    def acknowledge(number: int) -> None:
        nonlocal held
        held = len(arena.acknowledged)

    done = kill_many(arena, count, command, acknowledge)
    _sweep(lambda: arena.run("backup", "--force", str(target)), target)
    assert sorted(path.name for path in folder.iterdir()) == [target.name]
    return done


def _sweep(make: Callable[[], None], target: Path) -> None:
    """Make the target until no folder of a killed command is left beside it. A git that outlives its parent keeps its
    folder until it ends."""

    def is_swept() -> bool:
        make()
        return not leftover_folders(target)

    assert wait_until(is_swept, PATIENCE), leftover_folders(target)


def kill_restore(root: Path, environment: Mapping[str, str], count: int, folder: Path) -> Tally:
    """The new vault is missing or complete; the next restore deletes the files that a killed restore left."""
    arena = Arena(root, environment, seed=count)
    for number in range(20):
        arena.remember(f"This fact was backed up, number {number}.")
    source, place = folder / "memory.clawmem", folder / "new" / "vault"
    arena.run("backup", str(source))
    place.parent.mkdir()
    texts = sorted(one["fact"] for one in facts(root))

    def command(number: int) -> tuple[str, ...]:
        if place.exists():
            assert sorted(one["fact"] for one in facts(place)) == texts
            assert git(place, arena.environment, "status", "--porcelain") == ""
            shutil.rmtree(place)
        return ("restore", str(source), str(place))

    done = kill_many(arena, count, command)
    _sweep(lambda: arena.run(*command(-1)), place)
    command(-1)
    assert list(place.parent.iterdir()) == []
    return done


def kill_upkeep(root: Path, environment: Mapping[str, str], count: int) -> Tally:
    """Every heartbeat has to pack: many objects are loose before each, and every thirteenth time all packs are made
    one."""
    arena = Arena(root, environment, seed=count)

    def command(number: int) -> tuple[str, ...]:
        subprocess.run(_IMPORT, cwd=root, env=arena.environment, input=_side_branch(number), check=True)
        (root / "daily" / "2026-11-20.md").write_text(f"- The tide was {number + 10} feet high.\n")
        return ("heartbeat",)

    done = kill_many(arena, count, command)
    arena.run("heartbeat")

    def is_sound() -> bool:
        with suppress(AssertionError):
            assert_sound(root, arena.environment)
            return True
        return False

    # A git that outlives its parent deletes loose objects that it packed, perhaps while another one reads them.
    wait_until(is_sound, PATIENCE)
    assert_sound(root, arena.environment)
    return done


# As loose objects, as they come from many small commits.
_IMPORT = ("git", "-c", "fastimport.unpackLimit=10000", "fast-import", "--quiet", "--done", "--force")


def _side_branch(number: int) -> bytes:
    """A branch beside the vault's own with enough objects to make packing due."""
    files = "".join(f"M 100644 inline side/{at}\ndata <<END\nside {number} {at}\nEND\n" for at in range(2000))
    commit = f"commit refs/heads/side-{number % 3}\ncommitter a <a@b> {1700000000 + max(number, 0)} +0000\n"
    return f"feature done\n{commit}data 1\nx\ndeleteall\n{files}\ndone\n".encode()
