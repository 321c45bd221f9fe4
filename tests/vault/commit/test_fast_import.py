"""Changes as a stream for `git fast-import`, imported by real git."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from clawmem.model.records.change import Author, Change
from clawmem.vault.commit.fast_import import import_stream
from clawmem.vault.vault import Vault

BRANCH = "refs/heads/main"


@pytest.fixture
def parent(vault: Vault) -> str:
    head = vault.head().commit
    assert head is not None
    return head


def imported(vault: Vault, changes: Sequence[Change], parent: str) -> list[str]:
    """The commits git made of the changes, oldest first."""
    data = import_stream(changes, BRANCH, parent, 1_790_000_000)
    return vault.git.run("fast-import", "--quiet", "--done", stdin=data).decode().split()


def test_each_commit_holds_what_its_change_wrote(vault: Vault, parent: str) -> None:
    changes = [
        Change("one", {"life/a.md": b"first\n", "life/b.md": b"other"}),
        Change("two", {"life/a.md": b"second\n", 'life/"quoted" \u00e9\t.md': b"odd\n"}, author=Author("ann", "a@b")),
        Change("three", {"life/b.md": None, "life/empty.md": b""}),
        Change("four", {"life/a.md": b"first\n"}),
    ]
    names = imported(vault, changes, parent)
    assert vault.git.run("rev-list", "--reverse", f"{parent}..{BRANCH}").decode().split() == names
    paths = sorted({path for change in changes for path in change.writes})
    record: dict[str, bytes | None] = dict.fromkeys(paths)
    for name, change in zip(names, changes, strict=True):
        record.update(change.writes)
        assert vault.contents_at(name, paths) == record
    assert vault.git.run("log", "-1", "--format=%an <%ae> %at, %cn", names[1]).decode().strip() == (
        "ann <a@b> 1790000000, clawmem"
    )


def test_versions_of_one_file_are_kept_as_differences(vault: Vault, parent: str) -> None:
    """Two files that take turns, each too large and too random to be stored anew every time."""
    chance = random.Random(1)
    pages = {name: chance.randbytes(20_000).hex().encode() for name in ("life/a.md", "life/b.md")}
    changes = [
        Change(f"round {number}", {name: page + b"\n%d\n" % number})
        for number in range(100)
        for name, page in pages.items()
    ]
    imported(vault, changes, parent)
    packs = (vault.git_dir / "objects" / "pack").glob("*.pack")
    assert sum(pack.stat().st_size for pack in packs) < 8 * sum(len(page) for page in pages.values())
