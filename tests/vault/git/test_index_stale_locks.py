"""Lock files and half files of killed processes: removed aloud; what a live git holds is respected."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from clawmem.errors import Locked, StorageFailed
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.git.git import Git
from clawmem.vault.git.index import clear_ref_locks, ref_locks
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command
from tests.faults.checks import assert_whole, commits, facts, git
from tests.faults.scenarios import keep
from tests.waiting import wait_until


def test_a_lock_that_a_killed_git_left_is_removed_aloud(
    vault: Vault, environment: dict[str, str], clawmem: Command
) -> None:
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"):
        (vault.git_dir / name).write_bytes(b"")
        result = clawmem("remember", f"The first is here, beside {name}.", "--json")
        assert result.code == 0, result
        assert result.json["notices"] == [
            f"removed {name.rsplit('/', 1)[-1]}, left behind by a git process that was killed"
        ]
    assert_whole(vault.root, environment)
    assert clawmem("remember", "The second is here.", "--json").json["notices"] == []


def test_a_lock_that_goes_by_itself_is_waited_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = vault.git_dir / "index.lock"
    naps = []

    def pause(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 10:
            lock.unlink()

    # Nobody's speed decides whether the lock goes in time: it goes at the tenth look.
    monkeypatch.setattr(time, "sleep", pause)
    with lock.open("wb"), transaction(vault, NOW, "test") as started:
        assert started.notices == []
        assert len(naps) == 10


def test_a_live_git_is_respected(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    """A person's `git commit` holds the index while the editor is open."""
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntouch {tmp_path}/open\nexec sleep 300\n")
    editor.chmod(0o755)
    (vault.root / "notes.txt").write_text("mine")
    git(vault.root, environment, "add", "notes.txt")
    before = commits(vault.root, environment)
    person = subprocess.Popen(
        ["git", "commit", "-a"], cwd=vault.root, env={**environment, "GIT_EDITOR": str(editor)}, start_new_session=True
    )
    try:
        assert wait_until((tmp_path / "open").exists)
        assert (vault.git_dir / "index.lock").exists()
        with pytest.raises(Locked, match="is running"), transaction(vault, NOW, "test"):
            pass
        assert (vault.git_dir / "index.lock").exists()
        assert commits(vault.root, environment) == before
    finally:
        os.killpg(person.pid, 9)
        person.wait()
    keep(vault, "Afterwards.")
    assert "Afterwards." in [fact["fact"] for fact in facts(vault.root)]


def test_a_program_that_is_no_git_but_has_the_lock_open_is_respected(vault: Vault) -> None:
    lock = vault.git_dir / "index.lock"
    code = "import sys, time; f = open(sys.argv[1], 'w'); print('open', flush=True); time.sleep(300)"
    with subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(Locked), transaction(vault, NOW, "test"):
            pass
        assert lock.exists()
        other.kill()
    keep(vault, "Afterwards.")
    assert not lock.exists()


@pytest.mark.parametrize(
    "name", ["refs/clawmem/remote/origin/main.lock", "refs/remotes/origin/main.lock", "config.lock"]
)
def test_a_lock_of_a_remotes_ref_that_a_killed_git_left_is_removed_aloud(
    vault: Vault, environment: dict[str, str], name: str
) -> None:
    lock = vault.git_dir / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    # A git is killed while it holds the lock: nobody is left who would remove it.
    dying = subprocess.Popen(["sh", "-c", f": >'{lock}'; exec sleep 300"], cwd=vault.root)
    assert wait_until(lock.exists)
    dying.kill()
    dying.wait()
    (vault.git_dir / "refs/heads/kept").write_text(commits(vault.root, environment)[0] + "\n")
    assert ref_locks(vault) == [lock]
    assert clear_ref_locks(vault) == [f"removed {lock.name}, left behind by a git process that was killed"]
    assert not lock.exists() and (vault.git_dir / "refs/heads/kept").exists()
    assert clear_ref_locks(vault) == []


