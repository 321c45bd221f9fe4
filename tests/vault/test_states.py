"""A vault in an unusual state: no branch, work unfinished, no commit, another version, a disk that refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.errors import NeedsDecision, Refused
from clawmem.vault.commit.pending import PendingCommit, read_pending, write_pending
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.faults.checks import assert_whole, commits, facts, git
from tests.faults.scenarios import keep


def test_a_detached_head_is_refused_and_nothing_is_lost(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "First.")
    git(vault.root, environment, "checkout", "-q", "--detach")
    with pytest.raises(Refused, match="detached"):
        keep(vault, "Second.")
    assert git(vault.root, environment, "status", "--porcelain") == ""
    git(vault.root, environment, "switch", "-q", "main")
    keep(vault, "Second.")
    assert_whole(vault.root, environment)


def _diverge(vault: Vault, environment: dict[str, str]) -> None:
    """Two branches that changed the same line of MEMORY.md, and a git without the merge driver."""
    git(vault.root, environment, "config", "--remove-section", "merge.clawmem")
    page = vault.root / "MEMORY.md"
    git(vault.root, environment, "checkout", "-q", "-b", "side")
    page.write_text("# Theirs\n")
    git(vault.root, environment, "commit", "-qam", "theirs")
    git(vault.root, environment, "checkout", "-q", "main")
    page.write_text("# Ours\n")
    git(vault.root, environment, "commit", "-qam", "ours")


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick"])
def test_unfinished_work_of_a_person_comes_first(
    vault: Vault, environment: dict[str, str], clawmem: Command, what: str
) -> None:
    _diverge(vault, environment)
    subprocess.run(["git", what, "side"], cwd=vault.root, env=environment, capture_output=True, check=False)
    before = git(vault.root, environment, "rev-parse", "HEAD", "main")
    marked = (vault.root / "MEMORY.md").read_bytes()
    assert b"<<<<<<<" in marked
    result = clawmem("remember", "Second.", "--json")
    assert result.code == 12
    assert result.json["error"]["message"] == f"A git {what} is unfinished in the vault."
    assert f"git {what} --abort" in result.json["error"]["hint"]
    assert clawmem("recall", "anything").code == 0
    assert git(vault.root, environment, "rev-parse", "HEAD", "main") == before
    assert (vault.root / "MEMORY.md").read_bytes() == marked
    git(vault.root, environment, what, "--abort")
    assert clawmem("remember", "Second.").code == 0
    assert_whole(vault.root, environment)


def test_a_revert_under_way(vault: Vault, environment: dict[str, str]) -> None:
    _diverge(vault, environment)
    revert = ["git", "revert", "--no-edit", "side"]
    subprocess.run(revert, cwd=vault.root, env=environment, capture_output=True, check=False)
    with pytest.raises(NeedsDecision, match="git revert is unfinished"):
        keep(vault, "Second.")


def test_conflict_marks_of_a_stash_stop_only_their_file(vault: Vault, environment: dict[str, str]) -> None:
    """`git stash pop` leaves unmerged entries in the index and no other trace."""
    git(vault.root, environment, "config", "--remove-section", "merge.clawmem")
    page = vault.root / "MEMORY.md"
    page.write_text("# Stashed\n")
    git(vault.root, environment, "stash", "-q")
    page.write_text("# Committed\n")
    git(vault.root, environment, "commit", "-qam", "mine")
    subprocess.run(["git", "stash", "pop", "-q"], cwd=vault.root, env=environment, capture_output=True, check=False)
    marked = page.read_bytes()
    assert b"<<<<<<<" in marked
    keep(vault, "First.")
    assert page.read_bytes() == marked
    page.write_text("# Resolved\n")
    keep(vault, "Second.")
    git(vault.root, environment, "stash", "drop", "-q")
    assert_whole(vault.root, environment)


def test_a_repository_without_a_commit_takes_in_what_is_there(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    root = tmp_path / "unborn"
    git(tmp_path, environment, "init", "-q", "-b", "main", str(root))
    (root / "clawmem.yaml").write_text("format: 1\nvault:\n  name: mine\n")
    tried = clawmem("remember", "First.", cwd=root)
    assert tried.code == 1 and "config trust" in tried.err
    assert clawmem("config", "trust", "--yes", cwd=root).code == 0
    if clawmem("remember", "First.", cwd=root).code == 11:
        assert clawmem("init", str(root)).code == 0
        assert clawmem("remember", "First.", cwd=root).code == 0
    assert (root / "clawmem.yaml").read_text() == "format: 1\nvault:\n  name: mine\n"
    assert_whole(root, environment)
    assert "First." in [fact["fact"] for fact in facts(root)]


def test_an_orphan_branch(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "First.")
    git(vault.root, environment, "checkout", "-q", "--orphan", "fresh")
    git(vault.root, environment, "commit", "-qm", "all anew")
    keep(vault, "Second.")
    assert_whole(vault.root, environment)
    assert len(commits(vault.root, environment)) == 2


def test_a_sparse_checkout_is_refused_before_facts_are_lost(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "Jane plays the cello.", entity="areas/people/jane")
    git(vault.root, environment, "sparse-checkout", "set", "daily")
    assert not (vault.root / "life/areas/people/jane/items.json").exists()
    with pytest.raises(Refused, match="sparse"):
        keep(vault, "Jane moved.", entity="areas/people/jane")
    git(vault.root, environment, "sparse-checkout", "disable")
    keep(vault, "Jane moved.", entity="areas/people/jane")
    assert len(facts(vault.root)) == 2


def test_a_vault_of_a_newer_clawmem_is_refused(vault: Vault, clawmem: Command) -> None:
    (vault.root / "clawmem.yaml").write_text("format: 99\n")
    result = clawmem("remember", "First.", "--json")
    assert result.code == 1
    assert "format 99" in result.json["error"]["message"]


def test_another_version_finishes_what_one_began(vault: Vault, environment: dict[str, str]) -> None:
    """A note with keys that this version does not know is as good as one without."""
    head = vault.head().commit
    write_pending(vault, PendingCommit(head, ("MEMORY.md",), "x", ()))
    note = vault.state / "pending.json"
    note.write_bytes(note.read_bytes().replace(b"{", b'{"machine": "other", ', 1))
    assert read_pending(vault) == PendingCommit(head, ("MEMORY.md",), "x", ())
    keep(vault, "First.")
    assert_whole(vault.root, environment)


def test_the_parent_of_a_pending_change_may_be_gone(vault: Vault, environment: dict[str, str]) -> None:
    write_pending(vault, PendingCommit("1" * 40, ("MEMORY.md", "life/none/items.json"), "x", ("access.folding",)))
    keep(vault, "First.")
    assert_whole(vault.root, environment)


def test_a_deleted_state_folder_loses_nothing(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "First.")
    subprocess.run(["rm", "-r", str(vault.state)], check=True)
    keep(Vault(vault.root, environment), "Second.")
    assert_whole(vault.root, environment)
    assert len(facts(vault.root)) == 2


def _in_own_mounts(script: str, root: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run a shell script with separate mounts, which need no cleanup; skip if the machine forbids it."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting needs root on Linux")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not allow mounts of one's own")
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, str(root)],
        env=environment,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_a_read_only_disk(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "First.")
    script = """
    mount --bind "$2" "$2" && mount -o remount,ro,bind "$2" || exit 99
    "$1" -m clawmem remember "Second." --vault "$2" --json; echo "code $?"
    "$1" -m clawmem recall "First" --vault "$2"; echo "code $?"
    """
    process = _in_own_mounts(script, vault.root, environment)
    text = process.stdout.decode()
    assert process.returncode == 0, process
    assert "Read-only" in text or "cannot be written" in text
    assert text.splitlines()[1] == "code 1"
    assert "First." in text
    assert text.splitlines()[-1] == "code 0"
    keep(vault, "Second.")
    assert_whole(vault.root, environment)


@pytest.mark.few(1)
@pytest.mark.parametrize("room", [0, 4, 8, 12, 16, 24, 32, 48, 64, 96])
def test_a_full_disk(vault: Vault, environment: dict[str, str], tmp_path: Path, room: int) -> None:
    """A small tmpfs with `room` KiB left: the change lands whole or not at all; with room again all goes on."""
    keep(vault, *(f"Fact number {number}." for number in range(40)))
    small = tmp_path / "small"
    small.mkdir()
    script = f"""
    mount -t tmpfs -o size=6m tmpfs {small} && cp -r "$2/." {small} || exit 99
    cd {small}
    "$1" -m clawmem config trust --yes >/dev/null || exit 98
    free=$(df -k --output=avail . | tail -1)
    dd if=/dev/zero of=.git/filler bs=1k count=$((free - {room})) 2>/dev/null
    "$1" -m clawmem remember "A last fact." --entity projects/last; echo "code $?"
    git rev-list --count HEAD
    "$1" -m clawmem recall "Fact number" >/dev/null; echo "recall $?"
    rm .git/filler
    "$1" -m clawmem remember "A first fact." --entity projects/first; echo "code $?"
    "$1" -m clawmem remember "A last fact." --entity projects/last; echo "code $?"
    echo "status[$(git status --porcelain)] fsck[$(git fsck --no-dangling --no-progress 2>&1)]"
    echo "left[$(ls .git/clawmem | grep -E 'half|pending'; ls .git | grep -E 'lock$|crash')]"
    git show HEAD:life/projects/last/items.json | grep -c "A last fact."
    """
    before = len(commits(vault.root, environment))
    process = _in_own_mounts(script, vault.root, environment)
    assert process.returncode == 0, process
    lines = process.stdout.decode().splitlines()
    results = [line for line in lines if line.startswith(("code", "recall", "status", "left")) or line.isdigit()]
    first, count, recall, second, third, status, left, found = results
    assert (first, int(count)) in {("code 1", before), ("code 0", before + 1)}, process
    assert (recall, second, third) == ("recall 0", "code 0", "code 0"), process
    assert (status, left, found) == ("status[] fsck[]", "left[]", "1"), process
