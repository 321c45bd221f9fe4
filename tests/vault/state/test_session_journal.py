"""The log of errors: bounded, and read whatever a crash left in it."""

from __future__ import annotations

from pathlib import Path

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
    assert logged_errors(tmp_path)[-1].message.startswith("1199 ")


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
