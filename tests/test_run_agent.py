"""The loop of `make run-agent`: what a session taught is known in the next one of its project, and in no other."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_loop(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "clawmem"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m clawmem "$@"\n')
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8",
           "PYTHONPATH": str(ROOT)}  # fmt: skip
    command = ["sh", str(ROOT / "examples/agent.sh")]
    process = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.count("  knows: ") == 6
    assert process.stdout.count("  does not know: ") == 3
