"""The main job on the project's own conversation: every fact quotes its event to the character."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.main_job import conversations, quotes
from tests.conftest import Command

CONVERSATION = Path(__file__).parent.parent / "examples" / "conversation.jsonl"


@pytest.mark.usefixtures("without_vectors")
def test_every_quote_is_exact_and_a_second_beat_changes_nothing(clawmem: Command, vault_root: Path) -> None:
    ((_, lines),) = conversations(CONVERSATION)
    assert clawmem("ingest", "-", given="\n".join(lines)).code == 0
    for _ in ("first part", "second part"):
        task = clawmem("learn", "pending", "--quiet").out
        agent = [sys.executable, str(CONVERSATION.with_name("agent.py"))]
        answer = subprocess.run(agent, input=task, capture_output=True, text=True, check=True, timeout=60)
        assert clawmem("learn", "apply", "-", given=answer.stdout).code == 0
    clawmem("heartbeat")
    quoting, exact = quotes(vault_root)
    assert quoting >= 20
    assert exact == quoting
    assert clawmem("heartbeat", "--json").data["commits"] == []
    problems = clawmem("doctor", "--json").data["problems"]
    assert [problem for problem in problems if problem["check"] != "learning"] == []
