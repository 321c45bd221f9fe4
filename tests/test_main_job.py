"""The main job on the project's own conversation: every fact quotes its event to the character."""

from __future__ import annotations

from pathlib import Path

from benchmarks.main_job import conversations, quotes
from tests.conftest import Command

CONVERSATION = Path(__file__).parent.parent / "examples" / "conversation.jsonl"


def test_every_quote_is_exact_and_a_second_beat_changes_nothing(clawmem: Command, vault_root: Path) -> None:
    ((_, lines),) = conversations(CONVERSATION)
    assert clawmem("ingest", "-", given="\n".join(lines)).code == 0
    first = clawmem("heartbeat", "--json").data
    assert first["learned"]["added"] >= 20
    quoting, exact = quotes(vault_root)
    assert quoting >= 20
    assert exact == quoting
    assert clawmem("heartbeat", "--json").data["commits"] == []
    problems = clawmem("doctor", "--json").data["problems"]
    assert [problem for problem in problems if problem["check"] != "learning"] == []
