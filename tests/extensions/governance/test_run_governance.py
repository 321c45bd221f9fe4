"""The week of `make run-governance`: it works, its steps are commits, and a step that is not true ends it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_server import CommandServer
from tests.transcripts.transcript import tools

ROOT = Path(__file__).parents[3]


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy of the examples, which a test may break."""
    return Path(shutil.copytree(ROOT / "examples", tmp_path / "examples"))


def play(
    examples: Path, environment: dict[str, str], server: CommandServer, size: int = 0
) -> subprocess.CompletedProcess[str]:
    path = f"{tools(examples.parent, server)}{os.pathsep}{environment['PATH']}"
    env = {"PATH": path, "HOME": environment["HOME"], "LANG": environment["LANG"], "SUITE_SIZE": str(size)}
    command = ["sh", str(examples / "week.sh")]
    return subprocess.run(command, env=env, cwd=examples.parent, capture_output=True, text=True, timeout=300)


def check(printed: str) -> None:
    week, story = printed.split("\nThe story of the week\n")
    steps = re.findall(r"^  ([0-9a-f]{7})  ", week, re.MULTILINE)
    commits, authors = zip(*re.findall(r"^  ([0-9a-f]{7})[0-9a-f]* \w+ (\w+)", story, re.MULTILINE), strict=True)
    assert len(steps) > 40
    assert [commit for commit in commits if commit in steps] == steps, "the log has the steps, in their order"
    assert set(authors) == {"clawmem", "Ada", "Ben", "coder", "scout"}


def test_the_week(examples: Path, environment: dict[str, str], command_server: CommandServer) -> None:
    process = play(examples, environment, command_server)
    assert (process.returncode, process.stderr) == (0, "")
    check(process.stdout)


def test_a_step_that_does_not_do_what_it_says_ends_the_week(
    examples: Path, environment: dict[str, str], command_server: CommandServer
) -> None:
    (examples / "week/tasks.md").write_text("- [ ] Print the timetable\n- [ ] Write the notice\n")
    process = play(examples, environment, command_server)
    assert process.returncode == 1
    assert 'FAILED after "Ada decides what waits, and Ben decides conflicts."' in process.stderr
    assert 'it does not say "added: write-the-notice-for-the-kiosk"' in process.stderr


@pytest.mark.soak
def test_the_whole_week(examples: Path, environment: dict[str, str], command_server: CommandServer) -> None:
    process = play(examples, environment, command_server, 2)
    assert (process.returncode, process.stderr) == (0, "")
    check(process.stdout)
    assert "all         without   0 of 8" in process.stdout


@pytest.mark.soak
@pytest.mark.parametrize(
    ("file", "text", "missing"),
    [
        ("week/check.sh", "#!/bin/sh\n", "exit code 4 instead of 1"),
        ("week/page.md", "# Nothing\n", "it does not say \"1 stored\""),
    ],
)  # fmt: skip
def test_each_check_can_fail(
    examples: Path,
    environment: dict[str, str],
    command_server: CommandServer,
    file: str,
    text: str,
    missing: str,
) -> None:
    (examples / file).write_text(text)
    process = play(examples, environment, command_server)
    assert (process.returncode, missing in process.stderr) == (1, True), process.stderr
