"""The verbs that agents call all the time import next to nothing beyond what any Typer program does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Command, _environment

# Each of these costs milliseconds, and none is needed to find or keep a fact.
HEAVY = frozenset(
    "yaml rich git gitdb tiktoken litellm whoosh hashlib tempfile logging random secrets asyncio email http urllib "
    "ssl socket multiprocessing concurrent unittest pydantic numpy ctypes regex requests httpx".split()
)
# What a hot verb may load that a one-command Typer program does not; another module here needs a reason.
ALLOWED = frozenset(
    "clawmem __future__ atexit runpy gc "  # the entry point
    "json _json "  # facts on disk, --json
    "sqlite3 _sqlite3 "  # the index
    "unicodedata "  # the normal form of statements
    "encodings "  # utf-8-sig for files that carry a mark
    "fcntl subprocess selectors select _posixsubprocess signal".split()  # the lock and git
)
# What starts git: a read of an index that is up to date starts nothing.
STARTS = frozenset("subprocess selectors threading signal".split())
TYPER_PROGRAM = """
import typer
app = typer.Typer(add_completion=False)
@app.command()
def main(name: str) -> None:
    print(name)
app(["hello"], standalone_mode=False)
"""
HOT = {
    "recall": ["recall", "where does Jane live?"],
    "recall --json": ["recall", "where does Jane live?", "--json"],
    "context": ["context", "where does Jane live?"],
    "context --json": ["context", "where does Jane live?", "--json"],
    "remember": ["remember", "Jane prefers tea.", "--entity", "areas/people/jane"],
    "remember --json": ["remember", "Jane has a cat.", "--entity", "areas/people/jane", "--json"],
}


def imported(environment: Mapping[str, str], cwd: Path, *arguments: str) -> set[str]:
    """The top-level modules that a Python process imports, as the interpreter itself tells."""
    command = [sys.executable, "-X", "importtime", *arguments]
    # Pinned ids come from `random`, which nobody but a test needs.
    unpinned = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    process = subprocess.run(command, cwd=cwd, env=unpinned, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    names = [line.rsplit("|", 1)[1].strip() for line in process.stderr.splitlines() if line.startswith("import time:")]
    return {name.split(".")[0] for name in names}


@pytest.fixture
def vault_in_use(vault_root: Path, clawmem: Command) -> Path:
    """A vault whose settings were read and whose index was built, as any but a new one is."""
    for arguments in (["remember", "Jane lives in Oslo.", "--entity", "areas/people/jane"], ["recall", "Jane"]):
        assert clawmem(*arguments).code == 0
    return vault_root


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a program of Typer with one command imports."""
    folder = tmp_path_factory.mktemp("bare")
    return imported(_environment(folder / "home"), folder, "-c", TYPER_PROGRAM)


@pytest.mark.parametrize("verb", HOT)
def test_a_hot_verb_imports_little(verb: str, vault_in_use: Path, environment: dict[str, str], bare: set[str]) -> None:
    loaded = imported(environment, vault_in_use, "-m", "clawmem", *HOT[verb])
    assert "clawmem" in loaded and "sqlite3" in loaded
    assert (loaded - bare) & HEAVY == set()
    assert loaded - bare - ALLOWED == set()
    assert loaded & STARTS == set() or verb.startswith("remember")


@pytest.mark.parametrize("verb", ["recall", "context"])
def test_no_annotation_is_compiled_for_a_read(verb: str, vault_in_use: Path, environment: dict[str, str]) -> None:
    code = (
        "import json, sys; from clawmem.faces.cli.plain import run_plain\n"
        f"run_plain({HOT[verb]!r})\n"
        "ours = [one for name, one in sys.modules.items() if name.startswith('clawmem.')]\n"
        "tuples = {one.__module__ for module in ours for one in vars(module).values() if hasattr(one, '_fields')}\n"
        "print(json.dumps([[one for one in tuples if hasattr(sys.modules[one], 'annotations')], len(tuples)]))"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=vault_in_use, env=environment, capture_output=True, text=True, check=True)
    by_text, modules = json.loads(process.stdout.splitlines()[-1])
    assert modules > 20
    assert by_text == [], "annotations kept as text cost ten microseconds a field (decision 002)"


def test_a_sync_that_nobody_watches_imports_little(vault_in_use: Path, environment: dict[str, str]) -> None:
    """It runs after every piece of work, mostly with nothing to do; git's progress is for those who look on."""
    hub = vault_in_use.parent / "hub.git"
    for command in (["init", "-q", "--bare", "-b", "main", str(hub)], ["remote", "add", "origin", str(hub)]):
        subprocess.run(["git", *command], cwd=vault_in_use, env=environment, check=True)
    bare = imported(environment, vault_in_use, "-c", "import pathlib")
    for _ in range(2):
        loaded = imported(environment, vault_in_use, "-m", "clawmem", "sync")
        assert (loaded - bare) & (HEAVY | {"typer", "sqlite3"}) == set()


def test_the_measure_sees_heavy_modules(vault_in_use: Path, environment: dict[str, str]) -> None:
    assert {"git", "logging", "tempfile"} <= imported(environment, vault_in_use, "-m", "clawmem", "log")


def test_help_imports_no_verb(vault_in_use: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "clawmem", "--help"]
    process = subprocess.run(command, cwd=vault_in_use, env=environment, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0
    assert "clawmem.faces.verbs.table" in process.stderr
    assert "clawmem.faces.verbs.recall" not in process.stderr and "clawmem.memory" not in process.stderr
