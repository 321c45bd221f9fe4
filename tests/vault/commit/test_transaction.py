"""A transaction: what it leaves where the disk fails after the branch moved, and which commits it knows as its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.errors import ChangedMeanwhile, ClawmemError, GitFailed, Locked, Refused, SecretFound, Unreadable
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, trailers
from clawmem.vault.commit.transaction import repeat_if_changed, transaction
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.git.acceptance import accept
from clawmem.vault.git.git import Git
from clawmem.vault.git.index import index_lock_path
from clawmem.vault.state.own_commits import unaccepted_commits
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import assert_whole, git

FACTS = "life/areas/people/jane/items.json"


class FullDisk(Disk):
    """A disk that has no room for the files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = folder

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        if self.folder and path.is_relative_to(self.folder):
            raise OSError(28, "No space left on device", str(path))
        super().replace(path, data, staging)


class FailingGit(Git):
    """A git whose commits fail; it keeps what it started."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        super().__init__(root, environment)
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        self.started.append(super().start(*arguments))
        return self.started[-1]

    def finish(self, process: subprocess.Popen[bytes], name: str, data: bytes = b"") -> bytes:
        if name == "fast-import":
            process.kill()
            process.communicate()
            raise GitFailed(name, "it was killed")
        return super().finish(process, name, data)


def change(path: str, data: bytes) -> Change:
    return Change(f"note({path}): a line", {path: data}, trailers("note"))


def test_a_file_that_could_not_be_written_is_written_by_the_next_commit(
    vault: Vault, environment: dict[str, str]
) -> None:
    """The second commit of the same transaction finishes the first one, before its own note takes its place."""
    vault.disk = disk = FullDisk(vault.path("daily"))
    with transaction(vault, NOW, "test") as started:
        started.commit([change("daily/2026-11-20.md", b"- one\n")])
        assert vault.read("daily/2026-11-20.md") is None
        assert "No space left" in started.notices[-1]
        disk.folder = None
        started.commit([change("life/second.txt", b"two\n")])
        assert vault.read("daily/2026-11-20.md") == b"- one\n"
    assert vault.read("life/second.txt") == b"two\n"
    assert git(vault.root, environment, "status", "--porcelain") == ""
    assert_whole(vault.root, environment)


def test_commits_are_known_as_made_here(vault: Vault, environment: dict[str, str]) -> None:
    """In a clone, too, where nothing else counts as made here."""
    clone = vault.root.parent / "clone"
    git(vault.root, environment, "clone", "-q", str(vault.root), str(clone))
    accept(clone / ".git", environment)
    here = Vault(clone, environment)
    before = here.head().commit
    with transaction(here, NOW, "test") as started:
        started.commit([change(FACTS, b'[{"id": "fact_1", "fact": "Jane sails."}]\n')])
    made = here.head().commit
    assert made is not None and made != before
    assert unaccepted_commits(here, before, made) == []
    with transaction(vault, NOW, "test") as started:
        (other,) = started.commit([change(FACTS, b'[{"id": "fact_2", "fact": "Jane rows."}]\n')])
    git(clone, environment, "fetch", "-q")
    assert [found.commit for found in unaccepted_commits(here, before, other)] == [other]


def test_a_record_that_cannot_be_written_is_told_and_the_commit_stays(vault: Vault) -> None:
    (vault.state / "made-here").unlink(missing_ok=True)
    (vault.state / "made-here").mkdir(parents=True)
    with transaction(vault, NOW, "test") as started:
        started.commit([change("life/note.txt", b"one\n")])
        assert any(notice.startswith("committed, but not recorded as made here: ") for notice in started.notices)
    assert vault.read("life/note.txt") == b"one\n"


def test_a_commit_that_fails_leaves_no_git_process_and_no_lock(vault: Vault, environment: dict[str, str]) -> None:
    head = vault.head()
    vault.git = failing = FailingGit(vault.root, environment)
    with transaction(vault, NOW, "test") as started, pytest.raises(GitFailed):
        with pytest.raises(Locked), writer_lock(vault.state / "lock", 0, "of every version"):
            pass
        started.commit([change("life/note.txt", b"one\n")])
    assert vault.head() == head and vault.read("life/note.txt") is None
    assert not index_lock_path(vault).exists()
    assert failing.started
    assert [process.args for process in failing.started if process.returncode is None] == []
    for process in failing.started:
        with pytest.raises(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def test_an_edit_by_hand_is_in_gits_index_once_it_is_committed(vault: Vault, environment: dict[str, str]) -> None:
    path = vault.path("life/areas/people/jane/items.json")
    path.parent.mkdir(parents=True)
    path.write_text('[\n{"id": "fact_1a2b3c4d", "fact": "Jane sails."}\n]\n')
    with transaction(vault, NOW, "test") as started:
        assert list(started.adopt().good) == ["life/areas/people/jane/items.json"]
    assert git(vault.root, environment, "diff", "--cached", "--name-only") == ""
    assert "jane/items.json" in git(vault.root, environment, "ls-files")
    assert_whole(vault.root, environment)


def test_an_edit_made_after_a_read_is_taken_in_by_a_second_look(vault: Vault) -> None:
    path = vault.path("daily/2026-11-20.md")
    path.parent.mkdir(exist_ok=True)
    path.write_text("- one\n")
    with transaction(vault, NOW, "test") as started:
        assert started.read("daily/2026-11-20.md") == b"- one\n"
        path.write_text("- one\n- mine\n")
        with pytest.raises(Locked):
            started.commit([change("daily/2026-11-20.md", b"- one\n- two\n")])
        started.scan_again()
        data = started.read("daily/2026-11-20.md")
        assert data == b"- one\n- mine\n"
        started.commit([change("daily/2026-11-20.md", data + b"- two\n")])
    assert path.read_text() == "- one\n- mine\n- two\n"


def test_a_file_that_cannot_be_read_stops_its_change_and_says_how_to_restore_it(vault: Vault) -> None:
    path = vault.path(FACTS)
    with transaction(vault, NOW, "test") as started:
        started.commit([change(FACTS, b'[\n{"id": "fact_1a2b3c4d", "fact": "Jane sails."}\n]\n')])
    path.write_text("[{")
    head = vault.head()
    with pytest.raises(Unreadable) as found, transaction(vault, NOW, "test") as started:
        started.read(FACTS)
        started.commit([change(FACTS, b"[]\n")])
    assert "restore" in found.value.hint
    assert vault.head() == head and path.read_text() == "[{"


def test_a_state_file_that_a_change_used_up_goes_with_its_commit(vault: Vault) -> None:
    used, other = vault.state / "used.json", vault.state / "other.json"
    with transaction(vault, NOW, "test") as started:
        for path in (used, other):
            path.write_text("{}\n")
        started.commit([change("life/note.txt", b"one\n")._replace(consumes=("used.json",))])
    assert not used.exists() and other.exists()


def test_what_changed_meanwhile_is_begun_again_ten_times_at_most() -> None:
    for failures, calls in ((0, 1), (9, 10), (10, 10)):
        tried: list[int] = []

        def act(failures: int = failures, tried: list[int] = tried) -> str:
            tried.append(1)
            if len(tried) <= failures:
                raise ChangedMeanwhile("moved", "")
            return "done"

        if failures < 10:
            assert repeat_if_changed(act) == "done"
        else:
            with pytest.raises(ChangedMeanwhile):
                repeat_if_changed(act)
        assert len(tried) == calls


def test_changes_are_commits_in_their_order_and_the_last_contents_stand(vault: Vault) -> None:
    first, second = change("daily/a.md", b"one\n"), change("daily/b.md", b"two\n")
    third = change("daily/a.md", b"three\n")
    head = vault.head().commit
    with transaction(vault, NOW, "a test") as started:
        assert (started.commit(()), vault.head().commit, started.base) == ((), head, None)
        assert started.read("daily/a.md") is None
        names = started.commit([first, second, third])
        assert (len(names), started.base, started.read("daily/a.md")) == (3, head, b"three\n")
        again = started.commit([change("daily/b.md", b"four\n"), Change("note(x): gone", {"daily/a.md": None})])
        assert started.base == names[-1]
        assert (started.read("daily/a.md"), started.read("daily/b.md")) == (None, b"four\n")
    assert vault.git.run("rev-list", "--reverse", f"{head}..HEAD").decode().split() == [*names, *again]
    assert vault.git.run("status", "--porcelain").decode() == ""
    assert not (vault.root / "daily/a.md").exists() and (vault.root / "daily/b.md").read_bytes() == b"four\n"
    assert not index_lock_path(vault).exists()
    assert started.notices == []
    assert_whole(vault.root, vault.git.environment)


def test_a_detached_head_and_a_folder_in_the_way_are_named_and_nothing_is_written(vault: Vault) -> None:
    head = vault.head().commit or ""
    (vault.root / "daily/a.md").mkdir(parents=True)
    with transaction(vault, NOW, "a test") as started, pytest.raises(Refused, match=r"daily/a\.md cannot be written"):
        started.commit([change("daily/b.md", b"b\n"), change("daily/a.md", b"a\n")])
    assert vault.head().commit == head and not (vault.root / "daily/b.md").exists()
    (vault.root / "daily/a.md").rmdir()
    vault.git.run("checkout", "-q", "--detach")
    with transaction(vault, NOW, "a test") as started, pytest.raises(Refused, match="HEAD is detached"):
        started.commit([change("daily/a.md", b"a\n")])
    assert not index_lock_path(vault).exists() and not (vault.root / "daily/a.md").exists()
    assert vault.head().commit == head
    vault.git.run("checkout", "-q", "main")
    with transaction(vault, NOW, "a test") as started:
        assert len(started.commit([change("daily/a.md", b"a\n")])) == 1


def test_a_file_edited_after_it_was_read_stops_the_change(vault: Vault) -> None:
    with transaction(vault, NOW, "a test") as started:
        started.commit([change("daily/a.md", b"a\n")])
        assert started.read("daily/a.md") == b"a\n"
        (vault.root / "daily/a.md").write_bytes(b"by hand\n")
        with pytest.raises(Locked, match="was edited"):
            started.commit([change("daily/a.md", b"b\n")])
    assert (vault.root / "daily/a.md").read_bytes() == b"by hand\n"
    assert not index_lock_path(vault).exists()


def test_edits_by_hand_are_committed_once_and_looked_for_again_on_request(vault: Vault) -> None:
    page = vault.root / "life/areas/general/notes.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("One.\n")
    (vault.root / "life/areas/general/items.json").write_text("{broken")
    with transaction(vault, NOW, "a test") as started:
        edits = started.adopt()
        assert [*edits.good] == ["life/areas/general/notes.md"]
        assert [path for path, _ in edits.bad] == ["life/areas/general/items.json"] == [*started.unreadable]
        assert sum(notice.startswith("left alone: ") for notice in started.notices) == 1
        assert started.adopt() == ({}, ())
        page.write_text("Two.\n")
        assert started.adopt() == ({}, ())
        started.scan_again()
        assert [*started.adopt().good] == ["life/areas/general/notes.md"]
        with pytest.raises(ClawmemError):
            started.commit([change("life/areas/general/items.json", b"[]\n")])
    assert vault.git.run("show", "HEAD:life/areas/general/notes.md") == b"Two.\n"


def test_a_credential_stops_all_changes(vault: Vault) -> None:
    head = vault.head().commit
    secret = b"token = ghp_" + b"R7kq2LmZx9TbVw4NcYp8HsJd3FgQe6Ua1oXi"
    with transaction(vault, NOW, "a test") as started, pytest.raises(SecretFound):
        started.commit([change("daily/b.md", b"b\n"), change("daily/a.md", secret + b"\n")])
    assert vault.head().commit == head and not (vault.root / "daily/b.md").exists()
    assert not index_lock_path(vault).exists()


def test_the_past_is_not_written(vault: Vault) -> None:
    past = Vault(vault.root, vault.git.environment)
    past.present = vault
    with pytest.raises(Refused, match="past version"), transaction(past, NOW, "a test"):
        pass


def test_an_edit_is_the_agents_that_finds_it_and_no_heartbeats(vault: Vault) -> None:
    page = vault.root / "life/areas/general/notes.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    agent = Caller(NOW, bytes, agent="scout")
    for number, caller in enumerate((agent, agent._replace(unattended=True))):
        page.write_text(f"{number}.\n")
        with transaction(vault, NOW, "a test", caller=caller) as started:
            assert started.adopt().good
    authors = vault.git.run("log", "-2", "--format=%an").decode().splitlines()
    assert authors[1] == "scout" != authors[0]
