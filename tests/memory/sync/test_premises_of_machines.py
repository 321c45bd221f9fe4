"""Two machines that change premises and what rests on them agree after a sync, and every record is right."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError
from clawmem.memory.facts.premises import refresh_premises
from clawmem.memory.facts.revise import link, retract, supersede
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.lifecycle.premises import in_doubt
from tests.conftest import NOW
from tests.memory.machines import Machine, make_machines


def test_a_premise_that_falls_here_marks_what_rests_on_it_there(tmp_path: Path, environment: dict[str, str]) -> None:
    other_machine, other = make_machines(tmp_path, environment)
    (jane,) = (fact for fact in other_machine.facts().values())
    retract(other_machine.vault, jane.id, other_machine.caller)
    (resting,) = other.keep("We meet in Oslo.", links=[{"type": "depends_on", "to": jane.id}])
    other_machine.sync()
    assert not in_doubt(other.facts()[resting.id])
    other.sync()
    other_machine.sync()
    for machine in (other_machine, other):
        assert in_doubt(machine.facts()[resting.id])
    assert other_machine.head() == other.head()


@pytest.mark.parametrize("seed", range(1))
def test_machines_that_went_apart_agree(seed: int, tmp_path: Path, environment: dict[str, str]) -> None:
    machines = make_machines(tmp_path, environment)
    chance = random.Random(seed)
    machines[0].keep("The parser is slow.", "Memory is cheap.", "The disk is full.", entity="projects/site")
    machines[0].sync()
    machines[1].sync()
    for _ in range(2):
        for machine in machines:
            for number in range(4):
                _act(machine, chance, number)
        for machine in (*machines, machines[0]):
            machine.sync()
        assert machines[0].head() == machines[1].head()
        for machine in machines:
            assert refresh_premises(machine.vault, machine.caller, dry_run=True).facts == ()


def _act(machine: Machine, chance: random.Random, number: int) -> None:
    facts = [other_fact for other_fact in machine.facts().values() if other_fact.is_current]
    fact, other = chance.choice(facts), chance.choice(facts)
    acts = (
        lambda: retract(machine.vault, fact.id, machine.caller),
        lambda: _replaced(machine, fact, f"{fact.fact} No more, {chance.random()}."),
        lambda: machine.keep(
            f"Hence {chance.random()}.", entity="projects/site", links=[{"type": "depends_on", "to": fact.id}]
        ),
        lambda: link(machine.vault, fact.id, "depends_on", other.id, machine.caller),
        lambda: undo(machine.vault, fact.id, machine.caller),
    )
    with suppress(ClawmemError):  # such as an undo that a later change prevents
        chance.choice(acts)()


def _replaced(machine: Machine, fact: Fact, text: str) -> None:
    supersede(machine.vault, fact.id, draft_from_record({"fact": text}, NOW), machine.caller)
