"""The heartbeat's own files below `.git/clawmem/`: its turn, what it did last, and its log, which stays small."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault

LOCK = "heartbeat.lock"
STATE = "heartbeat.json"
LOG = "heartbeat.log"
MOST_LOG_BYTES = 256 * 1024


class HeartbeatState(NamedTuple):
    """What the last beats did: `head` is the commit after the last complete one, `made` by which version of clawmem;
    `day` and `week` are those it was made for; `promoted` is the last day that was promoted."""

    head: str | None = None
    made: str | None = None
    day: str | None = None
    week: str | None = None
    promoted: str | None = None


@contextmanager
def heartbeat_lock(vault: Vault, wait: float) -> Iterator[None]:
    """One heartbeat at a time; raises Locked after `wait` seconds. Other writers go on meanwhile."""
    vault.prepare_state()
    with writer_lock(vault.state / LOCK, wait, "heartbeat"):
        yield


def read_heartbeat_state(vault: Vault) -> HeartbeatState:
    """What is known of earlier beats; nothing where the file is missing or odd, as after a clone."""
    data = vault.disk.read(vault.state / STATE)
    try:
        record = json.loads(data or b"{}")
    except ValueError:
        return HeartbeatState()
    if not isinstance(record, dict):
        return HeartbeatState()
    return HeartbeatState(
        *(value if isinstance(value := record.get(key), str) else None for key in HeartbeatState._fields)
    )


def write_heartbeat_state(vault: Vault, beat: HeartbeatState) -> None:
    """Keep what this beat did, where it says anything new."""
    if beat != read_heartbeat_state(vault):
        vault.disk.replace(vault.state / STATE, (json.dumps(beat._asdict()) + "\n").encode(), vault.state)


def commits_between(vault: Vault, old: str, new: str) -> frozenset[str] | None:
    """The commits of `new` that `old` does not have; None where git does not know one of them. Runs git."""
    printed = vault.git.try_run("rev-list", f"{old}..{new}")
    return None if printed is None else frozenset(printed.decode().split())


def rotate_log(vault: Vault, most: int = MOST_LOG_BYTES) -> None:
    """Set the log aside once it is large, in place of the one set aside before, so that both together stay small.

    It is copied and emptied, not renamed: this very process may be writing to it.
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
