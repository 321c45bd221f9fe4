"""A person's git beside a change: from before the branch moves until git's index follows, no other git commits."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import pytest

from clawmem.errors import Locked
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.memory.facts.revise import retract
from clawmem.memory.sync.sync import SyncOptions, sync
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, trailers
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.git.git import Git
from clawmem.vault.git.index import (
    holds_index_lock,
    index_lock_path,
    lock_index,
    replace_index,
    unlock_index,
)
from clawmem.vault.git.refs import read_head
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command
from tests.faults.checks import assert_sound, assert_whole, commits, facts, git
from tests.faults.scenarios import SCENARIOS, keep

PERSON = {
    "commit -a": "echo mine >> notes.txt && git commit -q -a -m mine",
    "add, commit": "echo mine >> notes.txt && git add notes.txt && git commit -q -m mine",
    "commit of one file": "echo mine >> notes.txt && git commit -q -m mine notes.txt",
    "amend": "git commit -q --amend -m mine",
    "commit of what is staged": "git commit -q --allow-empty -m mine",
}


class Window(Git):
    """A git beside which a person runs plain git, right after one of its commands has moved the branch."""

    def __init__(self, root: Path, environment: Mapping[str, str], mover: str, person: str) -> None:
        super().__init__(root, environment)
        self._mover, self._person, self._own = mover, person, dict(environment)
        self.codes: list[int] = []

    def finish(self, process: subprocess.Popen[bytes], name: str, value: bytes = b"") -> bytes:
        before = self._branch()
        data = super().finish(process, name, value)
        if name == self._mover and self._branch() != before:
            person = subprocess.run(
                ["sh", "-c", self._person], cwd=self.root, env=self._own, capture_output=True, check=False
            )
            self.codes.append(person.returncode)
        return data

    def _branch(self) -> str | None:
        return read_head(self.root / ".git").commit


class Act(NamedTuple):
    """A change, what must be there before it, the git command that moves the branch in it, and a text that HEAD has to
    hold after it (not hold, where it is empty)."""

    prepare: Callable[[Vault], None]
    act: Callable[[Vault], None]
    mover: str
    text: str


def _caller(seed: int = 5) -> Caller:
    return Caller(NOW, random.Random(seed).randbytes)


def _begin(vault: Vault) -> None:
    keep(vault, "Jane plays the cello.", "The gate opens with quiet-otter-kqzvwx.", entity="areas/people/jane")


def _edit(vault: Vault) -> None:
    _begin(vault)
    path = vault.root / "life/areas/people/jane/items.json"
    path.write_bytes(path.read_bytes().replace(b"cello", b"viola"))


def _adopt(vault: Vault) -> None:
    with transaction(vault, NOW, "test") as started:
        started.adopt()


def _retract(vault: Vault) -> None:
    fact = next(record for record in facts(vault.root) if "cello" in record["fact"])
    retract(vault, fact["id"], _caller())


def _behind(vault: Vault) -> None:
    """A vault that is behind its remote and has no commits of its own."""
    _apart(vault)
    git(vault.root, vault.git.environment, "reset", "-q", "--hard", "HEAD~1")


def _apart(vault: Vault) -> None:
    SCENARIOS["a merge"].prepare(vault)


def _sync(vault: Vault) -> None:
    sync(vault, _caller(), SyncOptions())


def _redact(vault: Vault) -> None:
    redact(vault, RedactTarget(pattern="quiet-otter-kqzvwx"), _caller())


ACTS = {
    "remember": Act(_begin, SCENARIOS["one fact"].act, "fast-import", "Jane moved to Lyon."),
    "remember, new entity": Act(_begin, SCENARIOS["one fact, new entity"].act, "fast-import", "The boat needs"),
    "five facts": Act(_begin, SCENARIOS["five facts"].act, "fast-import", "Bird number 4"),
    "retract": Act(_begin, _retract, "fast-import", '"retracted"'),
    "an edit by hand taken in": Act(_edit, _adopt, "fast-import", "viola"),
    "sync, fast-forward": Act(_behind, _sync, "update-ref", "Jane has a cat."),
    "sync, merge": Act(_apart, _sync, "update-ref", "Jane has a cat."),
    "redact": Act(_begin, _redact, "update-ref", ""),
}


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.few(2)
def test_a_person_who_commits_as_the_branch_moves(vault: Vault, environment: dict[str, str], name: str) -> None:
    """Each way to commit, at the very moment: git refuses it, or it takes nothing back."""
    act = ACTS[name]
    (vault.root / "notes.txt").write_text("my notes\n")
    git(vault.root, environment, "add", "notes.txt")
    git(vault.root, environment, "commit", "-q", "-m", "notes")
    act.prepare(vault)
    for number, person in enumerate(PERSON.values()):
        root = Path(shutil.copytree(vault.root, vault.root.parent / f"copy-{number}", symlinks=True))
        here = Vault(root, environment)
        here.git = window = Window(root, environment, act.mover, person)
        act.act(here)
        assert window.codes, "the branch did not move"
        value = git(root, environment, "grep", "-h", "-e", "", "HEAD", "--", "life")
        assert act.text in value and (act.text or "quiet-otter-kqzvwx" not in value), (name, person)
        git(root, environment, "add", "notes.txt")
        git(root, environment, "commit", "-q", "--allow-empty", "-m", "afterwards")
        assert git(root, environment, "diff", "--name-only", "HEAD~1", "--", "life") == ""
        assert_whole(root, environment)


def test_killed_between_the_branch_and_the_index(vault: Vault, environment: dict[str, str]) -> None:
    """The lock of a killed command still blocks a person's commit; the next command releases it."""
    _begin(vault)

    class Dying(Git):
        def finish(self, process: subprocess.Popen[bytes], name: str, value: bytes = b"") -> bytes:
            data = super().finish(process, name, value)
            if name == "fast-import":
                os.kill(os.getpid(), signal.SIGKILL)
            return data

    child = os.fork()
    if child == 0:
        try:
            vault.git = Dying(vault.root, environment)
            keep(vault, "Jane moved to Lyon.", entity="areas/people/jane")
        finally:
            os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    for person in PERSON.values():
        assert subprocess.run(["sh", "-c", person], cwd=vault.root, env=environment, capture_output=True).returncode
    keep(vault, "The next command works.")
    assert {"Jane moved to Lyon.", "The next command works."} <= {fact["fact"] for fact in facts(vault.root)}
    (vault.root / "notes.txt").unlink()
    assert_whole(vault.root, environment)


