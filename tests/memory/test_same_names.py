"""Names that are one folder on some disks are one entity: `doctor` and every verb go by the same rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.errors import Refused
from clawmem.memory.entities.entities import create_entity, move_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.checks.tree import case_problems
from clawmem.memory.health.doctor import doctor
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.entity import check_name, items_path
from tests.conftest import NOW
from tests.memory.machines import Machine, make_machines

PAIRS = (("projects/ß", "projects/ss"), ("projects/ſoup", "projects/soup"), ("areas/οδός", "areas/οδόσ"))


@pytest.fixture
def one(tmp_path: Path, environment: dict[str, str]) -> Machine:
    return make_machines(tmp_path, environment, 1)[0]


def errors(machine: Machine) -> list[str]:
    return [found.message for found in doctor(machine.vault, machine.caller).problems if found.severity == "error"]


@pytest.mark.parametrize("pair", PAIRS, ids=["sharp s", "long s", "final sigma"])
def test_a_name_that_is_one_folder_with_another_leads_to_it(one: Machine, pair: tuple[str, str]) -> None:
    known, other = map(check_name, pair)
    assert list(case_problems([items_path(known), items_path(other)]))
    one.keep("It began.", entity=known)
    one.keep("It went on.", entity=other)
    with pytest.raises(Refused, match="are the same folder on"):
        create_entity(one.vault, other, one.caller)
    one.keep("Elsewhere.", entity="projects/elsewhere")
    with pytest.raises(Refused, match="are the same folder on"):
        move_entity(one.vault, "projects/elsewhere", other, one.caller)
    assert len(list((one.root / "life").rglob(f"{known.rsplit('/', 1)[1]}/items.json"))) == 1
    assert errors(one) == []


def test_two_drafts_of_one_call(one: Machine) -> None:
    drafts = [draft_from_record({"fact": f"In {name}.", "entity": name}, NOW) for name in PAIRS[0]]
    kept = remember(one.vault, drafts, one.caller).facts
    assert [each.entity for each in kept] == [PAIRS[0][0]] * 2
    assert errors(one) == []
