"""`clawmem sync` as a process: its output on a terminal and elsewhere, and the number of git processes that it
starts."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.memory.health.configure import change_setting
from clawmem.vault.git.acceptance import accept
from tests.conftest import Command
from tests.memory.machines import Machine, make_machines
from tests.waiting import is_alive, wait_until


@pytest.fixture
def machines(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Two clones of one vault."""
    return make_machines(tmp_path, environment)


def on_a_terminal(machine: Machine, *options: str) -> tuple[str, str]:
    """What a sync whose errors go to a terminal says, and what it shows there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clawmem", "sync", *options]
    with subprocess.Popen(
        command, cwd=machine.root, env=machine.environment, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            pass  # how a terminal says that nobody writes to it any more
        text = process.communicate(timeout=300)[0].decode()
    os.close(ours)
    assert process.returncode == 0, shown
    return text, shown.decode()


def test_progress_leaves_nothing_on_a_terminal(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.keep("The boat is red.")
    text, shown = on_a_terminal(machine)
    assert text == "sent: 1 change to origin/main\n"
    # On a slow machine it takes longer than half a second.
    assert shown == "" or (shown.startswith("\r\x1b[K") and shown.endswith("\r\x1b[K"))
    machine.keep("The lamp is green.")
    assert on_a_terminal(machine, "--quiet") == ("sent: 1 change to origin/main\n", "")


def gits(machine: Machine, folder: Path) -> list[str]:
    """The git commands that one sync starts itself, in their order."""
    real = shutil.which("git", path=machine.environment["PATH"])
    log, stub = folder / "log", folder / "bin" / "git"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(f"#!/bin/sh\necho \"$@\" >>'{log}'\nexec '{real}' \"$@\"\n")
    stub.chmod(0o755)
    log.write_text("")
    watched: Mapping[str, str] = {**machine.environment, "PATH": f"{stub.parent}:{machine.environment['PATH']}"}
    process = subprocess.run(
        [sys.executable, "-m", "clawmem", "sync"], cwd=machine.root, env=watched, capture_output=True
    )
    assert process.returncode == 0, process.stderr
    return [_command(line) for line in log.read_text().splitlines()]


def _command(line: str) -> str:
    words = iter(line.split())
    for word in words:
        if word != "-c":
            return word
        next(words)
    return ""


def test_no_git_is_started_whose_answer_is_known(machines: list[Machine], tmp_path: Path) -> None:
    other_machine, other = machines
    other.keep("The index is built.")
    for machine in (other, other_machine):
        machine.sync()
    start = ["config", "config", "config", "fetch", "status"]
    assert gits(other_machine, tmp_path) == start
    other_machine.keep("The boat is red.")
    assert gits(other_machine, tmp_path) == [*start, "log", "push", "update-ref"]
    # What came in is looked through for commits that are not this clone's own.
    move = ["diff-tree", "cat-file", "update-ref", "update-index", "merge-base", "cat-file", "log", "log"]
    assert gits(other, tmp_path) == [*start, "log", *move]
    other_machine.keep("The lamp is green.")
    other_machine.sync()
    other.keep("The cat is grey.")
    plan = ["log", "diff-tree", "diff-tree", "cat-file", "fast-import"]
    assert gits(other, tmp_path) == [*start, *plan, *move, "push", "update-ref"]


@pytest.mark.parametrize("planted", [False, True], ids=["never answers", "a program that hangs"])
def test_a_dead_remote_holds_nothing_and_harms_nothing(machines: list[Machine], tmp_path: Path, planted: bool) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    machine.sync()
    other.keep("The lamp is green.")
    change_setting(other.vault, other.caller, "sync.timeout_seconds", "2")
    program, noted, address = (
        tmp_path / "upload-pack",
        tmp_path / "pid",
        other.git("remote", "get-url", "origin").strip(),
    )
    command = [sys.executable, "-m", "clawmem", "sync"]
    before = (other.git("status", "--porcelain"), other.git("for-each-ref"))
    with socket.create_server(("127.0.0.1", 0)) as server:  # its queue takes connections, and nobody reads them
        if planted:
            program.write_text(f"#!/bin/sh\necho $$ >'{noted}'\nexec sleep 300\n")
            program.chmod(0o755)
            other.git("config", "remote.origin.uploadpack", str(program))
        else:
            other.git("remote", "set-url", "origin", f"git://127.0.0.1:{server.getsockname()[1]}/vault.git")
        accept(other.root / ".git", other.environment)
        process = subprocess.run(command, cwd=other.root, env=other.environment, capture_output=True, text=True)
    assert process.returncode == 1 and process.stdout == ""
    assert process.stderr.splitlines() == [
        "error: origin could not be fetched from: it took more than 2 seconds (sync.timeout_seconds).",
        "hint: Nothing was lost: the vault here is complete. Try again when it can be reached.",
    ]
    assert not noted.exists() or wait_until(lambda: not is_alive(int(noted.read_text())))
    assert (other.git("status", "--porcelain"), other.git("for-each-ref")) == before
    other.git("remote", "set-url", "origin", address)
    other.git("config", "remote.origin.uploadpack", "git-upload-pack")
    accept(other.root / ".git", other.environment)
    assert other.sync().pushed


def test_rival_decisions_of_two_machines_are_named_and_served_as_a_conflict(machines: list[Machine]) -> None:
    for machine, store in zip(machines, ("moves to Bergen", "stays in Oslo"), strict=True):
        assert command(machine, "decision", "add", f"The winter store {store}.", "--why", "It is dry.")
    assert command(machines[0], "sync")
    assert "it chooses something else for the same thing" in command(machines[1], "sync")
    assert "In conflict with the line above" in command(machines[1], "context", "winter store")


def test_a_shared_vault_names_who_stated_decided_and_changed_something(machines: list[Machine]) -> None:
    first, second = machines
    command(first, "decision", "add", "Buy the Tern.", "--why", "It is light.", "--alternative", "the Gull: it leaks")
    command(first, "remember", "The keel is lead.")
    command(first, "sync")
    second.git("config", "user.name", "Tove")
    command(second, "sync")
    command(second, "review", "trust", "*")
    command(second, "supersede", "The keel is lead.", "The keel is iron.", "--reason", "it was weighed")
    name = first.git("config", "user.name").strip()
    for question in ("who decided for the Tern?", "why not the Gull?", "what was rejected?"):
        line = command(second, "recall", question)
        assert f"  {name}: Buy the Tern." in line and "rejected the Gull: it leaks" in line, question
    assert "  Tove: The keel is iron." in command(second, "recall", "who changed the keel?")
    assert ", Tove, because it was weighed)" in command(second, "context", "keel")


def command(machine: Machine, *words: str) -> str:
    """What a command on a machine prints."""
    call = [sys.executable, "-m", "clawmem", *words]
    return subprocess.run(
        call, cwd=machine.root, env=machine.environment, capture_output=True, text=True, check=True
    ).stdout


def test_each_machine_hears_of_a_dispute_and_of_two_decisions_about_it(
    machines: list[Machine], clawmem: Command
) -> None:
    def on(hour: int, machine: Machine, *arguments: str) -> str:
        result = clawmem(*arguments, cwd=machine.root, env={"CLAWMEM_NOW": f"2026-12-02T{hour:02}:00:00"})
        assert result.code == 0, result.err
        return result.out

    ours, theirs = machines
    (shared,) = ours.keep("The launch is on 14 December.", entity="projects/site")
    ours.sync()
    theirs.sync()
    on(8, ours, "supersede", shared.id, "The launch is on 4 January.", "--reason", "a call")
    on(9, theirs, "supersede", shared.id, "The launch is on 18 December.", "--reason", "a mail")
    on(10, ours, "sync")
    on(10, theirs, "sync")
    heard = on(10, ours, "sync")
    assert f"conflict: {shared.id} was replaced by" in heard
    assert "1 question for you" in heard
    proposal = on(11, ours, "review", "list").split()[0]
    kept = on(11, ours, "list", "--jsonl", "--fields", "id,fact")
    early = next(row["id"] for row in map(json.loads, kept.splitlines()) if "January" in row["fact"])
    on(11, theirs, "review", "approve", proposal, "--reason", "the mail is right")
    on(12, ours, "review", "approve", proposal, "--keep", early, "--reason", "confirmed")
    on(13, ours, "sync")
    both = on(13, theirs, "sync"), on(13, ours, "sync")
    for machine, heard in zip((theirs, ours), both, strict=True):
        assert f"the later decision wins and {early} is active again: The launch is on 4 January." in heard
        assert "question for you" not in heard
        assert "The launch is on 4 January. (instead of: " in on(14, machine, "review", "list", "--all")
        assert "because a call; confirmed" in on(14, machine, "recall", "when is the launch?")
