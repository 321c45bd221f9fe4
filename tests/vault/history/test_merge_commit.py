"""A merge commit, and the branch that moves to it: the tree, the files, git's index, and what stops all of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.errors import ChangedMeanwhile, Refused
from clawmem.model.records.change import Author, Change
from clawmem.vault.commit.pending import is_pending
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.git.index import index_lock_path
from clawmem.vault.history.history import diff_commits
from clawmem.vault.history.merge_commit import DROP_MERGE_REF, Entries, FileStates, fast_forward, write_merge
from clawmem.vault.vault import Vault
from tests.conftest import NOW

SECONDS = 1_800_000_000
MERGED = Change("merge(vault): two machines", {}, (("Clawmem-Op", "merge"),), author=Author("Ada", "ada@example.org"))


def head(vault: Vault) -> str:
    commit = vault.head().commit
    assert commit is not None
    return commit


def commit(vault: Vault, files: Mapping[str, bytes | None], words: str) -> str:
    """Commit files by plain git, and return the commit."""
    for name, data in files.items():
        path = vault.root / name
        if data is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    vault.git.run("add", "--all")
    vault.git.run("commit", "--quiet", "--allow-empty", "-m", words)
    return head(vault)


def two_sides(vault: Vault) -> tuple[str, str, str]:
    """Return a base and a commit of each side; the branch is at ours."""
    base = commit(vault, {"daily/a.md": b"a\n", "daily/b.md": b"b\n", "daily/c.md": b"c\n"}, "base")
    vault.git.run("checkout", "-q", "-b", "theirs")
    theirs = commit(vault, {"daily/b.md": b"theirs\n", "daily/new.md": b"new\n", "daily/c.md": None}, "theirs")
    vault.git.run("checkout", "-q", "main")
    return base, commit(vault, {"daily/a.md": b"ours\n"}, "ours"), theirs


def tree(vault: Vault, commit: str) -> dict[str, bytes]:
    names = vault.git.run("ls-tree", "-r", "-z", "--name-only", commit, "--", "daily").decode().split("\0")
    return {name: vault.git.run("show", f"{commit}:{name}") for name in names if name.endswith(".md")}


def merged(vault: Vault, ours: str, theirs: str, entries: Entries) -> str:
    return write_merge(vault, (ours, theirs), MERGED, entries, SECONDS)


def test_a_merge_commit_has_both_parents_and_the_first_tree_with_its_entries(vault: Vault) -> None:
    base, ours, theirs = two_sides(vault)
    changed = diff_commits(vault, base, base, theirs)
    entries: Entries = {
        "daily/b.md": changed.theirs["daily/b.md"],
        "daily/c.md": None,
        "daily/new.md": b"inline, with a \x00 byte\n",
        "daily/a name.md": b"",
    }
    made = merged(vault, ours, theirs, entries)
    assert head(vault) == ours, "no branch moves"
    assert tree(vault, made) == {
        "daily/a.md": b"ours\n", "daily/b.md": b"theirs\n", "daily/new.md": b"inline, with a \x00 byte\n",
        "daily/a name.md": b"",
    }  # fmt: skip
    text = vault.git.run("log", "-1", "--format=%P%n%an <%ae> %at%n%cn %ct%n%B", made).decode()
    assert text.startswith(
        f"{ours} {theirs}\nAda <ada@example.org> {SECONDS}\nclawmem {SECONDS}\nmerge(vault): two machines\n"
    )
    assert "Clawmem-Op: merge" in text
    vault.git.run("update-ref", "--stdin", stdin=DROP_MERGE_REF.encode())
    assert vault.git.run("for-each-ref", "refs/clawmem").decode() == ""
    by_clawmem = write_merge(vault, (ours,), MERGED._replace(author=None), {}, SECONDS)
    assert vault.git.run("log", "-1", "--format=%P %an", by_clawmem).decode().strip() == f"{ours} clawmem"
    # A folder takes the place of a file: deletions come first.
    folder = merged(vault, ours, theirs, {"daily/a.md": None, "daily/a.md/x.md": b"x\n"})
    assert tree(vault, folder)["daily/a.md/x.md"] == b"x\n"


@pytest.mark.parametrize("many", [1, 3])
def test_the_branch_and_the_files_follow(vault: Vault, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    if many > 1:
        monkeypatch.setattr("clawmem.vault.history.merge_commit._BATCH", 1)
    _, ours, theirs = two_sides(vault)
    made = merged(vault, ours, theirs, {"daily/b.md": b"both\n", "daily/c.md": None, "daily/new.md": b"new\n"})
    with transaction(vault, NOW, "a test") as started:
        found = fast_forward(started, ours, made, "merge(vault): two machines", DROP_MERGE_REF)
        assert started.notices == []
    assert head(vault) == made
    assert {path.name: path.read_bytes() for path in (vault.root / "daily").glob("*.md")} == {
        "a.md": b"ours\n", "b.md": b"both\n", "new.md": b"new\n",
    }  # fmt: skip
    assert vault.git.run("status", "--porcelain").decode() == ""
    assert not index_lock_path(vault).exists() and not is_pending(vault)
    assert vault.git.run("for-each-ref", "refs/clawmem").decode() == ""
    assert "clawmem: merge(vault): two machines" in vault.git.run("reflog", "-1").decode()
    states = FileStates(
        {"daily/b.md": b"b\n", "daily/c.md": b"c\n", "daily/new.md": None},
        {"daily/b.md": b"both\n", "daily/c.md": None, "daily/new.md": b"new\n"},
    )
    assert found == (states if many == 1 else None)


def test_what_stops_it_changes_nothing(vault: Vault) -> None:
    base, ours, theirs = two_sides(vault)
    made = merged(vault, ours, theirs, {"daily/b.md": b"both\n", "daily/new.md": b"new\n"})

    def refused(kind: type[Exception], words: str, at: str = ours) -> None:
        before = {path.name: path.read_bytes() for path in (vault.root / "daily").iterdir() if path.is_file()}
        start = vault.git.run("rev-parse", "HEAD", "main")
        with transaction(vault, NOW, "a test") as started, pytest.raises(kind, match=words):
            started.adopt = lambda: None  # type: ignore[method-assign,assignment,return-value]
            fast_forward(started, at, made, "merge", "")
        assert vault.git.run("rev-parse", "HEAD", "main") == start
        after = {path.name: path.read_bytes() for path in (vault.root / "daily").iterdir() if path.is_file()}
        assert after == before
        assert not index_lock_path(vault).exists() and not is_pending(vault)

    refused(ChangedMeanwhile, "moved the branch", at=base)
    (vault.root / "daily/b.md").write_bytes(b"by hand\n")
    refused(ChangedMeanwhile, "daily/b.md differs from what was committed")
    (vault.root / "daily/b.md").write_bytes(b"b\n")
    (vault.root / "daily/new.md").write_bytes(b"by hand\n")
    refused(ChangedMeanwhile, "daily/new.md differs")
    (vault.root / "daily/new.md").unlink()
    (vault.root / "daily/new.md").mkdir()
    refused(Refused, "daily/new.md cannot be written")
    (vault.root / "daily/new.md").rmdir()
    vault.git.run("checkout", "-q", "--detach")
    refused(Refused, "HEAD is detached")
    vault.git.run("checkout", "-q", "main")
    with transaction(vault, NOW, "a test") as started:
        assert fast_forward(started, ours, made, "merge") is not None


def test_links_and_programs_of_a_person_follow_unless_they_were_changed(vault: Vault) -> None:
    base = commit(vault, {"tool.sh": b"#!/bin/sh\n", "gone.sh": b"old\n", "kept.sh": b"old\n"}, "base")
    vault.git.run("update-index", "--chmod=+x", "tool.sh", "gone.sh", "kept.sh")
    (vault.root / "link").symlink_to("tool.sh")
    base = commit(vault, {}, "programs")
    vault.git.run("checkout", "-q", "-b", "theirs")
    (vault.root / "link").unlink()
    (vault.root / "link").symlink_to("kept.sh")
    (vault.root / "new").symlink_to("tool.sh")
    (vault.root / "taken").symlink_to("tool.sh")
    theirs = commit(vault, {"tool.sh": b"#!/bin/sh\necho 2\n", "gone.sh": None, "kept.sh": b"new\n"}, "theirs")
    vault.git.run("checkout", "-q", "main")
    (vault.root / "kept.sh").write_bytes(b"mine\n")
    (vault.root / "taken").write_bytes(b"mine\n")
    with transaction(vault, NOW, "a test") as started:
        assert fast_forward(started, base, theirs, "merge") is None
    assert (vault.root / "tool.sh").read_bytes() == b"#!/bin/sh\necho 2\n"
    assert os.access(vault.root / "tool.sh", os.X_OK)
    assert not (vault.root / "gone.sh").exists()
    assert (vault.root / "kept.sh").read_bytes() == b"mine\n" and (vault.root / "taken").read_bytes() == b"mine\n"
    assert ((vault.root / "link").readlink(), (vault.root / "new").readlink()) == (Path("kept.sh"), Path("tool.sh"))
    changed = vault.git.run("status", "--porcelain").decode().splitlines()
    assert sorted(line[3:] for line in changed) == ["kept.sh", "taken"]
    assert all(line[0] == " " for line in changed), "nothing is staged"
