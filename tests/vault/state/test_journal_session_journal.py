"""The journal of a session: on the disk, and read whatever a crash left in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Command


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