def test_an_index_that_a_person_holds(vault: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    """It is waited for, and then nothing is written: exit code 11."""
    lock = vault.git_dir / "index.lock"
    before = commits(vault.root, environment)
    with lock.open("wb"):
        result = clawmem("remember", "First.", "--json")
        assert (result.code, result.json["error"]["code"]) == (11, "locked"), result
        with writer_lock(vault.state / "lock", 1, "test"), pytest.raises(Locked):
            lock_index(vault)
    assert commits(vault.root, environment) == before and lock.exists()
    assert clawmem("remember", "First.").code == 0
    assert_whole(vault.root, environment)


def test_a_lock_that_a_git_left_after_a_change_began_is_removed_aloud(vault: Vault) -> None:
    with transaction(vault, NOW, "test") as started:
        index_lock_path(vault).touch()
        started.commit([Change("note(x): y", {"daily/2026-11-20.md": b"- one\n"}, trailers("note"))])
        assert any(notice.startswith("removed index.lock") for notice in started.notices)
    assert not index_lock_path(vault).exists()


class Merge:
    """A person's `git merge` that waits in the editor. git has released its lock on the index there."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        for branch in ("other", "main"):
            git(root, environment, "switch", "-q", *(["-c", branch] if branch == "other" else [branch]))
            (root / f"{branch}.txt").write_text("x\n")
            git(root, environment, "add", f"{branch}.txt")
            git(root, environment, "commit", "-q", "-m", branch)
        begun, self._gate = root.parent / "begun", root.parent / "gate"
        os.mkfifo(begun)
        os.mkfifo(self._gate)
        editor = f"sh -c 'echo > {begun}; cat {self._gate} > /dev/null'"
        self.process = subprocess.Popen(
            ["git", "merge", "-q", "--no-ff", "--edit", "other"], cwd=root, env={**environment, "GIT_EDITOR": editor}
        )
        begun.read_bytes()
        self.ended = False

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._gate.write_bytes(b"")
            self.process.wait(60)


class Watched(Disk):
    """A disk that ends a merge at the n-th attempt to lock the index, and notes if it had ended as the lock went."""

    def __init__(self, merge: Merge, attempts: int) -> None:
        self._merge, self.left = merge, attempts
        self.went: list[bool] = []

    def create(self, path: Path, data: bytes) -> bool:
        self.left -= 1
        if self.left == 0:
            self._merge.end()
        return super().create(path, data)

    def remove(self, path: Path) -> None:
        self.went += [self._merge.ended] if path.name == "index.lock" else []
        super().remove(path)


@pytest.fixture
def merge(vault: Vault, environment: dict[str, str]) -> Iterator[Merge]:
    found = Merge(vault.root, environment)
    yield found
    found.end()


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience that no load of the machine exhausts."""
    monkeypatch.setattr("clawmem.vault.git.index._PATIENCE", 600.0)


@pytest.mark.usefixtures("endless")
def test_a_merge_that_ends_is_waited_for(vault: Vault, merge: Merge) -> None:
    """Each attempt while it runs gives the lock back, so that git can take it."""
    vault.disk = disk = Watched(merge, 4)
    with writer_lock(vault.state / "lock", 1, "test"):
        assert lock_index(vault) == []
        assert disk.left == 0 and disk.went == [False, False, False]
        assert holds_index_lock(vault)
        unlock_index(vault)


def test_a_merge_that_does_not_end_is_named_and_nothing_is_written(
    vault: Vault, merge: Merge, clawmem: Command, environment: dict[str, str]
) -> None:
    before = commits(vault.root, environment)
    with writer_lock(vault.state / "lock", 1, "test"), pytest.raises(Locked, match="Another git command is running"):
        lock_index(vault)
    assert not (vault.git_dir / "index.lock").exists()
    result = clawmem("remember", "First.", "--json")
    assert not result.json["ok"] and commits(vault.root, environment) == before
    merge.end()
    assert clawmem("remember", "First.").code == 0


@pytest.mark.parametrize("seconds", [-120, 120])
def test_a_merge_that_began_long_ago_is_none(vault: Vault, merge: Merge, seconds: int) -> None:
    """A person who left an editor open, or a clock that was put back, does not stop every command."""
    assert not merge.ended
    mark = vault.git_dir / "ORIG_HEAD"
    began = mark.stat().st_mtime + seconds
    os.utime(mark, (began, began))
    with writer_lock(vault.state / "lock", 1, "test"):
        assert lock_index(vault) == []
        assert holds_index_lock(vault)
        unlock_index(vault)
    assert not holds_index_lock(vault)


@pytest.mark.usefixtures("endless")
def test_the_lock_goes_after_a_merge_that_began_meanwhile(vault: Vault, environment: dict[str, str]) -> None:
    with writer_lock(vault.state / "lock", 1, "test"):
        lock_index(vault)
        (vault.git_dir / "index.lock").rename(vault.git_dir / "aside")
        merge = Merge(vault.root, environment)
        (vault.git_dir / "aside").rename(vault.git_dir / "index.lock")
        vault.disk = disk = Watched(merge, 0)
        ending = Timer(0.5, merge.end)
        ending.start()
        unlock_index(vault)
        ending.join()
    assert disk.went == [True] and merge.ended


def test_a_mark_without_a_change_to_finish_is_let_go_of(vault: Vault, environment: dict[str, str]) -> None:
    lock_index(vault)
    assert holds_index_lock(vault)
    (vault.git_dir / "MERGE_HEAD").write_text(commits(vault.root, environment)[-1])
    with pytest.raises(Exception, match="unfinished"), transaction(vault, NOW, "test"):
        pass
    assert not holds_index_lock(vault)  # else `git merge --abort` could not end it
    unlock_index(vault)


def test_a_person_who_commits_a_file_while_a_change_of_it_is_planned(vault: Vault, environment: dict[str, str]) -> None:
    _begin(vault)
    path = vault.root / "life/areas/people/jane/items.json"

    with transaction(vault, NOW, "test") as started:
        data = started.read("life/areas/people/jane/items.json")
        assert data
        path.write_bytes(data.replace(b"cello", b"viola"))
        git(vault.root, environment, "commit", "-q", "-a", "-m", "mine")
        with pytest.raises(Locked):
            started.commit(
                [Change("test(x): y", {"life/areas/people/jane/items.json": data + b"\n"}, trailers("note"))]
            )
    assert "viola" in path.read_text()
    assert_whole(vault.root, environment)
    assert_sound(vault.root, environment)


def test_a_person_who_commits_a_file_just_before_the_index_is_locked(vault: Vault, environment: dict[str, str]) -> None:
    _begin(vault)
    path = vault.root / "life/areas/people/jane/items.json"

    class Behind(Disk):
        def create(self, place: Path, data: bytes) -> bool:
            if place.name == "index.lock" and b"cello" in path.read_bytes():
                path.write_bytes(path.read_bytes().replace(b"cello", b"viola"))
                git(vault.root, environment, "commit", "-q", "-a", "-m", "mine")
            return super().create(place, data)

    with transaction(vault, NOW, "test") as started:
        data = started.read("life/areas/people/jane/items.json")
        assert data
        vault.disk = Behind()
        with pytest.raises(Locked):
            started.commit(
                [Change("test(x): y", {"life/areas/people/jane/items.json": data + b"\n"}, trailers("note"))]
            )
    assert "viola" in git(vault.root, environment, "show", "HEAD:life/areas/people/jane/items.json")
    assert_whole(vault.root, environment)


def test_our_own_mark_is_locked_enough_and_is_taken_away_once(vault: Vault) -> None:
    with writer_lock(vault.state / "write.lock", 5, "a test"):
        assert (holds_index_lock(vault), lock_index(vault), lock_index(vault)) == (False, [], [])
        assert holds_index_lock(vault)
        unlock_index(vault)
        assert not index_lock_path(vault).exists()
        index_lock_path(vault).write_bytes(b"another's\n")
        unlock_index(vault)
        assert index_lock_path(vault).read_bytes() == b"another's\n" and not holds_index_lock(vault)
        index_lock_path(vault).unlink()


def test_without_an_index_nothing_of_an_older_copy_is_used(vault: Vault) -> None:
    stale = vault.root / "stale.txt"
    stale.write_text("stale")
    with replace_index(vault):
        vault.git.run("update-index", "--add", "stale.txt")
        (vault.state / "git-index.lock").write_text("left by a killed git")
        kept = (vault.state / "git-index").read_bytes()
    (vault.git_dir / "index").unlink()
    (vault.state / "git-index").write_bytes(kept)
    (vault.state / "git-index.lock").write_text("left by a killed git")
    with replace_index(vault):
        vault.git.run("read-tree", "HEAD")
        assert "stale.txt" not in vault.git.run("ls-files").decode().split()
        vault.git.run("update-index", "--refresh", "-q")
    assert vault.git.run("ls-files", "clawmem.yaml").decode() == "clawmem.yaml\n"
    assert not (vault.state / "git-index").exists()
