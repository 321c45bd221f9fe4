"""The line of progress, on a real terminal and without one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from clawmem.faces.cli.progress import HIDDEN_SECONDS, ProgressLine
from clawmem.faces.cli.terminal import Terminal
from clawmem.model.progress import Progress
from clawmem.runtime import Runtime
from tests.conftest import Command

Seen = tuple[str, str]
# The command, with a line of progress that waits for nothing: how fast the machine is does not matter then. What is
# ingested is read in small pieces.
AT_ONCE = "from clawmem.faces.cli import progress; progress.HIDDEN_SECONDS = progress._PACE_SECONDS = 0; "
AT_ONCE += "from clawmem.learning import ingest; ingest.PART = 500; from clawmem.__main__ import main; main()"


class Screen:
    """What a line draws, at a time that is set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.drawn: list[str] = []
        self.line = ProgressLine(self.drawn.append, lambda: self.now)

    def report(self, at: float, value: float, what: str = "work") -> None:
        self.now = at
        self.line.report(Progress(what, value, 100, "parts"))


def test_short_work_shows_nothing() -> None:
    screen = Screen()
    for number in range(50):
        screen.report(number * HIDDEN_SECONDS / 50, number)
    screen.line.clear()
    assert screen.drawn == []


def test_long_work_is_drawn_ten_times_a_second_and_removed() -> None:
    screen = Screen()
    for number in range(101):
        screen.report(number / 50, number)
    assert screen.drawn[0] == "\r\x1b[Kwork  25 of 100 parts, 25%"
    assert 12 <= len(screen.drawn) <= 16
    screen.line.clear()
    screen.line.clear()
    assert screen.drawn[-1] == "\r\x1b[K" and screen.drawn[-2] != "\r\x1b[K"


def test_text_of_the_vault_cannot_act_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    screen.report(0, 0)
    screen.report(1, 1, "a\x1b[2J\rb")
    assert screen.drawn == ["\r\x1b[Ka\\u001b[2J\\u000db  1 of 100 parts, 1%"]
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((12, 3)))
    screen.report(2, 50)
    assert screen.drawn[-1] == "\r\x1b[Kwork  50 of"


@pytest.fixture
def on_terminal(vault_root: Path, environment: dict[str, str]) -> Callable[[Sequence[str]], Seen]:
    """Runs a command whose errors go to a terminal, and returns stdout and what the terminal shows."""

    def run(words: Sequence[str]) -> Seen:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-c", AT_ONCE, *words]
        with subprocess.Popen(
            command, cwd=vault_root, env=environment, stdout=subprocess.PIPE, stderr=theirs
        ) as process:
            os.close(theirs)
            shown = b""
            try:
                while piece := os.read(ours, 4096):
                    shown += piece
            except OSError:
                pass  # how a terminal says that nobody writes to it any more
            text = process.communicate(timeout=300)[0].decode()
        os.close(ours)
        assert process.returncode == 0, shown
        return text, shown.decode()

    return run


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A transcript that is read in several pieces."""
    lines = (
        json.dumps({"role": "user", "content": f"Line {number} of a long talk about boats.", "session": "s"})
        for number in range(501)
    )
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_ingest_shows_how_far_it_is_on_a_terminal_alone(
    talk: Path, clawmem: Command, on_terminal: Callable[[Sequence[str]], Seen], vault_root: Path
) -> None:
    message, shown = on_terminal(["ingest", str(talk)])
    assert message.startswith("501 events added, 0 already known, 0 skipped\n")
    *drawn, last = shown.split("\r\x1b[K")
    assert drawn[0] == "" and last == ""
    assert all(text.startswith("reading  0.") and " of 0.0 MB, " in text for text in drawn[1:]), drawn
    (vault_root / "short.jsonl").write_text(talk.read_text().partition("\n")[0])
    piped = clawmem("ingest", str(vault_root / "short.jsonl"))
    assert (piped.err, piped.out.splitlines()[0]) == ("", "0 events added, 1 already known, 0 skipped")


@pytest.mark.parametrize(
    ("quiet", "as_json", "term", "shown"),
    [
        (False, False, "xterm", True),
        (True, False, "xterm", False),
        (False, True, "xterm", False),
        (False, False, "dumb", False),
    ],
)
def test_nobody_is_told_who_asked_for_quiet_or_json(
    quiet: bool, as_json: bool, term: str, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    terminal = Terminal(Runtime({"TERM": term}, tmp_path), as_json, quiet)
    with terminal.progress() as report:
        assert (report is not None) is shown


def test_a_heartbeat_says_which_step_runs(
    clawmem: Command, on_terminal: Callable[[Sequence[str]], Seen], without_vectors: None
) -> None:
    clawmem("remember", "Jane likes tea.", "-e", "areas/people/jane")
    message, shown = on_terminal(["heartbeat", "--only", "learn", "--only", "summaries"])
    assert message.startswith("refreshed 1 summary")
    assert "heartbeat: summaries  50%" in shown


def test_a_long_reindex_and_wiki_build_report_in_parts(clawmem: Command, vault_root: Path) -> None:
    from clawmem.extensions.wiki.compile import build_wiki
    from clawmem.memory.health.repair import reindex
    from clawmem.model.records.caller import Caller
    from clawmem.vault.vault import Vault
    from tests.conftest import NOW

    for name in ("jane", "ravi"):
        clawmem("remember", f"{name.capitalize()} has a boat.", "-e", f"areas/people/{name}")
    vault = Vault(vault_root, {"PATH": os.environ["PATH"], "HOME": str(vault_root.parent / "home")})
    seen: list[Progress] = []
    reindex(vault, seen.append)
    assert {progress.what for progress in seen} == {"reindex"}
    assert [progress.done for progress in seen] == [*range(len(seen))] and seen[-1].total == seen[-1].done
    seen.clear()
    build_wiki(vault, Caller(NOW, os.urandom), report=seen.append)
    assert [(progress.done, progress.total) for progress in seen if progress.what == "wiki: writing"] == [
        (0, 2),
        (1, 2),
        (2, 2),
    ]
    assert {progress.what for progress in seen} == {"wiki: reading", "wiki: writing"}
