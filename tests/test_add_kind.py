"""The section "Add a file kind" of CONTRIBUTING.md, performed on a copy of the package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import Command

REPOSITORY = Path(__file__).parent.parent
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
FOLDER = "agents/cli/checklists"


def _section() -> str:
    return (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Add a file kind\n")[1]


def test_two_source_files_add_a_kind(
    tmp_path: Path, vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    module, row, sample = BLOCK.findall(_section())
    copy = tmp_path / "copy"
    shutil.copytree(REPOSITORY / "clawmem", copy / "clawmem")  # with its bytecode, which a command would compile again
    (copy / "clawmem/model/records/checklist.py").write_text(module)
    registry = copy / "clawmem/model/kinds.py"
    before = "    PROPOSAL_FILE,\n    *_in_each_room(),\n"
    assert before in registry.read_text()
    registry.write_text(registry.read_text().replace(before, row + before))
    path, readable, unreadable = eval("{" + sample + "}")["checklist"]
    env = {**environment, "PYTHONPATH": str(copy)}

    def run(*arguments: str) -> str:
        process = subprocess.run(
            [sys.executable, "-m", "clawmem", *arguments], cwd=vault_root, env=env, capture_output=True, text=True
        )
        assert process.returncode != 3, process.stderr
        return process.stdout + process.stderr

    file = vault_root / path
    file.parent.mkdir(parents=True)
    file.write_bytes(unreadable)
    assert f"{path}:1 cannot be read: the key 'items' must be a list, but is 3" in run("remember", "The sky is blue.")
    assert f"error  {path}" in run("doctor") or path in run("doctor")
    # Without the row the package names the file, too, and does not commit it.
    assert f"left alone: {path} is not committed: clawmem knows no kind" in clawmem("remember", "Rain is wet.").err
    file.write_bytes(readable)
    assert "committed 1 file(s) edited by hand" in run("remember", "Grass is green.")
    edit = subprocess.run(
        ["git", "rev-parse", "HEAD~1"], cwd=vault_root, env=env, capture_output=True, text=True, check=True
    ).stdout.strip()
    run("undo", edit)
    assert not file.exists()
