"""The house rule is kept by a linter, and the linter is awake: each contract is seen to fail when it is broken."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.test_contributing import Copy

ROOT = Path(__file__).parent.parent
LINTER = Path(sys.executable).parent / "lint-imports"


class Break(NamedTuple):
    """A line that breaks a contract, the module that gets it, and the sentence of the linter."""

    contract: str
    module: str
    line: str
    told: str


BREAKS = {
    "an act imports the face": Break(
        "house",
        "memory/facts/remember.py",
        "import clawmem.faces.parts.command",
        "clawmem.memory is not allowed to import clawmem.faces",
    ),
    "the vault imports the index": Break(
        "house",
        "vault/vault.py",
        "import clawmem.index.tables.store",
        "clawmem.vault is not allowed to import clawmem.index",
    ),
    "the model imports the vault": Break(
        "house",
        "model/facts/fact.py",
        "import clawmem.vault.disk",
        "clawmem.model is not allowed to import clawmem.vault",
    ),
    "the core imports an extension": Break(
        "house",
        "faces/cli/app.py",
        "import clawmem.extensions.governance",
        "clawmem.faces is not allowed to import clawmem.extensions",
    ),
    "an extension imports another": Break(
        "extensions",
        "extensions/exchange/import_memories.py",
        "import clawmem.extensions.governance",
        "clawmem.extensions.exchange is not allowed to import clawmem.extensions.governance",
    ),
    "siblings know each other": Break(
        "house",
        "learning/learn.py",
        "import clawmem.serving.recall.recall",
        "clawmem.learning is not allowed to import clawmem.serving",
    ),
    "a completion that opens a write": Break(
        "writing",
        "memory/sync/complete_merges.py",
        "from clawmem.memory.writing import writing",
        "clawmem.memory.sync.complete_merges -> clawmem.memory.writing",
    ),
    "a part of the hub beside it speaks to PostgreSQL": Break(
        "hub", "extensions/hub/worker.py", "import psycopg", "clawmem.extensions is not allowed to import psycopg"
    ),
    "a module nobody placed": Break("house", "helpers.py", "", "helpers"),
    "the model reads files": Break(
        "pure", "model/facts/fact.py", "import pathlib", "clawmem.model.facts.fact -> pathlib"
    ),
    "the model reads the clock": Break(
        "pure", "model/language/dates.py", "import time", "clawmem.model.language.dates -> time"
    ),
    "an act runs a process": Break(
        "git", "memory/facts/remember.py", "import subprocess", "clawmem.memory.facts.remember -> subprocess"
    ),
    "an act uses GitPython": Break(
        "git", "serving/recall/recall.py", "import git", "clawmem.serving.recall.recall -> git"
    ),
    "an act calls a model": Break("models", "learning/learn.py", "import litellm", "clawmem.learning.learn -> litellm"),
    "the vault knows models": Break(
        "house", "vault/vault.py", "import clawmem.llm.choice", "clawmem.vault is not allowed to import clawmem.llm"
    ),
    "a verb knows a face": Break(
        "faces",
        "faces/verbs/note.py",
        "import clawmem.faces.cli.terminal",
        "clawmem.faces.verbs is not allowed to import clawmem.faces.cli",
    ),
    "a verb prints": Break("silent", "faces/verbs/note.py", "import sys", "clawmem.faces.verbs.note -> sys"),
    "an act draws": Break("terminal", "learning/ingest.py", "import rich", "clawmem.learning.ingest -> rich"),
    "an act opens SQLite": Break(
        "sql", "memory/facts/remember.py", "import sqlite3", "clawmem.memory.facts.remember -> sqlite3"
    ),
    "the vault opens SQLite": Break("sql", "vault/disk.py", "import sqlite3", "clawmem.vault.disk -> sqlite3"),
    "a table imports a search": Break(
        "index-rooms",
        "index/tables/fact_marks.py",
        "import clawmem.index.search.events",
        "clawmem.index.tables is not allowed to import clawmem.index.search",
    ),
    "a search imports a refresh": Break(
        "index-rooms",
        "index/search/events.py",
        "import clawmem.index.refresh",
        "clawmem.index.search is not allowed to import clawmem.index.refresh",
    ),
    "a refresh imports vectors": Break(
        "index-rooms",
        "index/refresh.py",
        "import clawmem.index.vectors.store",
        "clawmem.index.refresh is not allowed to import clawmem.index.vectors",
    ),
    "the git room imports a commit": Break(
        "vault-rooms",
        "vault/git/merge_driver.py",
        "import clawmem.vault.commit.pending",
        "clawmem.vault.git is not allowed to import clawmem.vault.commit",
    ),
    "an edit imports a commit": Break(
        "vault-rooms",
        "vault/edits/adoption.py",
        "import clawmem.vault.commit.pending",
        "clawmem.vault.edits is not allowed to import clawmem.vault.commit",
    ),
    "a history imports an exchange": Break(
        "vault-rooms",
        "vault/history/git_merges.py",
        "import clawmem.vault.exchange.create",
        "clawmem.vault.history is not allowed to import clawmem.vault.exchange",
    ),
    "the runtime parses arguments": Break("terminal", "runtime.py", "import typer", "clawmem.runtime -> typer"),
}


def contracts() -> dict[str, str]:
    """The contracts' names by id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]}


def lint(place: Path) -> tuple[int, str]:
    process = subprocess.run([LINTER, "--no-cache"], cwd=place, capture_output=True, text=True, timeout=120)
    # The report is wrapped and the arrows have line numbers: compare words only.
    return process.returncode, " ".join((process.stdout + process.stderr).split())


@pytest.mark.skipif(not LINTER.exists(), reason="import-linter is not installed: pip install -e '.[dev]'")
def test_every_broken_contract_fails_and_no_other_line(tmp_path: Path, environment: dict[str, str]) -> None:
    """One run reports all: each run reads the whole package. `make lint` runs it on the package as it is."""
    copy = Copy(tmp_path, environment)
    copy.follow("Add a verb")
    for broken in BREAKS.values():
        with (tmp_path / "clawmem" / broken.module).open("a", encoding="utf-8") as module:
            module.write(f"\n{broken.line}\n")
    code, report = lint(tmp_path)
    assert code == 1, report
    assert "warm" not in report, "the example of the page for contributors breaks none"
    assert [name for name, broken in BREAKS.items() if broken.told not in report] == []
    assert [name for name in contracts().values() if f"{name} BROKEN" not in report] == []


def test_every_contract_is_broken_once() -> None:
    assert {other_break.contract for other_break in BREAKS.values()} == set(contracts())


def test_only_the_index_uses_the_connection() -> None:
    """SQL needs `Index.database`, so no other package may use it."""
    files = (path for path in (ROOT / "clawmem").rglob("*.py") if not path.is_relative_to(ROOT / "clawmem" / "index"))
    users = [str(path) for path in files if re.search(r"\.database\b", path.read_text(encoding="utf-8"))]
    assert users == []
