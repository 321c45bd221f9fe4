"""Adapters: allowed by content, JSON in and out, limits, and what is stored of their answers."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError, InvalidInput, NotFound, NotPermitted, Refused
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.task import Task
from clawmem.vault.vault import Vault
from clawmem.work.adapters import AdapterRun, allow_adapter, ask_adapter, check_adapters, last_run, run_adapter
from clawmem.work.decisions import add_record
from clawmem.work.tasks import find_workflow, list_tasks
from tests.conftest import Command

HEAD = "#!/usr/bin/env python3\nimport json, os, sys, time\ngiven = json.load(sys.stdin)\n"
TASKS = (
    HEAD + 'print(json.dumps({"tasks": [{"id": one, "title": one} for one in given["input"].get("open", ["T9"])]}))\n'
)


def _workflow(vault: Vault, script: str, recorded: str = "{open: [T1, T2]}") -> Path:
    (vault.root / "workflows/boats.yaml").write_text(
        "title: Boats\nabout: Boats.\nroles: {captain: sails}\nstages: [{name: sail, hands_in: [trip]}]\n"
        f"states: {{open: at rest}}\nadapters: {{port: {{run: ./port.py, recorded: {recorded}}}}}\n"
    )
    program = vault.root / "port.py"
    program.write_text(script)
    return program


def _answering(answer: object) -> str:
    return f"{HEAD}print({json.dumps(json.dumps(answer))})\n"


def test_an_adapter_runs_only_where_its_content_is_allowed(vault: Vault, caller: Caller, clawmem: Command) -> None:
    program = _workflow(vault, TASKS)
    refused = clawmem("workflow", "check", "boats", "--adapters")
    assert (refused.code, "is not allowed on this machine" in refused.out) == (1, True)
    with pytest.raises(NotPermitted):
        allow_adapter(vault, caller._replace(agent="cli"), "boats", "port")
    assert clawmem("workflow", "allow", "boats", "port").code == 0
    checked = clawmem("workflow", "check", "boats", "--adapters", "--json")
    (port,) = checked.data["workflows"][0]["adapters"]
    assert (checked.code, port["tasks"], port["problem"]) == (0, 2, None)
    program_sum = hashlib.sha256(program.read_bytes()).hexdigest()
    assert program_sum not in (vault.root / "clawmem.yaml").read_text()
    program.write_text(TASKS + "# changed\n")
    assert clawmem("workflow", "check", "boats", "--adapters").code == 1


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (_answering({"tasks": [{"id": "T1"}]}), "tasks[0].title is missing"),
        (_answering({"events": [{"id": "e", "timestamp": "soon", "text": "x"}]}), "events[0].timestamp must be a time"),
        (
            _answering({"outcomes": [{"decision": "fact_1", "outcome": "nice"}]}),
            "outcomes[0].outcome must be one of",
        ),
        (_answering({"more": []}), "more is unknown"),
        (_answering([]), "the answer must be an object"),
        (HEAD + "print('hello')\n", "did not write one JSON document"),
        (HEAD + "sys.exit('the server is away')\n", "exit code 1: the server is away"),
        (HEAD + "print('x' * 6_000_000)\n", "wrote more than"),
        ("no script", "cannot be started"),
    ],
)
def test_a_wrong_answer_is_named(vault: Vault, caller: Caller, clawmem: Command, script: str, words: str) -> None:
    _workflow(vault, script)
    allow_adapter(vault, caller, "boats", "port")
    (check,) = check_adapters(Vault(vault.root, vault.git.environment), find_workflow(vault, "boats"))
    assert check.problem and words in check.problem


def test_the_environment_is_scrubbed(vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_KEY", "hush")
    names = "sorted(os.environ)"
    _workflow(
        vault,
        HEAD + f"names = {names}\nprint(json.dumps({{'tasks': [{{'id': one, 'title': one}} for one in names]}}))\n",
    )
    allow_adapter(vault, caller, "boats", "port")
    reply = ask_adapter(Vault(vault.root, vault.git.environment), find_workflow(vault, "boats"), "port", recorded=False)
    group = {task.id for task in reply.tasks}
    assert "PATH" in group
    assert not {text for text in group if text == "MY_SECRET_KEY" or text.startswith(("CLAWMEM", "PYTEST"))}


def test_events_and_outcomes_are_stored_once(vault: Vault, caller: Caller) -> None:
    record = {"fact": "Moor at the east pier.", "category": "decision", "entity": "projects/boat"}
    decision = add_record(vault, record, caller).fact.fact.id
    answer = {
        "tasks": [{"id": "T1", "title": "Paint the hull", "state": "working"}],
        "events": [{"id": "e1", "timestamp": "2026-11-20T08:00:00Z", "text": "The hull was painted."}],
        "outcomes": [{"decision": decision, "outcome": "worked", "note": "No damage."}],
    }
    _workflow(vault, _answering(answer))
    with pytest.raises(Refused, match="not allowed"):
        run_adapter(vault, caller, "boats", "port")
    allow_adapter(vault, caller, "boats", "port")
    vault = Vault(vault.root, vault.git.environment)
    run = run_adapter(vault, caller, "boats", "port")
    assert (run.tasks[0].state, run.added, run.outcomes, len(run.commits)) == ("working", 1, 1, 2)
    assert "The hull was painted." in (vault.root / "ledger/2026-11-20.jsonl").read_text()
    again = run_adapter(vault, caller, "boats", "port")
    assert (again.added, again.known, again.outcomes, again.commits) == (0, 1, 0, ())


def test_what_is_missing_is_named(vault: Vault, caller: Caller) -> None:
    program = _workflow(vault, TASKS, "null")
    with pytest.raises(NotFound, match="no adapter 'sea'"):
        allow_adapter(vault, caller, "boats", "sea")
    allow_adapter(vault, caller, "boats", "port")
    vault = Vault(vault.root, vault.git.environment)
    with pytest.raises(InvalidInput, match="no recorded input"):
        ask_adapter(vault, find_workflow(vault, "boats"), "port", recorded=True)
    program.unlink()
    with pytest.raises(NotFound, match="cannot be read"):
        ask_adapter(vault, find_workflow(vault, "boats"), "port", recorded=True)


def test_an_adapter_is_told_since_when(vault: Vault, caller: Caller) -> None:
    script = (
        f"{HEAD}event = {{'id': str(given['since']), 'timestamp': '2026-11-20T08:00:00Z', 'text': 'since ' +"
        " str(given['since'])}\nprint(json.dumps({'events': [event]}))\n"
    )
    _workflow(vault, script)
    allow_adapter(vault, caller, "boats", "port")
    vault = Vault(vault.root, vault.git.environment)
    run_adapter(vault, caller, "boats", "port")
    later = caller._replace(now=caller.now + timedelta(hours=1))
    run_adapter(vault, later, "boats", "port")
    ledger = (vault.root / "ledger/2026-11-20.jsonl").read_text()
    assert "since None" in ledger and f"since {stamp(caller.now)}" in ledger and '"source": "tool:port"' in ledger
    reply = ask_adapter(vault, find_workflow(vault, "boats"), "port", recorded=True)
    assert reply.events[0].text == "since None", "recorded input must give the same answer at any time"


def test_a_run_that_fails_does_not_count_as_the_last_one(vault: Vault, caller: Caller) -> None:
    _workflow(vault, HEAD + "sys.exit('away')\n")
    allow_adapter(vault, caller, "boats", "port")
    vault = Vault(vault.root, vault.git.environment)
    with pytest.raises(ClawmemError, match="away"):
        run_adapter(vault, caller, "boats", "port")
    assert last_run(vault, "boats", "port") is None


STORE = (
    HEAD
    + """from pathlib import Path
