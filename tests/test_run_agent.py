"""The loop of `make run-agent`: what a session taught is known in the next one of its project, and in no other."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.command_server import CommandServer
from tests.transcripts.transcript import tools

ROOT = Path(__file__).parent.parent


def test_the_loop(tmp_path: Path, command_server: CommandServer) -> None:
    path = f"{tools(tmp_path, command_server)}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    command = ["sh", str(ROOT / "examples/agent.sh")]
    process = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.count("  knows: ") == 6
    assert process.stdout.count("  does not know: ") == 3
