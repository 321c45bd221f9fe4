"""Folding counts each use once, and what concerns a file that does not parse waits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clawmem.index.search.channels import FactFilter
from clawmem.memory.entities.entities import show_entity
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.memory.history.why import why
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.accesses import ACCESSES_PATH, parse_accesses
from clawmem.model.records.caller import Caller
from clawmem.serving.browse import list_facts, peek
from clawmem.serving.context.context import context
from clawmem.vault.state.journal import count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.memory.machines import make_machines

USED = "2026-11-21T10:00:00Z"


def test_uses_of_an_unreadable_file_wait_in_the_journal(vault: Vault, caller: Caller) -> None:
    names = ("resources/bike", "resources/car")
    drafts = [draft_from_record({"fact": f"{name} is green", "entity": name}, caller.now) for name in names]
    bike, car = (remembered_fact.fact.id for remembered_fact in remember(vault, drafts, caller).facts)
    for fact_id in (bike, bike, car):
        assert record_access(vault, USED, [fact_id]) is None
    path = vault.root / "life/resources/bike/items.json"
    whole = path.read_bytes()
    path.write_text("[\noops\n]\n")
    assert fold_accesses(vault, caller).facts == 1
    assert {key: count_access.count for key, count_access in count_accesses(unfolded_accesses(vault)).items()} == {
        bike: 2
    }
    assert fold_accesses(vault, caller).commits == ()
    path.write_bytes(whole)
    assert fold_accesses(vault, caller).facts == 1
    assert unfolded_accesses(vault) == b""
    counts = [peek(vault, text).fact.access_count for text in (bike, car)]
    assert counts == [2, 1]


def _blamed(vault: Vault, path: str) -> list[str]:
    """The subject of the commit that git blames for each line."""
    printed = vault.git.run("blame", "--line-porcelain", "HEAD", "--", path).decode()
    return [line.removeprefix("summary ") for line in printed.splitlines() if line.startswith("summary ")]


def test_a_fold_changes_no_line_of_facts(vault: Vault, caller: Caller) -> None:
    drafts = [
        draft_from_record({"fact": f"The {name} is green", "entity": "resources/bike"}, caller.now) for name in "ab"
    ]
    facts = [remembered_fact.fact for remembered_fact in remember(vault, drafts, caller).facts]
    path = "life/resources/bike/items.json"
    before = (vault.read(path), _blamed(vault, path))
    for fact in facts:
        assert record_access(vault, USED, [fact.id]) is None
    assert fold_accesses(vault, caller).facts == 2
    assert (vault.read(path), _blamed(vault, path)) == before
    assert not any(line.startswith("access") for line in before[1])
    listed = list_facts(vault, caller, FactFilter()).facts
    assert [(placed.fact.access_count, placed.fact.last_accessed) for placed, _ in listed] == [(1, USED)] * 2


def test_counts_in_lines_of_an_older_vault_are_added(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "The bike is green", "entity": "resources/bike"}, caller.now)
    ((fact, _, _),) = remember(vault, [draft], caller).facts
    path = vault.root / "life/resources/bike/items.json"
    path.write_bytes(path.read_bytes().replace(b'"access_count": 0', b'"access_count": 5'))
    for _ in range(2):
        assert record_access(vault, USED, [fact.id]) is None
        fold_accesses(vault, caller)
    assert peek(vault, fact.id).fact.access_count == 7
    assert b'"access_count": 5' in path.read_bytes()


def test_a_revision_keeps_the_counts(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "The bike is green", "entity": "resources/bike"}, caller.now)
    ((fact, _, _),) = remember(vault, [draft], caller).facts
    assert record_access(vault, USED, [fact.id]) is None
    fold_accesses(vault, caller)
    retract(vault, fact.id, caller)
    archived = peek(vault, fact.id).fact
    assert (archived.status, archived.access_count) == ("retracted", 1)


def test_two_clones_add_up_their_counts(tmp_path: Path, environment: dict[str, str]) -> None:
    other_machine, other = make_machines(tmp_path, environment)
    (fact,) = other_machine.keep("The bike is green")
    for machine in (other_machine, other):
        machine.sync()
    for machine, times in ((other_machine, 2), (other, 3)):
        assert record_access(machine.vault, USED, [fact.id] * times) is None
        fold_accesses(machine.vault, machine.caller)
    for machine in (other_machine, other, other_machine):
        machine.sync()
    assert [peek(machine.vault, fact.id).fact.access_count for machine in (other_machine, other)] == [5, 5]


def test_a_fold_stores_the_importance_that_recall_raised(vault: Vault, caller: Caller) -> None:
    record = {"fact": "The bicycle is green", "entity": "resources/bike", "importance": 0.5}
    (fact,) = (
        remembered_fact.fact
        for remembered_fact in remember(vault, [draft_from_record(record, caller.now)], caller).facts
    )
    for _ in range(3):
        assert record_access(vault, USED, [fact.id]) is None
    assert peek(vault, fact.id).fact.importance == 0.5
    fold_accesses(vault, caller)
    assert parse_accesses(vault.read(ACCESSES_PATH))[fact.id] == (3, USED, 0.5693)
    assert peek(vault, fact.id).fact.importance == 0.5693
    assert record_access(vault, USED, [fact.id]) is None
    fold_accesses(vault, caller)
    assert peek(vault, fact.id).fact.importance == 0.5805  # 0.5 + 0.05 ln(1 + 4), not more with each fold
    for _ in range(900):
        assert record_access(vault, USED, [fact.id]) is None
    fold_accesses(vault, caller)
    assert peek(vault, fact.id).fact.importance == 0.79


@pytest.mark.parametrize("counted", [True, False])
def test_settings_say_what_else_counts_as_a_use(vault: Vault, caller: Caller, counted: bool) -> None:
    record = {"fact": "The bicycle is green", "entity": "resources/bike"}
    (fact,) = (
        remembered_fact.fact
        for remembered_fact in remember(vault, [draft_from_record(record, caller.now)], caller).facts
    )
    path = vault.root / "clawmem.yaml"
    path.write_text(
        re.sub(r"(?m)^  (context|why|entity_show): \w+$", rf"  \1: {str(counted).lower()}", path.read_text())
    )
    own = Vault(vault.root, vault.git.environment)
    context(own, caller, 2000, "what color is the bicycle?")
    why(own, fact.id, caller)
    show_entity(own, "resources/bike", caller)
    counts = count_accesses(unfolded_accesses(own))
    assert (counts[fact.id].count if counted else counts) == (3 if counted else {})