here = Path({folder!r})
print((here / "tasks.json").read_text())
"""
)


@pytest.fixture
def foreign(vault: Vault, caller: Caller, tmp_path: Path) -> Foreign:
    """A foreign system: a file with its tasks."""
    _workflow(vault, STORE.format(folder=str(tmp_path)))
    allow_adapter(vault, caller, "boats", "port")
    return Foreign(vault, caller, tmp_path)


class Foreign:
    """The foreign system of a test."""

    def __init__(self, vault: Vault, caller: Caller, folder: Path) -> None:
        self.vault, self.caller, self.folder = vault, caller, folder

    def run(self, *tasks: object) -> AdapterRun:
        """Run the adapter while the system has these tasks."""
        (self.folder / "tasks.json").write_text(json.dumps({"tasks": tasks}))
        return run_adapter(Vault(self.vault.root, self.vault.environment), self.caller, "boats", "port")

    def task(self) -> Task:
        """The one task of the vault."""
        (other_task,) = list_tasks(self.vault).tasks
        return other_task


T1 = {"id": "T1", "title": "Paint the boat", "url": "https://x/T1", "acceptance": ["It is blue."], "priority": 2}


def test_a_task_is_taken_in_once_and_follows_the_foreign_one(foreign: Foreign) -> None:
    first, again = foreign.run(T1), foreign.run(T1)
    assert (first.new_tasks, again.new_tasks, again.changed_tasks, again.commits) == (1, 0, 0, ())
    task = foreign.task()
    assert (task.title, task.priority, task.origin, task.workflow) == ("Paint the boat", 2, "boats/port:T1", "boats")
    assert [item.text for item in task.acceptance] == ["It is blue."]
    changed = foreign.run({**T1, "title": "Paint both boats", "state": "done"})
    task = foreign.task()
    assert (changed.changed_tasks, changed.notices) == (1, ())
    assert (task.slug, task.title, task.state, task.decided_by) == (
        "paint-the-boat", "Paint both boats", "done", "the adapter boats/port",
    )  # fmt: skip
    assert foreign.run({**T1, "title": "Paint both boats", "state": "done"}).changed_tasks == 0


def test_what_a_person_changed_is_kept_and_said_once(foreign: Foreign, clawmem: Command) -> None:
    foreign.run(T1)
    page = foreign.vault.root / "tasks/paint-the-boat.md"
    page.write_text(page.read_text().replace('title: "Paint the boat"', 'title: "Paint my boat"'))
    run = foreign.run({**T1, "title": "Paint your boat", "priority": 1})
    task = foreign.task()
    assert (task.title, task.priority) == ("Paint my boat", 1)
    assert run.notices[-1] == (
        "title of paint-the-boat is 'Paint my boat' here and 'Paint your boat' there; yours is kept"
    )
    again = foreign.run({**T1, "title": "Paint your boat", "priority": 1})
    assert (again.notices, again.commits) == ((), ())