def test_a_lock_of_a_remotes_ref_that_a_living_git_holds_stays(vault: Vault, environment: dict[str, str]) -> None:
    lock = vault.git_dir / "refs/clawmem/remote/origin/main.lock"
    head = git(vault.root, environment, "rev-parse", "HEAD").strip()
    command = ["git", "update-ref", "--stdin"]
    with subprocess.Popen(
        command, cwd=vault.root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as living:
        assert living.stdin is not None and living.stdout is not None
        # Prepared, it holds the lock until it is told to commit.
        living.stdin.write(f"start\nupdate refs/clawmem/remote/origin/main {head}\nprepare\n".encode())
        living.stdin.flush()
        assert [living.stdout.readline() for _ in range(2)] == [b"start: ok\n", b"prepare: ok\n"]
        assert ref_locks(vault) == [lock]
        with pytest.raises(Locked, match=r"holds main\.lock"):
            clear_ref_locks(vault)
        assert lock.exists()
        living.communicate(b"commit\n")
    assert living.returncode == 0 and clear_ref_locks(vault) == []
    assert git(vault.root, environment, "rev-parse", "refs/clawmem/remote/origin/main").strip() == head


def test_a_first_command_in_a_clone_that_was_killed_stops_no_other(
    vault: Vault, environment: dict[str, str], tmp_path: Path
) -> None:
    """It tells git how to merge here, and a git that is killed at that leaves the lock on its settings."""
    git(tmp_path, environment, "clone", "-q", str(vault.root), "clone")
    clone = Vault(tmp_path / "clone", environment)
    (clone.git_dir / "config.lock").write_bytes(b"")
    keep(clone, "First.")
    assert_whole(clone.root, environment)
    assert "clawmem" in git(clone.root, environment, "config", "merge.clawmem.driver")


def test_a_git_that_packs_the_refs_meanwhile_is_waited_for(vault: Vault, environment: dict[str, str]) -> None:
    """The heartbeat packs refs without the writer lock, and git itself waits a tenth of a second for a branch."""
    lock = vault.git_dir / "refs/heads/main.lock"

    class Disturbed(Git):
        def finish(self, process: subprocess.Popen[bytes], name: str, data: bytes = b"") -> bytes:
            if name == "fast-import":
                lock.write_bytes(b"")
                Timer(0.5, lock.unlink).start()
            return super().finish(process, name, data)

    vault.git = Disturbed(vault.root, environment)
    keep(vault, "First.")
    assert not lock.exists()
    assert_whole(vault.root, environment)


def test_a_lock_that_took_the_place_of_ours_is_left_to_the_next_command(
    vault: Vault, environment: dict[str, str]
) -> None:
    """git tells people to remove a lock by hand: ours may go that way, and another git may take the index then."""
    lock = vault.git_dir / "index.lock"

    class Disturbed(Git):
        def finish(self, process: subprocess.Popen[bytes], name: str, value: bytes = b"") -> bytes:
            data = super().finish(process, name, value)
            if name == "fast-import":
                lock.write_bytes(b"")
            return data

    before = len(commits(vault.root, environment))
    disturbed = Vault(vault.root, environment)
    disturbed.git = Disturbed(vault.root, environment)
    keep(disturbed, "First.")
    assert len(commits(vault.root, environment)) == before + 1
    keep(vault, "Second.")
    assert len(commits(vault.root, environment)) == before + 2
    assert_whole(vault.root, environment)


def test_a_git_killed_after_it_moved_the_branch_counts_as_landed(vault: Vault, environment: dict[str, str]) -> None:
    class Dying(Git):
        def finish(self, process: subprocess.Popen[bytes], name: str, data: bytes = b"") -> bytes:
            printed = super().finish(process, name, data)
            if name == "fast-import":
                from clawmem.vault.git.git import git_error

                raise git_error(name, -9, b"")
            return printed

    dying = Vault(vault.root, environment)
    dying.git = Dying(vault.root, environment)
    keep(dying, "First.", "Second.")
    assert [fact["fact"] for fact in facts(vault.root)] == ["First.", "Second."]
    assert_whole(vault.root, environment)


def test_a_branch_that_moved_at_the_same_moment(vault: Vault, environment: dict[str, str]) -> None:
    """A person commits at each of ten tries: nothing of ours is written, and it says try again."""

    class Beaten(Git):
        def finish(self, process: subprocess.Popen[bytes], name: str, data: bytes = b"") -> bytes:
            if name == "fast-import":
                # A commit that needs no index: `git commit` itself is kept out at this moment.
                made = git(vault.root, environment, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mine").strip()
                git(vault.root, environment, "update-ref", "refs/heads/main", made)
            return super().finish(process, name, data)

    beaten = Vault(vault.root, environment)
    beaten.git = Beaten(vault.root, environment)
    before = len(commits(vault.root, environment))
    with pytest.raises(Locked, match="moved the branch"):
        keep(beaten, "First.")
    assert len(commits(vault.root, environment)) == before + 10
    assert_whole(vault.root, environment)
    keep(vault, "First.")
    assert_whole(vault.root, environment)


def test_half_files_and_crash_reports_are_cleared(vault: Vault, environment: dict[str, str]) -> None:
    vault.prepare_state()
    (vault.state / "half-123").write_bytes(b"half")
    keep(vault, "First.")
    assert_whole(vault.root, environment)

    class Refusing(Git):
        def finish(self, process: subprocess.Popen[bytes], name: str, data: bytes = b"") -> bytes:
            return super().finish(process, name, data.replace(b"done\n", b"nonsense\n"))

    broken = Vault(vault.root, environment)
    broken.git = Refusing(vault.root, environment)
    with pytest.raises(StorageFailed):
        keep(broken, "A private word.")
    assert_whole(vault.root, environment)
    keep(vault, "Second.")
    assert_whole(vault.root, environment)


def test_a_damaged_note_of_a_pending_change_is_named(vault: Vault) -> None:
    vault.prepare_state()
    (vault.state / "pending.json").write_bytes(b"{")
    with pytest.raises(StorageFailed, match=r"pending\.json is damaged"):
        keep(vault, "First.")
