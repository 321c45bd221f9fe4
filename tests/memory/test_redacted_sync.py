"""A secret was redacted on one machine, and other machines still have it: it does not return by itself."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from clawmem.errors import HistoryRewritten
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.memory.sync.sync import SyncOptions
from clawmem.model.history.redaction import RECORD
from clawmem.vault.history.git_merges import _fits
from tests.conftest import Command
from tests.faults.checks import assert_sound, assert_whole, git
from tests.memory.machines import Machine, make_hub, make_machines

SECRET = "quiet-otter-kxqvbnwzjh"


def holds_secret(root: Path) -> bool:
    """Whether any object of a repository, packed or not, has it."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return SECRET.encode() in subprocess.run(command, cwd=root, check=True, capture_output=True).stdout


def redacted(machine: Machine) -> None:
    """Take the secret out on one machine."""
    result = redact(machine.vault, RedactTarget(pattern=SECRET), machine.caller)
    assert result.remains == () and not holds_secret(machine.root)


def take_record_out(machine: Machine) -> None:
    """Remove the record of the redaction with plain git."""
    machine.git("rm", "-q", RECORD)
    machine.git("commit", "-qm", "away with it")


@pytest.fixture
def leaked(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Two clones that both have the secret, as has the bare repository between them."""
    return make_machines(tmp_path, environment, build=_leak)


def _leak(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep(f"The gate opens with {SECRET}.", entity="areas/house")
    machine.keep("The boat is red.")
    machine.sync()
    other.sync()
    machine.keep("The lamp is green.")
    other.keep("The cat is grey.")
    machine.sync()
    other.sync()
    machine.sync()
    assert holds_secret(machine.root) and holds_secret(other.root)


def test_the_old_history_of_the_remote_is_not_met_again(leaked: list[Machine], clawmem: Command) -> None:
    machine, _ = leaked
    redacted(machine)
    assert machine.git("for-each-ref", "--format=%(refname)", "refs/clawmem", "refs/remotes") == ""
    take_record_out(machine)
    before = machine.head()
    for wanted in (SyncOptions(), SyncOptions(dry_run=True), SyncOptions(allow_unrelated=True)):
        with pytest.raises(HistoryRewritten, match="before a redaction here"):
            machine.sync(wanted)
        assert machine.head() == before and not holds_secret(machine.root)
    result = clawmem("sync", "--json", cwd=machine.root)
    assert (result.code, result.json["error"]["code"]) == (12, "rewritten")
    printed = re.findall(r"`git (push [^`]*)`", result.json["error"]["hint"])
    assert printed
    machine.keep("Life goes on.")
    assert_whole(machine.root, machine.environment)
    assert_sound(machine.root, machine.environment)
    machine.git(*printed[0].split())
    assert machine.sync().received == 0


def test_published_anew_it_stays_out_and_old_clones_are_refused(
    leaked: list[Machine], tmp_path: Path, environment: dict[str, str]
) -> None:
    machine, other = leaked
    redacted(machine)
    machine.git("push", "-q", "--force", "origin", "main")
    machine.sync()
    other.keep("Only the other knows this.")
    before = other.head()
    for _ in range(2):
        with pytest.raises(HistoryRewritten, match="rewritten"):
            other.sync()
    assert other.head() == before
    # Not by hard links: the bare repository keeps old objects until its owner removes them.
    git(tmp_path, environment, "clone", "-q", "--no-local", str(tmp_path / "hub.git"), "fresh")
    fresh = Machine(tmp_path / "fresh", environment, 9)
    fresh.keep("The clock is old.")
    assert fresh.sync().pushed
    machine.keep("The clock is new.")
    machine.sync()
    assert "The clock is old." in machine.standing() and not holds_secret(machine.root) and not holds_secret(fresh.root)


def test_an_old_clone_that_never_synced_is_refused_too(
    leaked: list[Machine], tmp_path: Path, environment: dict[str, str]
) -> None:
    machine, _ = leaked
    git(tmp_path, environment, "clone", "-q", str(tmp_path / "hub.git"), "quiet")
    quiet = Machine(tmp_path / "quiet", environment, 9)
    quiet.keep("Only this clone knows.")
    redacted(machine)
    machine.git("push", "-q", "--force", "origin", "main")
    with pytest.raises(HistoryRewritten, match="this clone still has the history from before"):
        quiet.sync()
    assert git(tmp_path / "hub.git", environment, "rev-parse", "main").strip() == machine.head()
    quiet.sync(SyncOptions(allow_rewritten=True))
    assert "Only this clone knows." in quiet.standing()


def test_somebody_who_brought_it_back_with_git_is_noticed(leaked: list[Machine]) -> None:
    machine, other = leaked
    redacted(machine)
    machine.git("push", "-q", "--force", "origin", "main")
    machine.sync()
    take_record_out(machine)
    other.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    other.git("push", "-q", "origin", "main")
    with pytest.raises(HistoryRewritten, match="before a redaction here"):
        machine.sync()
    assert not holds_secret(machine.root)


def test_a_secret_that_was_never_given_away_hinders_nobody(leaked: list[Machine]) -> None:
    machine, other = leaked
    machine.keep("The code is violet-heron-qpwoeiruty.", entity="areas/house")
    redact(machine.vault, RedactTarget(pattern="violet-heron-qpwoeiruty"), machine.caller)
    other.keep("Something else.")
    other.sync()
    machine.sync()
    other.sync()
    assert machine.head() == other.head()
    assert "Something else." in machine.standing() and "The code is [redacted]." in other.standing()


def test_a_secret_in_the_very_first_commit(tmp_path: Path, environment: dict[str, str], clawmem: Command) -> None:
    hub = make_hub(tmp_path, environment)
    root = tmp_path / "first"
    assert clawmem("init", str(root)).code == 0
    alone = Machine(root, environment, 3)
    alone.write("MEMORY.md", f"# Memory\n\n{SECRET}\n")
    alone.git("add", "MEMORY.md")
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    alone.git(*author, "commit", "-q", "--amend", "--no-edit")
    alone.git("remote", "add", "origin", str(hub))
    alone.sync()
    redacted(alone)
    with pytest.raises(HistoryRewritten, match="before a redaction here"):
        alone.sync(SyncOptions(allow_unrelated=True))
    assert not holds_secret(root)


def test_an_old_history_that_is_forced_back_leaves_no_object(leaked: list[Machine], clawmem: Command) -> None:
    machine, other = leaked
    redacted(machine)
    machine.git("push", "-q", "--force", "origin", "main")
    machine.sync()
    other.git("push", "-q", "--force", "origin", "main")
    known = machine.git("for-each-ref")
    for wanted in (SyncOptions(), SyncOptions(dry_run=True)):
        with pytest.raises(HistoryRewritten, match="its history was rewritten"):
            machine.sync(wanted)
        assert not holds_secret(machine.root)
        assert machine.git("for-each-ref") == known
        assert SECRET.encode() not in b"".join(path.read_bytes() for path in machine.root.rglob("*") if path.is_file())
    assert clawmem("doctor", "--full", cwd=machine.root).code == 0


def test_doctor_names_an_old_history_that_plain_git_brought(leaked: list[Machine], clawmem: Command) -> None:
    machine, _ = leaked
    redacted(machine)
    clean = clawmem("doctor", "--full", "--json", cwd=machine.root).data["problems"]
    assert not [row for row in clean if "before a redaction" in row["message"]]
    machine.git("fetch", "-q", "origin")
    for _ in range(2):
        found = clawmem("doctor", "--full", "--json", cwd=machine.root).data["problems"]
        (message,) = [row for row in found if "before a redaction" in row["message"]]
        assert message["severity"] == "warning"
        machine.git("update-ref", "-d", "refs/remotes/origin/main")  # the objects are still there


@pytest.mark.soak
def test_a_subject_with_many_marks_is_compared_in_linear_time() -> None:
    started = time.perf_counter()
    assert not _fits("[redacted]" * 2_000 + "!", "a" * 20_000)
    assert _fits("the [redacted] of [redacted]", "the code of the gate")
    assert not _fits("the [redacted] of [redacted] x", "the code of the gate")
    assert not _fits("ab[redacted]ba", "aba")
    assert time.perf_counter() - started < 1
