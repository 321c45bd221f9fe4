"""Folding counts each use once, and what concerns a file that does not parse waits."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import Refused
from clawmem.index.search.channels import FactFilter
from clawmem.memory.entities.entities import show_entity
from clawmem.memory.facts.access import archive_decayed, fold_accesses, restore
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


def test_an_answer_of_a_context_counts_as_a_use_and_an_explanation_does_not(vault: Vault, caller: Caller) -> None:
    record = {"fact": "The bicycle is green", "entity": "resources/bike"}
    (fact,) = (
        remembered_fact.fact
        for remembered_fact in remember(vault, [draft_from_record(record, caller.now)], caller).facts
    )
    why(vault, fact.id, caller)
    show_entity(vault, "resources/bike", caller)
    assert count_accesses(unfolded_accesses(vault)) == {}
    context(vault, caller, 2000, "what color is the bicycle?")
    assert count_accesses(unfolded_accesses(vault))[fact.id].count == 1


def _fact(vault: Vault, caller: Caller, words: str, **keys: object) -> str:
    return remember(vault, [draft_from_record({"fact": words, **keys}, caller.now)], caller).facts[0].fact.id


@pytest.fixture
def caller(caller: Caller) -> Caller:
    """An agent: what a person gives is not archived by age."""
    return caller._replace(agent="cli")


def test_the_unused_is_archived_the_important_never_and_restored_facts_stay(vault: Vault, caller: Caller) -> None:
    green = _fact(vault, caller, "The bicycle is green")
    _fact(vault, caller, "Ada is allergic to nuts", importance=0.8)
    soon = caller._replace(now=caller.now + timedelta(days=89))
    assert archive_decayed(vault, soon).facts == ()
    late = caller._replace(now=caller.now + timedelta(days=91))
    assert [placed.fact.id for placed in archive_decayed(vault, late, dry_run=True).facts] == [green]
    assert [placed.fact.id for placed in archive_decayed(vault, late).facts] == [green]
    (woken,) = restore(vault, green[:9], late).facts
    assert (woken.fact.status, woken.fact.access_count) == ("active", 1)
    assert archive_decayed(vault, late).facts == ()
    again = restore(vault, green, late)
    assert (again.commit, again.notices) == (None, (f"{green} is not archived",))


def test_what_was_withdrawn_cannot_be_restored(vault: Vault, caller: Caller) -> None:
    green = _fact(vault, caller, "The bicycle is green")
    retract(vault, green, caller)
    with pytest.raises(Refused, match="retracted, not archived"):
        restore(vault, green, caller)


def test_a_file_that_does_not_parse_stops_only_its_own_facts(vault: Vault, caller: Caller) -> None:
    _fact(vault, caller, "The bicycle is green", entity="resources/bike")
    red = _fact(vault, caller, "The car is red", entity="resources/car")
    (vault.root / "life/resources/bike/items.json").write_text("[\noops\n]\n")
    late = caller._replace(now=caller.now + timedelta(days=91))
    assert [placed.fact.id for placed in archive_decayed(vault, late).facts] == [red]


_TYPED = (
    ("I'm allergic to penicillin.", 0.9),
    ("Ada has a severe nut allergy.", 0.9),
    ("Never deploy on a Friday.", 0.85),
    ("My name is Ada Lovelace.", 0.8),
    ("The shed is green.", None),
)


@pytest.mark.parametrize("days", [110, 365])
def test_what_a_person_typed_does_not_fade(vault: Vault, caller: Caller, days: int) -> None:
    person = caller._replace(agent=None)
    drafts = [draft_from_record({"fact": words}, caller.now) for words, _ in _TYPED]
    typed = [remembered_fact.fact for remembered_fact in remember(vault, drafts, person).facts]
    assert [fact.importance for fact in typed] == [importance for _, importance in _TYPED]
    ended = _fact(vault, person, "The fair is on.", valid_to="2026-11-30")
    guessed = _fact(vault, caller, "The car is red")
    late = person._replace(now=caller.now + timedelta(days=days))
    assert {placed.fact.id for placed in archive_decayed(vault, late).facts} == {ended, guessed}
    hot = {placed.fact.fact for placed, _ in list_facts(vault, late, FactFilter(), tier="hot").facts}
    assert hot == {words for words, importance in _TYPED if importance}


def test_a_given_importance_is_kept_and_a_tool_makes_nothing_important(vault: Vault, caller: Caller) -> None:
    drafts = [
        draft_from_record({"fact": "Ben is allergic to cats.", "importance": 0.3}, caller.now),
        draft_from_record({"fact": "Eve is allergic to dogs.", "trust": "tool"}, caller.now),
    ]
    assert [remembered_fact.fact.importance for remembered_fact in remember(vault, drafts, caller).facts] == [0.3, None]
