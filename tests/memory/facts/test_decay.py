"""Decay archives unused facts, and archived facts can be restored."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clawmem.errors import Refused
from clawmem.index.search.channels import FactFilter
from clawmem.memory.facts.decay import archive_decayed, restore
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.browse import list_facts
from clawmem.vault.vault import Vault


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
