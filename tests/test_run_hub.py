"""`make run-hub`: two vaults and a hub on a server of its own; each step checks itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_server import CommandServer
from tests.extensions.hub.postgres.server import programs_or_skip
from tests.transcripts.transcript import tools

ROOT = Path(__file__).parent.parent


@pytest.mark.soak
def test_the_example_of_the_hub(tmp_path: Path, environment: dict[str, str], command_server: CommandServer) -> None:
    programs_or_skip()
    path = f"{tools(tmp_path, command_server)}{os.pathsep}{environment['PATH']}"
    env = {"PATH": path, "HOME": environment["HOME"], "LANG": environment["LANG"], "PYTHON": sys.executable}
    command = ["sh", str(ROOT / "examples" / "hub.sh")]
    process = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.count("\n  ") == 12
