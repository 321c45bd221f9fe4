"""Each extension's folder can be deleted: a copy of the package without it works, and says what is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clawmem.extension import OWN
from clawmem.faces.verbs.table import OF_EXTENSIONS
from clawmem.model.kinds import OF_EXTENSIONS as PATTERNS
from tests.command_server import CommandServer

ROOT = Path(__file__).parents[2]
BROKEN = b"\t{ not readable: [\n"


def copied(folder: Path, without: tuple[str, ...]) -> Path:
    """A copy of the package and the template without the folders of some extensions."""
    for name in ("clawmem", "vault-template"):
        shutil.copytree(ROOT / name, folder / name)  # with its bytecode, which a command would compile again
    for name in without:
        shutil.rmtree(folder / "clawmem" / "extensions" / name)
    if without == OWN:
        shutil.rmtree(folder / "clawmem" / "extensions")
    return folder


@pytest.mark.parametrize("without", [OWN, *((name,) for name in OWN)], ids="-".join)
@pytest.mark.few(1)
def test_the_core_works_without(without: tuple[str, ...], tmp_path: Path, environment: dict[str, str]) -> None:
    server = CommandServer(package=copied(tmp_path / "copy", without))
    vault, remote = tmp_path / "vault", tmp_path / "remote.git"

    def run(*arguments: str, code: int = 0) -> str:
        process = server.run(arguments, b"", vault, environment, seconds=300)
        assert process.returncode == code, process.stderr
        return (process.stdout + process.stderr).decode()

    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        process = subprocess.run(command, cwd=vault, env=environment, check=True, capture_output=True, text=True)
        return process.stdout

    vault.mkdir()
    run("init", str(vault))
    run("config", "set", "semantic.model", "none")
    run("remember", "Jane keeps bees.", "--entity", "areas/people/jane")
    assert "Jane keeps bees." in run("recall", "bees")
    assert "Jane keeps bees." in run("context", "What does Jane keep?")
    run("learn", "pending")
    run("heartbeat")
    # What the extension would refuse to read is kept as it is.
    paths = [pattern.replace("*", "boats") for pattern, name in PATTERNS.items() if name in without]
    for path in paths:
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(BROKEN)
    run("remember", "Jane sells honey.")
    git("init", "-q", "--bare", "-b", "main", str(remote))
    git("remote", "add", "origin", str(remote))
    run("sync")
    assert set(paths) <= set(git("--git-dir", str(remote), "ls-tree", "-r", "--name-only", "main").splitlines())
    report = run("doctor")
    assert not [path for path in paths if path in report]
    assert "remember" in run("--help")
    for verb, name in OF_EXTENSIONS.items():
        if name in without:
            text = run(verb, "--help", code=1)
            assert f"The extension `{name}` of clawmem is not installed here." in text
            assert f"clawmem/extensions/{name}" in text
    server.close()
