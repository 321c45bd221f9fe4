"""A credential in the name of a file that is refused stays out of git's index, too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.credential_formats import formats
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")

SECRET = next(fmt.secret for fmt in formats() if fmt.kind == "github token" and fmt.secret)


@pytest.mark.parametrize(
    "place", ["daily/{}.md", "review/{}.md", "life/projects/{}/notes.md", "mine-{}.txt", "daily/{}.zip"]
)
@pytest.mark.few(2)
def test_no_index_holds_the_name(clawmem: Command, vault_root: Path, place: str) -> None:
    path = vault_root / place.format(SECRET)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("something\n")
    # What a person's own git notes of new files.
    subprocess.run(["git", "update-index", "--untracked-cache"], cwd=vault_root, check=True)
    subprocess.run(["git", "status"], cwd=vault_root, check=True, capture_output=True)
    for command in (("remember", "Jane swims."), ("heartbeat",), ("note", "and swims")):
        clawmem(*command)
        if command[0] == "remember" and (path.suffix == ".zip" or path.parent == vault_root):
            continue  # no file of clawmem: upkeep finds its name
        files = [file for file in (vault_root / ".git").rglob("*") if file.is_file()]
        assert [file for file in files if SECRET.encode() in file.read_bytes()] == [], command
    result = clawmem("remember", "Jane runs.")
    assert SECRET not in result.out + result.err
