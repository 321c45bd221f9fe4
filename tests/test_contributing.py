"""What CONTRIBUTING.md says is done here, word for word, in a copy of the package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

from tests.conftest import Result

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"`(clawmem/[\w/]+\.py)`[^`]*?:\n\n( *)```python\n(.*?)\n\2```", re.DOTALL)


class Copy:
    """A copy of the package, changed as a section of the page says, and what runs with it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = {**environment, "PYTHONPATH": f"{folder}:{ROOT}"}
        for name in ("clawmem", "vault-template"):
            shutil.copytree(ROOT / name, folder / name)  # with its bytecode, which each command would compile again
        shutil.copy(ROOT / "pyproject.toml", folder)

    def follow(self, heading: str) -> list[str]:
        """Write each module that a section shows. Lines for a module that exists go to its imports, or to the head of
        its table. Return the modules, each once."""
        page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        section = page[page.index(f"## {heading}\n") :].removeprefix("## ").partition("\n## ")[0]
        touched = []
        for name, _, text in _BLOCK.findall(section):
            path, text = self.folder / name, dedent(text) + "\n"
            if path.exists():
                old = path.read_text(encoding="utf-8")
                if text.startswith("from "):
                    place = old.index("from clawmem")
                    text = old[:place] + text + old[place:]
                else:
                    found = re.search(r"^[A-Z]+ = [({]\n", old, re.MULTILINE)
                    assert found, f"{name} holds no table"
                    text = f"{old[: found.end()]}    {text.strip().removesuffix(',')},\n{old[found.end() :]}"
            path.write_text(text, encoding="utf-8")
            touched.append(name)
        return list(dict.fromkeys(touched))

    def run(self, *command: str, cwd: Path | None = None) -> Result:
        """Run a program with the copy in the place of the package."""
        process = subprocess.run(
            command, cwd=cwd or self.folder, env=self._environment, capture_output=True, text=True, timeout=300
        )
        return Result(process.returncode, process.stdout, process.stderr)

    def manual(self) -> str:
        """The manual as `make docs` would write it."""
        code = (
            "import json; from tests.manual import PAGE, with_blocks; print(json.dumps(with_blocks(PAGE.read_text())))"
        )
        text: str = json.loads(self.run(sys.executable, "-P", "-c", code).out)
        return text

    def clawmem(self, *words: str, cwd: Path) -> Result:
        """Run the command line of the copy."""
        return self.run(sys.executable, "-P", "-m", "clawmem", *words, cwd=cwd)

    def completed(self, line: str, cwd: Path) -> str:
        """What the copy offers a shell for a line."""
        words = ("env", "_CLAWMEM_COMPLETE=line", sys.executable, "-P", "-m", "clawmem", line)
        return self.run(*words, cwd=cwd).out


@pytest.fixture
def copy(tmp_path: Path, environment: dict[str, str]) -> Copy:
    """A fresh copy."""
    (tmp_path / "copy").mkdir()
    return Copy(tmp_path / "copy", environment)


def test_add_a_verb(copy: Copy, vault_root: Path) -> None:
    touched = copy.follow("Add a verb")
    assert touched == ["clawmem/memory/facts/warm.py", "clawmem/faces/verbs/warm.py", "clawmem/faces/verbs/table.py"]
    bin_folder = Path(sys.executable).parent
    for words in (["check"], ["format", "--check"]):
        result = copy.run(str(bin_folder / "ruff"), *words, *touched)
        assert result.code == 0, result.out + result.err
    kept = copy.clawmem("remember", "Jane lives in Oslo.", "--json", cwd=vault_root).data["facts"][0]["id"]

    warmed = copy.clawmem("warm", kept, "--json", cwd=vault_root)
    schema = copy.clawmem("schema", "warm", "--json", cwd=vault_root).data["schema"]
    jsonschema.Draft202012Validator(schema).validate(warmed.json)
    assert (warmed.data["outcome"], warmed.data["facts"][0]["importance"]) == (["updated"], 1.0)
    assert copy.clawmem("warm", kept, cwd=vault_root).out.startswith("already known: ")
    helped = copy.clawmem("warm", "--help", cwd=vault_root).out
    assert "Keep a fact hot for good." in helped and "Examples:\n    clawmem warm fact_1a2b\n" in helped
    assert "  warm " in copy.clawmem("help", "all", cwd=vault_root).out
    assert "'warm'" in copy.clawmem("wram", cwd=vault_root).err
    assert copy.completed("clawmem wa", vault_root) == "warm\tKeep a fact hot for good.\n"
    assert copy.completed("clawmem warm f", vault_root) == f"{kept}\tJane lives in Oslo.\n"
    assert "### warm\n\n<!-- begin: warm -->\nKeep a fact hot for good. Its importance becomes 1" in copy.manual()


def test_add_a_heartbeat_step(copy: Copy, vault_root: Path) -> None:
    assert copy.follow("Add a heartbeat step") == ["clawmem/heartbeat/steps.py"]
    ran = copy.clawmem("heartbeat", "--list", "--json", cwd=vault_root)
    assert ran.code == 0, ran.err
    listed = ran.data["steps"]
    assert listed[0]["name"] == "waiting"
    result = copy.clawmem("heartbeat", "--only", "waiting", "--json", cwd=vault_root)
    schema = copy.clawmem("schema", "heartbeat", "--json", cwd=vault_root).data["schema"]
    jsonschema.Draft202012Validator(schema).validate(result.json)
    assert result.data["waiting"] == 0
    offered = copy.completed("clawmem heartbeat --only wa", vault_root)
    assert offered == "waiting\tCount the proposals that wait.\n"


def test_add_an_ingest_format(copy: Copy, vault_root: Path, tmp_path: Path) -> None:
    touched = copy.follow("Add an ingest format")
    assert touched == ["clawmem/model/transcripts/forum.py", "clawmem/model/transcripts/formats.py"]
    posts = tmp_path / "posts.jsonl"
    post = {"post_id": "7", "author": "Ada", "body": "The ferry sails at nine.", "posted_at": "2026-11-20T08:00:00Z"}
    posts.write_text(json.dumps(post) + "\n" + json.dumps({"post_id": "8", "body": ""}) + "\n")
    result = copy.clawmem("ingest", str(posts), "--json", cwd=vault_root)
    assert (result.code, result.data["format"], result.data["added"]) == (4, "forum", 1)
    assert result.data["skipped"] == [{"line": 2, "reason": "the post has no text"}]
    assert "forum" in copy.clawmem("ingest", "--help", cwd=vault_root).out
    posts_of = "posts of a forum"
    assert copy.completed("clawmem ingest x --format fo", vault_root) == f"forum\t{posts_of}\n"
    assert f"\n| `forum` | {posts_of} |\n" in copy.manual()
