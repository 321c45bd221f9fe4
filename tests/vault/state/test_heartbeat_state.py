"""The heartbeat's own files: its turn, what it remembers, and a log that stays small."""

from __future__ import annotations

import pytest

from clawmem.errors import Locked
from clawmem.vault.state.heartbeat_state import (
    LOG,
    STATE,
    HeartbeatState,
    commits_between,
    heartbeat_lock,
    read_heartbeat_state,
    rotate_log,
    write_heartbeat_state,
)
from clawmem.vault.vault import Vault


def test_one_heartbeat_at_a_time(vault: Vault) -> None:
    with (
        heartbeat_lock(vault, 0),
        pytest.raises(Locked, match=r"heartbeat.*gave up after 0.05 seconds"),
        heartbeat_lock(vault, 0.05),
    ):
        pass
    with heartbeat_lock(vault, 0):
        pass


def test_what_a_beat_did_is_remembered_and_odd_files_are_as_none(vault: Vault) -> None:
    assert read_heartbeat_state(vault) == HeartbeatState()
    write_heartbeat_state(vault, HeartbeatState("abc", "1", "2026-11-21", None, "2026-11-20"))
    assert read_heartbeat_state(vault) == HeartbeatState("abc", "1", "2026-11-21", None, "2026-11-20")
    for text in ("oops", "[]", '{"head": 3}'):
        (vault.state / STATE).write_text(text)
        assert read_heartbeat_state(vault) == HeartbeatState()


def test_commits_between_two_points(vault: Vault) -> None:
    head = vault.head().commit
    assert head is not None
    assert commits_between(vault, head, head) == frozenset()
    assert commits_between(vault, "0" * 40, head) is None


def test_the_log_stays_small_while_it_is_being_written(vault: Vault) -> None:
    vault.prepare_state()
    path = vault.state / LOG
    rotate_log(vault, 1000)
    assert not path.exists()
    with path.open("a") as log:
        for number in range(300):
            log.write(f"line {number}\n")
            log.flush()
            rotate_log(vault, 1000)
    kept = (vault.state / f"{LOG}.1").read_text() + path.read_text()
    assert len(kept) <= 2100
    assert kept.endswith("line 299\n")
    assert all(line.startswith("line ") for line in kept.splitlines())
