"""One machine withdrew something on which another depends: events that facts cite, and withdrawn facts that merges made
current."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clawmem.learning.ingest import ingest
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.checks.problem import ERROR
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
    return [one.message for one in doctor(machine.vault, machine.caller).problems if one.severity == ERROR]


@pytest.fixture
def learned_and_undone(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """An ingest that one of two machines undid while the other learned from it."""
    one, other = make_machines(tmp_path, environment)
    said(one, NUTS)
    event = one.head()
    one.sync()
    other.sync()
    learn(other.vault, other.caller)
    assert any("peanuts" in text for text in other.standing())
    undo(one.vault, event, one.caller)
    assert not (one.root / LEDGER).exists()
    return [one, other]


@pytest.mark.parametrize("road", ["undo comes in", "learning comes in", "pull of the undo", "pull of the learning"])
def test_an_event_that_a_fact_rests_on_stays(learned_and_undone: list[Machine], road: str) -> None:
    one, other = learned_and_undone
    first, second = (one, other) if road in ("undo comes in", "pull of the undo") else (other, one)
    first.sync()
    if road.startswith("pull"):
        assert pull(second).returncode == 0
        second.keep("The next command completes it.")
    else:
        (told,) = [one.says for one in second.sync().conflicts]
        assert "was taken back on one side; it stays: a fact was learned from it on the other" in told
    for _ in range(2):
        one.sync()
        other.sync()
    for machine in (one, other):
        assert NUTS in machine.read(LEDGER)
        assert any("peanuts" in text for text in machine.standing())
        assert errors(machine) == []


def test_an_event_that_nothing_rests_on_stays_taken_back(tmp_path: Path, environment: dict[str, str]) -> None:
    one, other = make_machines(tmp_path, environment)
    said(one, "The weather is fine.", "Nothing else.")
    event = one.head()
    one.sync()
    other.sync()
    other.keep("The boat is red.")
    undo(one.vault, event, one.caller)
    for machine in (one, other, one):
        machine.sync()
        assert not (machine.root / LEDGER).exists()


def test_doctor_puts_back_an_event_that_an_older_version_lost(
    learned_and_undone: list[Machine], clawmem: Command
) -> None:
    _, other = learned_and_undone
    line = other.read(LEDGER)
    other.git("rm", "-q", LEDGER)
    other.git("commit", "-qm", "as a merge of an older version left it")
    assert any("in no ledger" in message for message in errors(other))
    mended = clawmem("doctor", "--fix", cwd=other.root)
    assert mended.code == 0, mended.out
    assert other.read(LEDGER) == line


def _revived(machine: Machine, fact_id: str) -> None:
    """The fact as a merge of an older version left it: active, by a commit that completed one."""
    facts = [
        fact._replace(status=ACTIVE, superseded_by=None, metadata=None) if fact.id == fact_id else fact
        for fact in parse_items(machine.read(GENERAL).encode(), GENERAL)
    ]
    machine.write(GENERAL, render_items(facts).decode())
    words = "complete(vault): what git could not see in the merge 123456789abc\n\nClawmem-Op: complete"
    machine.git("commit", "-qam", words)


def test_doctor_withdraws_what_an_older_version_revived(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    (one,) = make_machines(tmp_path, environment, 1)
    (ill,) = one.keep("Jane is ill.")
    retract(one.vault, ill.id, one.caller, "she is not")
    withdrawn = one.head()
    _revived(one, ill.id)
    assert any(f"{ill.id} was withdrawn by {withdrawn[:12]} and is active again" in message for message in errors(one))
    assert clawmem("doctor", "--fix", cwd=one.root).code == 0
    fact = one.facts()[ill.id]
    assert fact.status == RETRACTED
    assert fact.metadata == {"retracted": {"at": "2026-11-21T09:30:00Z", "reason": "she is not"}}


def test_doctor_closes_what_an_older_version_let_stand(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    (one,) = make_machines(tmp_path, environment, 1)
    (red,) = one.keep("The boat is red.")
    new = supersede(one.vault, red.id, draft_from_record({"fact": "The boat is green."}, NOW), one.caller).facts[0].fact
    _revived(one, red.id)
    assert any("is still active" in message for message in errors(one))
    assert clawmem("doctor", "--fix", cwd=one.root).code == 0
    assert one.facts()[red.id].superseded_by == new.id
    assert one.standing() == ["Jane lives in Oslo.", "The boat is green."]


@pytest.mark.parametrize("how", ["undo", "by hand", "with git"])
def test_what_somebody_brought_back_stays(tmp_path: Path, environment: dict[str, str], how: str) -> None:
    (one,) = make_machines(tmp_path, environment, 1)
    (ill,) = one.keep("Jane is ill.")
    retract(one.vault, ill.id, one.caller)
    if how == "undo":
        undo(one.vault, ill.id, one.caller)
    else:
        one.write(GENERAL, one.read(GENERAL).replace(RETRACTED, ACTIVE))
        if how == "with git":
            one.git("commit", "-qam", "she is, after all")
    one.keep("Something else.")
    assert one.facts()[ill.id].status == ACTIVE
    assert errors(one) == []


def test_a_withdrawn_fact_that_was_moved_is_no_finding(tmp_path: Path, environment: dict[str, str]) -> None:
    (one,) = make_machines(tmp_path, environment, 1)
    (ill,) = one.keep("Jane is ill.", entity="projects/x")
    retract(one.vault, ill.id, one.caller)
    shutil.move(one.root / "life/projects/x", one.root / "life/projects/y")
    one.keep("Something else.")
    assert one.facts()[ill.id].status == RETRACTED
    assert errors(one) == []
