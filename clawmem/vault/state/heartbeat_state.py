"""The heartbeat's own files below `.git/clawmem/`: its lock, its state, and its log, which stays small."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.disk import writer_lock
from clawmem.vault.vault import Vault

LOCK = "heartbeat.lock"
STATE = "heartbeat.json"
LAST_RUN = "last-heartbeat.json"
LOG = "heartbeat.log"
MOST_LOG_BYTES = 256 * 1024


class HeartbeatState(NamedTuple):
    """The state after the last heartbeats.

    `head` is the commit after the last complete one, `made` the version of clawmem that ran it, `day` and `week` those
    it ran for, `promoted` the last promoted day, and `read_by` the models that it could ask.
    """

    head: str | None = None
    made: str | None = None
    day: str | None = None
    week: str | None = None
    promoted: str | None = None
    read_by: str | None = None


class StepFailure(NamedTuple):
    """A failure of a heartbeat: the step, or `model` or `edits`, then the code, sentence and hint of the error. The
    step is empty if the heartbeat did not start."""

    step: str
    code: str
    message: str
    hint: str = ""


class HeartbeatRun(NamedTuple):
    """What the last heartbeat on this machine did: when it ended, the events it read, how many of them gave no fact,
    the facts it added or changed, its commits, and what failed."""

    ended: str
    events: int = 0
    taught_nothing: int = 0
    facts: int = 0
    commits: int = 0
    failed: tuple[StepFailure, ...] = ()


@contextmanager
def heartbeat_lock(vault: Vault, wait: float) -> Iterator[None]:
    """Allow one heartbeat at a time. Raise Locked after `wait` seconds. Other writers can continue."""
    vault.prepare_state()
    with writer_lock(vault.state / LOCK, wait, "heartbeat"):
        yield


def read_heartbeat_state(vault: Vault) -> HeartbeatState:
    """Return the state, empty if the file is missing or invalid, as after a clone."""
    return vault.kept_record(HeartbeatState, STATE) or HeartbeatState()


def write_heartbeat_state(vault: Vault, state: HeartbeatState) -> None:
    """Store the state if it has changed."""
    if state != read_heartbeat_state(vault):
        vault.keep(STATE, state._asdict())


def read_last_run(vault: Vault) -> HeartbeatRun | None:
    """Return the last heartbeat of this machine, or None if none ran or the file is invalid."""
    return vault.kept_record(HeartbeatRun, LAST_RUN)


def write_last_run(vault: Vault, run: HeartbeatRun) -> None:
    """Store what a heartbeat did."""
    vault.keep(LAST_RUN, {**run._asdict(), "failed": [failure._asdict() for failure in run.failed]})


def commits_between(vault: Vault, old: str, new: str) -> frozenset[str] | None:
    """Return the commits of `new` that `old` does not have, or None if git does not have one of the two. Runs git."""
    printed = vault.git.try_run("rev-list", f"{old}..{new}")
    return None if printed is None else frozenset(printed.decode().split())


def rotate_log(vault: Vault, most: int = MOST_LOG_BYTES) -> None:
    """Move the log to a backup file once it is larger than `most` bytes. The previous backup is replaced.

    The log is copied and truncated, not renamed, because this process may be writing to it.
    """
    path = vault.state / LOG
    try:
        with path.open("rb+") as log:
            if os.fstat(log.fileno()).st_size <= most:
                return
            log.seek(-most, os.SEEK_END)
            vault.disk.replace(path.with_name(f"{LOG}.1"), log.read().partition(b"\n")[2], vault.state)
            log.truncate(0)
    except FileNotFoundError:
        return
