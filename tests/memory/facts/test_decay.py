"""Decay archives what nobody used, and what was archived can come back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clawmem.errors import Refused
from clawmem.memory.facts.decay import archive_decayed, restore
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def _fact(vault: Vault, caller: Caller, words: str, **keys: object) -> str:
    return remember(vault, [draft_from_record({"fact": words, **keys}, caller.now)], caller).facts[0].fact.id


def test_the_unused_is_archived_the_important_never_and_restored_facts_stay(vault: Vault, caller: Caller) -> None:
    green = _fact(vault, caller, "The bicycle is green")
    _fact(vault, caller, "Ada is allergic to nuts", importance=0.8)
    soon = caller._replace(now=caller.now + timedelta(days=89))
    assert archive_decayed(vault, soon).facts == ()
    late = caller._replace(now=caller.now + timedelta(days=91))
    assert [one.fact.id for one in archive_decayed(vault, late, dry_run=True).facts] == [green]
    assert [one.fact.id for one in archive_decayed(vault, late).facts] == [green]
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
    assert [one.fact.id for one in archive_decayed(vault, late).facts] == [red]
