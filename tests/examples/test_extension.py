"""The example of an extension: nothing of it is imported before a person accepted it, and then every part works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "extension"


def test_an_extension_works_after_a_person_accepted_it(
    vault_root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    site = tmp_path / "site"
    about = site / "clawmem_birthdays-1.0.dist-info"
    about.mkdir(parents=True)
    for module in EXAMPLE.glob("*.py"):
        (site / module.name).write_bytes(module.read_bytes())
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: clawmem-birthdays\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[clawmem.extensions]\nbirthdays = clawmem_birthdays:EXTENSION\n")
    env = {**environment, "PYTHONPATH": str(site)}

    def run(*arguments: str, code: int = 0, agent: str = "") -> str:
        command = [sys.executable, "-v", "-m", "clawmem", *arguments]
        called = {**env, "CLAWMEM_AGENT": agent} if agent else env
        process = subprocess.run(command, cwd=vault_root, env=called, capture_output=True, text=True, timeout=300)
        errors = [line for line in process.stderr.splitlines() if line.startswith(("error: ", "hint: ", "note: "))]
        assert process.returncode == code, errors
        imported.append("import 'clawmem_birthdays'" in process.stderr)
        return "\n".join([process.stdout, *errors])

    imported: list[bool] = []
    file = vault_root / "life" / "birthdays.json"
    file.write_text('{"Jane": "04-17"}\n')
    assert "No such command 'birthdays'" in run("birthdays", code=2)
    assert "clawmem knows no kind" in run("remember", "Rain is wet.")
    assert "not accepted" in run("config", "extension")
    assert "only a person may run it" in run("config", "extension", "birthdays", "--yes", code=1, agent="cli")
    assert "Nothing was accepted." in run("config", "extension", "birthdays", code=1)
    run("context")
    run("config", "extension", "birthdays", "--yes")
    assert imported == [False] * len(imported)

    assert "List the birthdays in life/birthdays.json." in run("help", "extensions")
    assert "life/birthdays.json:1 cannot be read: it must be a list of texts" in run("remember", "Grass is green.")
    file.write_text('["04-17 Jane"]\n')
    assert "committed 1 file(s) edited by hand" in run("remember", "Snow is white.")
    assert json.loads(run("birthdays", "--json").splitlines()[0])["data"] == {"birthdays": ["04-17 Jane"]}
    assert json.loads(run("heartbeat", "--only", "birthdays", "--json").splitlines()[0])["data"]["birthdays"] == 1
    assert "04-17 Jane" in run("context")
    (site / "clawmem_birthdays.py").write_text("raise ValueError('broken')\n")
    assert "The extension `birthdays` cannot be used: ValueError: broken." in run("doctor")
    run("config", "extension", "birthdays", "--remove")
    assert "No such command 'birthdays'" in run("birthdays", code=2)
