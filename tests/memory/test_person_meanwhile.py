"""A person moves the branch or edits a file at the step between reading and writing: nothing of either side is lost.

The step is reached by a callback of the public interface or by the disk that the vault is given; what happens there is
what a real git does.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import ChangedMeanwhile, Locked
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import find_fact
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.memory.facts.remember import remember
from clawmem.memory.scope import items_write
from clawmem.memory.sync.sync import SyncOptions, SyncResult, sync
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.progress import Progress
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.vault.disk import Disk
from clawmem.vault.git.merge_driver import command_line
from clawmem.vault.history.git_merges import has_new_merges, merge_point
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import assert_sound, assert_whole
from tests.index.contents import assert_equal_to_a_rebuild
from tests.memory.machines import Machine, make_machines
from tests.waiting import wait_until

MINE, NOTES = "wiki/mine.md", "wiki/notes.md"


@pytest.fixture
def machines(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Two clones of one vault."""
    return make_machines(tmp_path, environment)


class Stopping(Disk):
    """A disk that runs an act once, before a file of this name is written."""

    def __init__(self, name: str, act: Callable[[], object], text: bytes = b"") -> None:
        self._name, self._act, self._text = name, act, text
        self.acted = False

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        self._act_before(path, data)
        super().replace(path, data, staging)

    def create(self, path: Path, data: bytes) -> bool:
        self._act_before(path, data)
        return super().create(path, data)

    def _act_before(self, path: Path, data: bytes) -> None:
        if path.name == self._name and self._text in data and not self.acted:
            self.acted = True
            self._act()


def commit_by_hand(machine: Machine, text: str = "mine") -> str:
    """`git add` and `git commit` by a person; the commit."""
    machine.write(MINE, f"# Mine\n\n{text}\n")
    machine.git("add", MINE)
    machine.git("commit", "-q", "-m", text)
    return machine.head()


def end_a_commit(machine: Machine, text: str = "mine") -> str:
    """What a `git commit` does last, when it no longer holds the lock on git's index: the branch moves."""
    machine.write(MINE, f"# Mine\n\n{text}\n")
    own = Machine(machine.root, {**machine.environment, "GIT_INDEX_FILE": f"{machine.root}/.git/by-hand"}, 1)
    own.git("read-tree", "HEAD")
    own.git("add", MINE)
    commit = own.git("commit-tree", own.git("write-tree").strip(), "-p", "HEAD", "-m", text).strip()
    own.git("update-ref", "HEAD", commit)
    return commit


def sync_while(machine: Machine, act: Callable[[], object]) -> SyncResult:
    """Sync; `act` runs once, when the head was read and the merge begins."""
    waiting = [act]

    def at(progress: Progress) -> None:
        if progress.what == "merging" and waiting:
            waiting.pop()()

    result = sync(machine.vault, machine.caller, SyncOptions(), at)
    assert not waiting
    return result


def assert_kept(machine: Machine, commit: str, text: str = "mine") -> None:
    machine.git("merge-base", "--is-ancestor", commit, "HEAD")
    assert text in machine.read(MINE) and text in machine.git("show", f"HEAD:{MINE}")
    assert_whole(machine.root, machine.environment)
    assert_sound(machine.root, machine.environment)
    index = open_index(machine.vault)
    assert_equal_to_a_rebuild(machine.vault, index)
    index.close()


@pytest.mark.parametrize("own", [True, False], ids=["merge", "fast-forward"])
def test_a_commit_that_is_made_while_sync_merges(machines: list[Machine], own: bool) -> None:
    machine, other = machines
    commit_by_hand(machine, "old")
    machine.sync()
    other.sync()
    other.keep("The boat is red.")
    other.sync()
    if own:
        machine.keep("The car is blue.")
    made: list[str] = []
    result = sync_while(machine, lambda: made.append(commit_by_hand(machine)))
    assert_kept(machine, made[0])
    assert result.pushed and "The boat is red." in machine.standing()
    other.sync()
    assert_kept(other, made[0])


def test_a_file_that_both_edit_while_sync_merges(machines: list[Machine]) -> None:
    machine, other = machines
    machine.write(NOTES, "# Notes\n\nfirst\n\nlast\n")
    machine.sync()
    other.sync()
    other.write(NOTES, "# Notes\n\nfirst of the other\n\nlast\n")
    other.sync()
    machine.keep("The car is blue.")
    sync_while(machine, lambda: machine.write(NOTES, "# Notes\n\nfirst\n\nlast of mine\n"))
    assert machine.read(NOTES) == "# Notes\n\nfirst of the other\n\nlast of mine\n"
    assert machine.git("status", "--porcelain") == ""


def test_a_person_who_never_stops_makes_sync_give_up_with_nothing_changed(machines: list[Machine]) -> None:
    machine, other = machines
    other.keep("The boat is red.")
    other.sync()
    machine.keep("The car is blue.")
    made: list[str] = []

    def at(progress: Progress) -> None:
        if progress.what == "merging":
            made.append(commit_by_hand(machine, f"mine {len(made)}"))

    with pytest.raises(ChangedMeanwhile):
        sync(machine.vault, machine.caller, SyncOptions(), at)
    assert machine.head() == made[-1] and len(made) == 10
    machine.sync()
    assert_kept(machine, made[-1])


def test_a_commit_that_ends_while_a_fact_is_written(machines: list[Machine]) -> None:
    machine, _ = machines
    made: list[str] = []
    disk = Stopping("pending.json", lambda: made.append(end_a_commit(machine)))
    draft = draft_from_record({"fact": "The boat is red."}, NOW)
    remember(Vault(machine.root, machine.environment, disk), [draft], machine.caller)
    machine.git("reset", "-q")  # a person's git would have added the file to this index before
    assert "The boat is red." in machine.standing()
    assert_kept(machine, made[0])


