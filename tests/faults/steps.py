"""Wrappers around the two parts that touch the world, Disk and Git, which fail at a chosen step."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from clawmem.vault.disk import Disk, staged_path
from clawmem.vault.git.git import Git
from clawmem.vault.vault import Vault

T = TypeVar("T")
_ASKING = ("status", "cat-file", "log", "config", "for-each-ref", "merge-base", "rev-list", "diff-tree")
_READING = ("read ", "start ", *(f"finish {name}" for name in _ASKING))
Blow = Callable[[str], None]


def disk_full(name: str) -> NoReturn:
    """The failure of a step on a disk without room."""
    raise OSError(errno.ENOSPC, f"no room at step {name}")


def die(name: str) -> None:
    """The end of this process, as if the machine's operator had sent kill -9 at this step."""
    os.kill(os.getpid(), signal.SIGKILL)


class Steps:
    """Counts steps and fails at one of them, by number or by name: before it, half way through it, or after it.

    With `for_good` every later step that needs room on the disk fails too. `names` are the steps taken;
    `halves`, `changing` and `needing_room` are the numbers of those that can be left half done,
    that change anything, and that a full disk fails.
    """

    def __init__(
        self, target: int | str = 0, when: str = "before", blow: Blow = disk_full, for_good: bool = False
    ) -> None:
        self.names: list[str] = []
        self.halves: set[int] = set()
        self.changing: set[int] = set()
        self.needing_room: set[int] = set()
        self._target = target
        self._when = when
        self._blow = blow
        self._for_good = for_good

    def take(
        self, name: str, whole: Callable[[], T], half: Callable[[], object] | None = None, needs_room: bool = False
    ) -> T:
        """One step: `whole` does it, `half` leaves it the way a kill in the middle would."""
        self.names.append(name)
        self.halves |= {len(self.names)} if half else set()
        self.changing |= set() if name.startswith(_READING) else {len(self.names)}
        self.needing_room |= {len(self.names)} if needs_room else set()
        here = self._target in (len(self.names), name)
        later = self._for_good and needs_room and self._target in range(len(self.names))
        if later or (here and self._when == "before"):
            self._blow(name)
        if here and self._when == "during" and half is not None:
            half()
            self._blow(name)
        result = whole()
        if here and self._when == "after":
            self._blow(name)
        return result


class FaultyDisk(Disk):
    """A disk whose every operation is a step."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def read(self, path: Path) -> bytes | None:
        return self.steps.take(f"read {path.name}", lambda: super(FaultyDisk, self).read(path))

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        def half() -> None:
            staged_path(staging).write_bytes(data[: len(data) // 2])

        whole = super().replace
        self.steps.take(f"replace {path.name}", lambda: whole(path, data, staging), half, needs_room=True)

    def create(self, path: Path, data: bytes) -> bool:
        whole = super().create
        return self.steps.take(f"create {path.name}", lambda: whole(path, data), path.touch, needs_room=True)

    def move(self, path: Path, target: Path) -> None:
        whole = super().move
        self.steps.take(f"move {path.name}", lambda: whole(path, target))

    def remove(self, path: Path) -> None:
        whole = super().remove
        self.steps.take(f"remove {path.name}", lambda: whole(path))


class FaultyGit(Git):
    """A git of which every start and every end is a step."""

    def __init__(self, root: Path, environment: Mapping[str, str], steps: Steps) -> None:
        super().__init__(root, environment)
        self.steps = steps

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        started: list[subprocess.Popen[bytes]] = []

        def whole() -> subprocess.Popen[bytes]:
            started.append(super(FaultyGit, self).start(*arguments))
            return started[0]

        name = next(word for word in arguments if not word.startswith("-") and "=" not in word)
        try:
            return self.steps.take(f"start {name}", whole, needs_room=name in ("fast-import", "update-index"))
        except OSError:
            _end(*started)
            raise

    def finish(self, process: subprocess.Popen[bytes], name: str, data: bytes = b"") -> bytes:
        def half() -> None:
            assert process.stdin is not None
            process.stdin.write(data[: len(data) // 2])
            process.stdin.flush()

        whole = super().finish
        try:
            return self.steps.take(f"finish {name}", lambda: whole(process, name, data), half)
        except OSError:
            _end(process)
            raise

    def stream(self, *arguments: str, stdin: bytes = b"") -> Generator[bytes]:
        whole = super().stream
        yield self.steps.take(f"finish {arguments[0]}", lambda: b"".join(whole(*arguments, stdin=stdin)))


def _end(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        if process.returncode is None:
            process.kill()
            process.communicate()


def faulty_vault(root: Path, environment: Mapping[str, str], steps: Steps) -> Vault:
    """A vault on a faulty disk with a faulty git."""
    vault = Vault(root, environment, FaultyDisk(steps))
    vault.git = FaultyGit(root, environment, steps)
    return vault


def in_child(act: Callable[[], None]) -> int:
    """Run an act in a forked process; its exit code, or minus the signal that ended it. 70 where it raised."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
