"""The file of the branch lost while git's packed refs hold an older commit: noticed by every verb, and put back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import GitFailed
from clawmem.vault.git.refs import Head, lost_branch
from clawmem.vault.vault import Vault
from tests.conftest import Command, Once
from tests.faults.checks import assert_whole, commits, git
from tests.faults.scenarios import keep

pytestmark = pytest.mark.usefixtures("without_vectors", "own_processes")

VERBS = (
    ("list",), ("recall", "Jane"), ("context",), ("log",), ("diff",), ("status",), ("entity", "list"),
    ("remember", "The boat is blue."), ("note", "x y"), ("heartbeat",), ("undo", "HEAD"), ("reindex",),
)  # fmt: skip
REF = "refs/heads/main"


def _gone(path: Path) -> None:
    path.unlink()


def _zeroed(path: Path) -> None:
    path.write_bytes(bytes(41))


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture
def packed(once: Once, vault: Vault, environment: dict[str, str]) -> Vault:
    """A vault whose refs were packed before its last two facts."""

    def build() -> None:
        keep(vault, "Jane plays the cello.")
        git(vault.root, environment, "pack-refs", "--all")
        keep(vault, "Jane lives in Oslo.")
        keep(vault, "Jane has a dog.")

    once(build)
    return vault


@pytest.mark.parametrize("damage", [_gone, _zeroed, _emptied])
def test_every_verb_says_it_and_doctor_puts_it_back(
    packed: Vault, clawmem: Command, environment: dict[str, str], damage: Callable[[Path], None]
) -> None:
    before = commits(packed.root, environment)
    damage(packed.git_dir / REF)
    for verb in VERBS if damage is _gone else VERBS[::4]:
        result = clawmem(*verb, "--json")
        assert result.code == 1, (verb, result)
        assert f".git/{REF} is " in result.json["error"]["message"], (verb, result)
        assert "clawmem doctor --fix" in result.json["error"]["hint"]
    found = clawmem("doctor", "--json")
    assert found.code == 1 and ("branch", True) in [
        (problem["check"], problem["fixable"]) for problem in found.data["problems"]
    ]
    assert clawmem("doctor", "--fix", "--json").code == 0
    assert commits(packed.root, environment) == before
    assert len(clawmem("list", "--json").data["facts"]) == 3
    assert_whole(packed.root, environment)


def test_a_branch_that_was_never_packed(vault: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    keep(vault, "Jane plays the cello.")
    before = commits(vault.root, environment)
    (vault.git_dir / REF).unlink()
    assert "has no commit" in clawmem("list", "--json").json["error"]["message"]
    assert clawmem("doctor", "--fix", "--json").code == 0
    assert commits(vault.root, environment) == before


def test_a_commit_that_is_gone_is_not_put_back(packed: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    last = commits(packed.root, environment)[-1]
    (packed.git_dir / REF).unlink()
    (packed.git_dir / "objects" / last[:2] / last[2:]).unlink()
    found = clawmem("doctor", "--fix", "--json")
    assert found.code == 1 and "lost too" in str(found.data["problems"])
    git(packed.root, environment, "commit", "--quiet", "--allow-empty", "-m", "on from here")
    assert len(clawmem("list", "--json").data["facts"]) == 3  # out of git's index, which had them all


ACCEPTED: dict[str, tuple[tuple[str, ...], ...]] = {
    "reset": (("reset", "-q", "--hard", "HEAD~2"),),
    "reset and pack": (("reset", "-q", "--hard", "HEAD~2"), ("pack-refs", "--all")),
    "pack": (("pack-refs", "--all"),),
    "gc": (("gc", "-q"),),
    "another branch": (("switch", "-q", "-c", "other"), ("pack-refs", "--all")),
    "an older branch": (("branch", "old", "HEAD~2"), ("switch", "-q", "old"), ("pack-refs", "--all")),
    "a branch renamed": (("branch", "-m", "trunk"), ("pack-refs", "--all")),
    "a branch moved": (("update-ref", "refs/heads/main", "HEAD~1"), ("reset", "-q", "--hard"), ("pack-refs", "--all")),
    "amended": (("commit", "-q", "--amend", "-m", "mine"), ("pack-refs", "--all")),
    "logs expired": (("reflog", "expire", "--expire=now", "--all"), ("pack-refs", "--all")),
    "detached": (("checkout", "-q", "HEAD~1"), ("pack-refs", "--all")),
}


@pytest.mark.parametrize("what", ACCEPTED)
def test_what_a_person_does_with_git_is_accepted(packed: Vault, environment: dict[str, str], what: str) -> None:
    for command in ACCEPTED[what]:
        git(packed.root, environment, *command)
    assert packed.head().commit == commits(packed.root, environment)[-1]
    assert packed.head().branch is None or lost_branch(packed.git_dir) is None


def test_a_move_that_was_killed_is_no_loss(packed: Vault, environment: dict[str, str]) -> None:
    """git notes a move in its log before it makes it."""
    git(packed.root, environment, "pack-refs", "--all")
    head = commits(packed.root, environment)[-1]
    with (packed.git_dir / "logs" / REF).open("a") as log:
        log.write(f"{head} {'1' * 40} A <a@b> 1 +0000\tfast-import\n")
    with pytest.raises(GitFailed, match="lost"):
        packed.head()
    (packed.git_dir / f"{REF}.lock").touch()
    assert packed.head().commit == head
    (packed.git_dir / f"{REF}.lock").unlink()
    packed.prepare_state()
    (packed.state / "pending.json").write_bytes(b"{}")
    assert packed.head().commit == head


# What git would not take for the name of a branch, and one that no commit is on.
STRANGE = {
    "ref: nowhere": "does not name a branch",
    "ref: ": "contains no commit hash",
    "ref: HEAD": "does not name a branch",
    "ref: heads/main": "does not name a branch",
    "ref: refs": "does not name a branch",
    "ref: refs/heads/": "does not name a branch",
    "ref: refs//main": "does not name a branch",
    "ref: refs/heads/.main": "does not name a branch",
    "ref: refs/heads/main.lock": "does not name a branch",
    "ref: refs/heads/ma\x01in": "does not name a branch",
    "ref: refs/heads/../../x": "does not name a branch",
    "ref: refs/heads/a b": "which has no commit",
    "ref: refs/tags/v1": "which has no commit",
    "": "contains no commit hash",
}


@pytest.mark.parametrize("words", STRANGE)
@pytest.mark.few(5)
def test_a_head_on_a_strange_ref(vault: Vault, clawmem: Command, words: str) -> None:
    keep(vault, "Jane plays the cello.")
    (vault.git_dir / "HEAD").write_text(f"{words}\n")
    for verb in (("diff",), ("log",), ("why", "fact_0"), ("undo", "HEAD"), ("list", "--at", "HEAD"), ("list",)):
        result = clawmem(*verb, "--json")
        message = result.json["error"]["message"]
        assert result.code == 1 and "HEAD" in message and STRANGE[words] in message, (verb, result)


@pytest.mark.parametrize("moves", [1, 400])
def test_a_short_and_a_long_log_of_the_branch_tell_its_loss(vault: Vault, clawmem: Command, moves: int) -> None:
    """The last line counts, also where it is the first one and where git's log is longer than what is read of it."""
    keep(vault, "Jane plays the cello.")
    old, new = (vault.git.run("rev-parse", name).decode().strip() for name in ("HEAD~1", "HEAD"))
    vault.git.run("update-ref", REF, old)
    vault.git.run("pack-refs", "--all")
    lines = [f"{old} {old} A <a@b> {n} +0000\tmove {'m' * 80}\n" for n in range(moves - 1)]
    (vault.git_dir / "logs" / REF).write_text("".join([*lines, f"{old} {new} A <a@b> 9 +0000\tcommit\n"]))
    (vault.git_dir / REF).unlink(missing_ok=True)
    failed = clawmem("list", "--json")
    assert failed.code == 1 and f".git/{REF} is lost" in failed.json["error"]["message"]
    assert clawmem("doctor", "--fix", "--json").code == 0
    assert vault.head().commit == new


def test_a_branch_without_a_commit_is_right_only_in_a_vault_that_never_had_one(vault: Vault) -> None:
    vault.git.run("pack-refs", "--all")
    (vault.git_dir / "HEAD").write_text("ref: refs/heads/other\n")
    with pytest.raises(GitFailed, match="names the branch other, which has no commit"):
        vault.head()
    (vault.git_dir / "packed-refs").unlink()
    (vault.state / "index.sqlite").unlink(missing_ok=True)
    assert vault.head() == Head("refs/heads/other", None)
    (vault.git_dir / "refs/heads/topic").write_text(f"{'1' * 40}\n")
    with pytest.raises(GitFailed, match="which has no commit"):
        vault.head()
