"""The demonstration that `make run` shows: it works, it shows what it promises, and it fails aloud."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_server import CommandServer
from tests.transcripts.transcript import tools

ROOT = Path(__file__).parent.parent
CONVERSATION = ROOT / "examples" / "conversation.jsonl"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the examples, so that the vault they make is not in this checkout."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def run(demo: Path, environment: dict[str, str], path: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "examples/demo.sh"]
    # The demonstration runs as a newcomer runs it: nothing is pinned.
    unpinned = {"PATH": path, "HOME": environment["HOME"], "LANG": environment["LANG"]}
    return subprocess.run(command, cwd=demo, env=unpinned, capture_output=True, text=True, timeout=300)


def test_the_demonstration_does_the_main_job(
    demo: Path, environment: dict[str, str], command_server: CommandServer
) -> None:
    path = f"{tools(demo, command_server)}{os.pathsep}{environment['PATH']}"
    earlier = ("init", "demo-vault", "--inside-repository")
    assert command_server.run(earlier, b"", demo, environment, seconds=300).returncode == 0
    (demo / "demo-vault/of-an-earlier-run.md").touch()
    process = run(demo, environment, path)
    says = "note: If Nora is you, `clawmem config set user.name Nora` says so: the next heartbeat joins your facts\n"
    assert (process.returncode, process.stderr) == (0, says)
    assert not (demo / "demo-vault/of-an-earlier-run.md").exists(), "the vault is made anew"
    verbs = ["init", "ingest", "learn", "heartbeat", "recall", "context", "supersede", "why"]
    places = [process.stdout.index(f"\n$ clawmem {verb}") for verb in verbs]
    assert places == sorted(places)
    assert "82 events added" in process.stdout
    assert "Ida is allergic to peanuts" in process.stdout
    assert "Nora no longer works at Vattenlab.  [reconcile: The text says that this is over.]" in process.stdout
    assert "updated    Lena lives in Malmö." in process.stdout
    assert "refused" not in process.stdout.replace("0 refused", "")
    assert "The movers come on 2 November 2026." in process.stdout
    assert ">>the movers come on 30 October 2026<<" in process.stdout
    log = process.stdout[process.stdout.index("\n$ git ") :]
    assert [word in log for word in ("supersede(", "learn(", "ingest(", "init(vault)")] == [True] * 4


def test_the_demonstration_fails_aloud(demo: Path, environment: dict[str, str], command_server: CommandServer) -> None:
    (demo / "examples" / "conversation.jsonl").unlink()
    process = run(demo, environment, f"{tools(demo, command_server)}{os.pathsep}{environment['PATH']}")
    assert process.returncode == 1
    assert "There is no file examples/conversation.jsonl." in process.stderr
    assert "exit code 1" in process.stderr


def test_the_conversation_is_one() -> None:
    messages = [json.loads(line) for line in CONVERSATION.read_text(encoding="utf-8").splitlines()]
    assert 60 <= len(messages) <= 100
    assert {message["role"] for message in messages} == {"user", "assistant", "system", "tool"}
    assert len({message["session"] for message in messages}) >= 5
    times = [message["timestamp"] for message in messages]
    assert times == sorted(times)
