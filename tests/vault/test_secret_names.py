"""A credential in the name of a file that is refused stays out of git's index, too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.credential_formats import formats
from tests.conftest import Command

SECRET = next(one.secret for one in formats() if one.kind == "github token" and one.secret)


@pytest.mark.parametrize(
    "place", ["daily/{}.md", "review/{}.md", "life/projects/{}/notes.md", "mine-{}.txt", "daily/{}.zip"]
)
def test_no_index_holds_the_name(clawmem: Command, vault_root: Path, place: str) -> None:
    path = vault_root / place.format(SECRET)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("something\n")
    # What a person's own git notes of new files.
    subprocess.run(["git", "update-index", "--untracked-cache"], cwd=vault_root, check=True)
    subprocess.run(["git", "status"], cwd=vault_root, check=True, capture_output=True)
    assert clawmem("remember", "Jane swims.").code == 0
    clawmem("heartbeat")
    clawmem("note", "and swims")
    held = [one for one in (vault_root / ".git").rglob("*") if one.is_file() and SECRET.encode() in one.read_bytes()]
    assert held == []
    said = clawmem("remember", "Jane runs.")
    assert SECRET not in said.out + said.err
