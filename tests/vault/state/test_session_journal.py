"""The journal of a session and the log of errors: on the disk, bounded, and read whatever a crash left in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clawmem.vault.state.session_journal import FILE, MOST_BYTES, LoggedError, log_error, logged_errors
from tests.conftest import Command

ERROR = LoggedError("2026-11-21T09:30:00Z", "recall", "git", 1, "git failed.")


def test_what_is_logged_is_read_in_order(tmp_path: Path) -> None:
    assert logged_errors(tmp_path) == []
    log_error(tmp_path, ERROR)
    log_error(tmp_path, ERROR._replace(verb="log", message="x" * 2000))
    assert [(logged_error.verb, len(logged_error.message)) for logged_error in logged_errors(tmp_path)] == [
        ("recall", 11),
        ("log", 500),
    ]


def test_the_log_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    for number in range(1200):
        log_error(tmp_path, ERROR._replace(message=f"{number} {'x' * 300}"))
    assert (tmp_path / FILE).stat().st_size <= MOST_BYTES + 1000
    numbers = [int(error.message.split()[0]) for error in logged_errors(tmp_path)]
    assert numbers == list(range(numbers[0], 1200))


def test_a_broken_line_is_left_out(tmp_path: Path) -> None:
    log_error(tmp_path, ERROR)
    with (tmp_path / FILE).open("a") as log:
        log.write('{"at": 3}\n[]\nnothing\n{"at": "2026')
    assert logged_errors(tmp_path) == [ERROR]
    log_error(tmp_path, ERROR)
    assert logged_errors(tmp_path) == [ERROR, ERROR]


def test_doctor_shows_what_failed_and_no_mistake_of_a_call(clawmem: Command, vault_root: Path) -> None:
    assert clawmem("recall", "x", "--limit", "0").code == 2
    assert clawmem("show", "fact_00000000").code == 1
    assert clawmem("doctor", "--errors", "--json").data["errors"] == []
    path = vault_root / "predicates.yaml"
    path.write_text("likes: {\n")
    assert clawmem("heartbeat").code != 0
    path.unlink()
    shown = clawmem("doctor", "--errors", "--json").data["errors"]
    assert shown
    assert {other["code"] for other in shown} == {"unreadable_file"}
    assert all(other["verb"].startswith("heartbeat") for other in shown)
    assert "predicates.yaml" in clawmem("doctor", "--errors").out


def notes(clawmem: Command, session: str) -> list[str]:
    return [note["text"] for note in clawmem("session", "show", session, "--json").data["session"]["notes"]]


def test_a_note_is_on_the_disk_before_the_command_returns(
    clawmem: Command, vault_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = clawmem("session", "start", "--json").data["session"]["id"]
    synced: list[int] = []
    real = os.fsync

    def noting(number: int) -> None:
        synced.append(os.fstat(number).st_ino)
        real(number)

    monkeypatch.setattr(os, "fsync", noting)
    assert clawmem("session", "note", "Still here.").code == 0
    assert (vault_root / f".git/clawmem/sessions/{session}.log").stat().st_ino in synced


def test_a_note_that_a_disk_altered_is_left_out_and_notes_keep_their_order(clawmem: Command, vault_root: Path) -> None:
    session = clawmem("session", "start", "--json").data["session"]["id"]
    for text in ("First.", "Second."):
        assert clawmem("session", "note", text).code == 0
    log = vault_root / f".git/clawmem/sessions/{session}.log"
    log.rename(log.with_suffix(".folding"))  # what a checkpoint leaves that was killed before its commit
    assert clawmem("session", "note", "Third.").code == 0
    assert notes(clawmem, session) == ["First.", "Second.", "Third."]
    log.with_suffix(".folding").write_bytes(log.with_suffix(".folding").read_bytes().replace(b"Second", b"Sekond"))
    assert notes(clawmem, session) == ["First.", "Third."]
