"""Days as people mean them, through the acts behind the verbs: the end is included, and a past plan is past."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from clawmem.errors import InvalidInput
from clawmem.index.search.channels import FactFilter
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.lifecycle.tiers import COLD, HOT
from clawmem.model.records.caller import Caller
from clawmem.serving.browse import list_facts
from clawmem.vault.vault import Vault
from tests.conftest import Command


def _tier(vault: Vault, caller: Caller, day: datetime) -> str:
    ((_, tier),) = list_facts(vault, caller._replace(now=day), FactFilter()).facts
    return tier


def _true_on(vault: Vault, caller: Caller, day: str) -> bool:
    return bool(list_facts(vault, caller, FactFilter(as_of=day)).facts)


def test_a_fact_of_one_day_is_true_on_that_day_alone(vault: Vault, caller: Caller) -> None:
    record = {"fact": "The office is closed.", "valid_from": "2026-12-24", "valid_to": "2026-12-24"}
    ((stored, _, _),) = remember(vault, [draft_from_record(record, caller.now)], caller).facts
    assert (stored.valid_from, stored.valid_to) == ("2026-12-24", "2026-12-24")
    assert [_true_on(vault, caller, f"2026-12-{day}") for day in (23, 24, 25)] == [False, True, False]


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [("2026-11", "2026-11", ("2026-10-31", "2026-11-30")), ("2026", "2026", ("2025-12-31", "2026-12-31"))],
)
def test_a_month_and_a_year_are_whole(
    vault: Vault, caller: Caller, start: str, end: str, days: tuple[str, str]
) -> None:
    draft = draft_from_record({"fact": "The fair is on.", "valid_from": start, "valid_to": end}, caller.now)
    remember(vault, [draft], caller)
    before, last = days
    after = (datetime.fromisoformat(last) + timedelta(days=1)).date().isoformat()
    assert [_true_on(vault, caller, day) for day in (before, last, after)] == [False, True, False]


def test_an_end_before_the_begin_is_refused(caller: Caller) -> None:
    record = {"fact": "The fair is on.", "valid_from": "2026-12-24", "valid_to": "2026-12-23"}
    with pytest.raises(InvalidInput, match="would end"):
        draft_from_record(record, caller.now)


def test_a_plan_is_past_after_the_day_that_its_words_name(vault: Vault, caller: Caller) -> None:
    record = {"fact": "Jane flies to Rome on 25 November 2026.", "category": "plan", "importance": 0.9}
    now = datetime(2026, 11, 22, 9, tzinfo=UTC)
    ((plan, _, _),) = remember(vault, [draft_from_record(record, now)], caller._replace(now=now)).facts
    assert plan.valid_to == "2026-11-25"
    assert _tier(vault, caller, datetime(2026, 11, 25, 20, tzinfo=UTC)) == HOT
    assert _tier(vault, caller, datetime(2026, 11, 26, 1, tzinfo=UTC)) == COLD


@pytest.mark.parametrize(
    ("now", "later", "asked"),
    [
        ("Fien swims on Wednesdays.", "Fien swims on Thursdays.", "when does Fien swim?"),
        ("The rent is 900 euros.", "The rent of the flat is 950 euros.", "how much is the rent of the flat?"),
    ],
)
def test_what_is_announced_stands_behind_what_holds_until_then_and_says_why(
    clawmem: Command, now: str, later: str, asked: str
) -> None:
    clawmem("remember", now)
    clawmem("supersede", now, later, "--valid-from", "2027-01-04", "--reason", "new term")
    for verb in ("recall", "context"):
        lines = [line for line in clawmem(verb, asked).out.splitlines() if now in line or later in line]
        assert now in lines[0] and later in lines[1], lines
        assert "because new term" in lines[1] and "because" not in lines[0]
    then = clawmem("recall", asked, "--json", env={"CLAWMEM_NOW": "2027-02-01T10:00:00Z"}).data["facts"]
    assert then[0]["fact"] == later