def test_a_commit_of_the_same_file_before_a_write_takes_the_lock(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.keep("The boat is red.", entity="projects/boat")
    path = "life/projects/boat/items.json"

    def reword() -> None:
        machine.write(path, machine.read(path).replace("boat is red", "boat is green"))
        machine.git("commit", "-q", "-a", "-m", "reworded")

    disk = Stopping("index.lock", reword)
    draft = draft_from_record({"fact": "The boat is fast.", "entity": "projects/boat"}, NOW)
    with pytest.raises(Locked):
        remember(Vault(machine.root, machine.environment, disk), [draft], machine.caller)
    assert "The boat is green." in machine.standing() and "The boat is fast." not in machine.standing()
    machine.keep("The boat is fast.", entity="projects/boat")
    assert {"The boat is fast.", "The boat is green."} <= {*machine.standing()}


def test_a_commit_that_ends_while_an_edit_by_hand_is_committed(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.write(NOTES, "# Notes\n\nby hand\n")
    made: list[str] = []
    disk = Stopping("pending.json", lambda: made.append(end_a_commit(machine)))
    draft = draft_from_record({"fact": "The boat is red."}, NOW)
    remember(Vault(machine.root, machine.environment, disk), [draft], machine.caller)
    assert "by hand" in machine.git("show", f"HEAD:{NOTES}") and "The boat is red." in machine.standing()
    assert_kept(machine, made[0])


def test_a_line_that_is_written_in_place_while_its_file_is_replaced(machines: list[Machine]) -> None:
    machine, other = machines
    machine.write(NOTES, "# Notes\n\nfirst\n")
    machine.sync()
    other.sync()
    other.write(NOTES, "# Notes\n\nfirst of the other\n")
    other.sync()

    def append() -> None:
        with (machine.root / NOTES).open("a") as file:
            file.write("last of mine\n")

    disk = Stopping("notes.md", append)
    result = sync(Vault(machine.root, machine.environment, disk), machine.caller, SyncOptions())
    assert disk.acted and machine.read(NOTES) == "# Notes\n\nfirst of the other\nlast of mine\n"
    assert any("kept your edit" in notice for notice in result.notices)
    machine.sync()
    assert machine.git("show", f"HEAD:{NOTES}") == "# Notes\n\nfirst of the other\nlast of mine\n"


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_the_index_has_what_a_pull_brought_beside_a_write(machines: list[Machine], before: bool) -> None:
    machine, other = machines
    (theirs,) = other.keep("The boat is red.", entity="projects/boat")
    other.sync()
    (mine,) = machine.keep("The car is blue.", entity="projects/car")
    again = mine._replace(id="fact_another", fact="The car is fast.")
    change = Change("remember(projects/car): more", items_write("projects/car", [mine, again]), ())
    with writing(machine.vault, machine.caller, "remember") as work:
        work.facts("projects/car")
        if before:
            machine.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        work.commit([change])
        if not before:
            work.transaction.wait()
            machine.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    machine.keep("One more.")
    index = open_index(machine.vault)
    assert find_fact(index, theirs.id).entity == "projects/boat"
    assert_equal_to_a_rebuild(machine.vault, index)
    index.close()


def test_a_branch_that_moves_while_history_is_rewritten(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.keep("The door opens with silent-heron-plumtree.", "The boat is red.")
    made: list[str] = []
    disk = Stopping("redacting.json", lambda: made.append(end_a_commit(machine)), b"switching")
    caller = Caller(NOW, random.Random(7).randbytes)
    target = RedactTarget(pattern="silent-heron-plumtree")
    with pytest.raises(ChangedMeanwhile):
        redact(Vault(machine.root, machine.environment, disk), target, caller)
    assert machine.head() == made[0] and not (machine.vault.state / "redacting.json").exists()
    assert redact(machine.vault, target, caller).remains == ()
    assert "mine" in machine.git("show", f"HEAD:{MINE}") and "silent-heron" not in "".join(machine.standing())


def test_a_merge_that_lands_while_the_last_ones_are_marked(machines: list[Machine]) -> None:
    """git's mark of a merge is older than the merge, so a command at that time does not take it for one it has seen."""
    other_machine, other = machines
    for machine in (other_machine, other):
        machine.keep(f"The boat of {machine.root.name} is red.", entity="projects/boat")
    other.sync()
    here, go = other_machine.root / ".git/driver-is-here", other_machine.root / ".git/driver-may-go"
    program = other_machine.root / ".git/driver.sh"
    program.write_text(f"touch {here}; until [ -e {go} ]; do sleep 0.02; done; {command_line()}".replace("%", "$")
                       .replace("$O", "$1").replace("$A", "$2").replace("$B", "$3").replace("$P", "$4"))  # fmt: skip
    other_machine.git("config", "merge.clawmem.driver", f"sh {program} %O %A %B %P")
    command = ["git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]
    with subprocess.Popen(command, cwd=other_machine.root, env=other_machine.environment) as pull:
        try:
            assert wait_until(here.exists)
            assert merge_point(other_machine.vault) is None
            with pytest.raises(Locked):
                other_machine.keep("The car is blue.")
        finally:
            go.touch()
        assert pull.wait(60) == 0
    assert has_new_merges(other_machine.vault) and merge_point(other_machine.vault) is not None
    other_machine.keep("The car is green.")
    assert not has_new_merges(other_machine.vault)
    assert_whole(other_machine.root, other_machine.environment)
