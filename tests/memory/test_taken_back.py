"""One machine withdrew something on which another depends: events that facts cite, and replaced facts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clawmem.learning.ingest import ingest
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.checks import ERROR
from clawmem.memory.health.doctor import doctor
from clawmem.memory.history.undo import undo
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import ACTIVE, RETRACTED
from clawmem.model.transcripts.message import Message
from tests.conftest import NOW, Command
from tests.memory.machines import Machine, make_machines
from tests.memory.test_git_merges import pull
from tests.plain_reader import learn_plainly as learn

LEDGER = "ledger/2026-11-20.jsonl"
GENERAL = "life/areas/general/items.json"
NUTS = "I am allergic to peanuts."


def said(machine: Machine, *texts: str) -> None:
    """Ingest messages of a user."""
    messages = [Message(1, "user", text, f"2026-11-20T1{hour}:00:00Z") for hour, text in enumerate(texts)]
    ingest(machine.vault, messages, machine.caller, "chat")


def errors(machine: Machine) -> list[str]:
    """What doctor finds wrong."""
    return [problem.message for problem in doctor(machine.vault, machine.caller).problems if problem.severity == ERROR]


@pytest.fixture
def learned_and_undone(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """An ingest that one of two machines undid while the other learned from it."""
    machine, other = make_machines(tmp_path, environment)
    said(machine, NUTS)
    event = machine.head()
    machine.sync()
    other.sync()
    learn(other.vault, other.caller)
    assert any("peanuts" in text for text in other.standing())
    undo(machine.vault, event, machine.caller)
    assert not (machine.root / LEDGER).exists()
    return [machine, other]


@pytest.mark.parametrize("road", ["undo comes in", "learning comes in", "pull of the undo", "pull of the learning"])
@pytest.mark.few(2)
def test_an_event_that_a_fact_rests_on_stays(learned_and_undone: list[Machine], road: str) -> None:
    other_machine, other = learned_and_undone
    first, second = (other_machine, other) if road in ("undo comes in", "pull of the undo") else (other, other_machine)
    first.sync()
    if road.startswith("pull"):
        assert pull(second).returncode == 0
        second.keep("The next command completes it.")
    else:
        (message,) = [conflict.says for conflict in second.sync().conflicts]
        assert "was taken back on one side; it stays: a fact was learned from it on the other" in message
    for _ in range(2):
        other_machine.sync()
        other.sync()
    for machine in (other_machine, other):
        assert NUTS in machine.read(LEDGER)
        assert any("peanuts" in text for text in machine.standing())
        assert errors(machine) == []


def test_an_event_that_nothing_rests_on_stays_taken_back(tmp_path: Path, environment: dict[str, str]) -> None:
    other_machine, other = make_machines(tmp_path, environment)
    said(other_machine, "The weather is fine.", "Nothing else.")
    event = other_machine.head()
    other_machine.sync()
    other.sync()
    other.keep("The boat is red.")
    undo(other_machine.vault, event, other_machine.caller)
    for machine in (other_machine, other, other_machine):
        machine.sync()
        assert not (machine.root / LEDGER).exists()


def _revived(machine: Machine, fact_id: str) -> None:
    """The fact as a merge of an older version left it: active, by a commit that completed one."""
    facts = [
        fact._replace(status=ACTIVE, superseded_by=None, metadata=None) if fact.id == fact_id else fact
        for fact in parse_items(machine.read(GENERAL).encode(), GENERAL)
    ]
    machine.write(GENERAL, render_items(facts).decode())
    words = "complete(vault): what git could not see in the merge 123456789abc\n\nClawmem-Op: complete"
    machine.git("commit", "-qam", words)


def test_doctor_closes_what_an_older_version_let_stand(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    (machine,) = make_machines(tmp_path, environment, 1)
    (red,) = machine.keep("The boat is red.")
    new = (
        supersede(machine.vault, red.id, draft_from_record({"fact": "The boat is green."}, NOW), machine.caller)
        .facts[0]
        .fact
    )
    _revived(machine, red.id)
    assert any("is still active" in message for message in errors(machine))
    assert clawmem("doctor", "--fix", cwd=machine.root).code == 0
    assert machine.facts()[red.id].superseded_by == new.id
    assert machine.standing() == ["Jane lives in Oslo.", "The boat is green."]


@pytest.mark.parametrize("how", ["undo", "by hand", "with git"])
def test_what_somebody_brought_back_stays(tmp_path: Path, environment: dict[str, str], how: str) -> None:
    (machine,) = make_machines(tmp_path, environment, 1)
    (ill,) = machine.keep("Jane is ill.")
    retract(machine.vault, ill.id, machine.caller)
    if how == "undo":
        undo(machine.vault, ill.id, machine.caller)
    else:
        machine.write(GENERAL, machine.read(GENERAL).replace(RETRACTED, ACTIVE))
        if how == "with git":
            machine.git("commit", "-qam", "she is, after all")
    machine.keep("Something else.")
    assert machine.facts()[ill.id].status == ACTIVE
    assert errors(machine) == []


def test_a_withdrawn_fact_that_was_moved_is_no_finding(tmp_path: Path, environment: dict[str, str]) -> None:
    (machine,) = make_machines(tmp_path, environment, 1)
    (ill,) = machine.keep("Jane is ill.", entity="projects/x")
    retract(machine.vault, ill.id, machine.caller)
    shutil.move(machine.root / "life/projects/x", machine.root / "life/projects/y")
    machine.keep("Something else.")
    assert machine.facts()[ill.id].status == RETRACTED
    assert errors(machine) == []
