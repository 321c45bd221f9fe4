"""What a suite may run: command lines that stay in the vault of the suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.faces.cli.inner import VERBS, run_inner
from clawmem.faces.verbs.table import VERBS as TABLE
from clawmem.runtime import Runtime


@pytest.fixture
def runtime(vault_root: Path, environment: dict[str, str]) -> Runtime:
    return Runtime(environment, vault_root, str(vault_root))


def test_a_command_runs_and_gives_what_it_would_print(runtime: Runtime) -> None:
    assert run_inner(["remember", "The boat is red.", "--entity=projects/boat"], runtime, b"").exit_code == 0
    found = run_inner(["recall", "boat", "--json"], runtime, b"")
    assert json.loads(found.text)["data"]["facts"][0]["fact"] == "The boat is red."
    assert "The boat is red." in run_inner(["list"], runtime, b"").text
    lines = b'{"fact": "The sail is white.", "entity": "projects/boat"}\n'
    assert run_inner(["remember", "--jsonl", "-"], runtime, lines).exit_code == 0
    assert run_inner(["note", "-"], runtime, b"A note.").exit_code == 0


def test_a_failure_is_the_answer(runtime: Runtime) -> None:
    code, text = run_inner(["show", "fact_00000000"], runtime, b"")
    assert (code, text.startswith("error: ")) == (1, True)
    code, text = run_inner(["show", "fact_00000000", "--json"], runtime, b"")
    assert json.loads(text)["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "line",
    [
        "backup /tmp/x", "restore x y", "export /tmp/x", "sync", "config set llm.command rm", "setup claude-code",
        "cron install", "mcp", "hook stop", "init /tmp/x", "import /etc", "eval run memory", "workflow run a b",
        "ingest /etc/passwd", "digest /etc/passwd", "remember --jsonl /etc/passwd", "session end --from=/etc/passwd",
        "heartbeat --model=command/x", "recall x --vault=/tmp/other", "--vault /tmp/o recall x",
        "llm test", "redact x", "recall", "walk", "session watch", "undo -- x",
    ],
)  # fmt: skip
def test_what_reaches_outside_or_cannot_be_read_is_refused(runtime: Runtime, line: str) -> None:
    head = runtime.vault().head()
    with pytest.raises(InvalidInput):
        run_inner(line.split(), runtime, b"")
    assert runtime.vault().head() == head


def test_the_verbs_exist() -> None:
    assert set(TABLE) >= VERBS
