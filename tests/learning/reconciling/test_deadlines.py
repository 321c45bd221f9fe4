"""A deadline takes the place of another only where both are for the same."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.reconcile import ADD, UPDATE, reconcile
from clawmem.learning.rules.rules import extract
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.learned_fact import learned_fact
from clawmem.model.records.event import Event
from clawmem.vault.vault import Vault

BESIDE = [
    ("I have a deadline for the tax return on 3 May.", "I have a deadline for the grant on 9 June."),
    ("I have a deadline on 9 June for the grant.", "I have a deadline on 3 May for the tax return."),
    ("We have a deadline of 9 June for the grant.", "We have a deadline of 1 July for the beta."),
    ("I have a deadline on 9 June for the grant.", "I have a deadline on Friday."),
    ("I have a deadline on Friday.", "I have a deadline on 9 June for the grant."),
    ("I have a paper deadline on Friday.", "I have a deadline on Monday."),
    ("I have a paper deadline on Friday.", "I have a grant deadline on Monday."),
    ("My deadline is Friday.", "I have a deadline for the grant on 9 June."),
    ("I have a deadline for the grant on 9 June.", "My deadline is Friday."),
    ("The deadline for the tax return is 3 May.", "The deadline of the grant is 9 June."),
    ("The deadline for the tax return is 3 May.", "The deadline is Friday."),
    ("The deadline is Friday.", "The deadline for the tax return is 3 May."),
    ("The grant deadline is 9 June.", "The deadline is Friday."),
    ("My tax deadline is Friday.", "My deadline is Monday."),
    ("The launch is on 5 December.", "The deadline is Friday."),
]
REPLACED = [
    ("The deadline is Friday.", "The deadline is Monday."),
    ("My deadline is Friday.", "My deadline is 9 June."),
    ("I have a deadline on 9 June.", "I have a deadline on 12 June."),
    ("I have a deadline for the grant on 9 June.", "I have a deadline for the grant on 12 June."),
    ("I have a deadline on 9 June for the grant.", "I have a deadline on 12 June for the grant."),
    ("I have a paper deadline on Friday.", "I have a paper deadline on Monday."),
    ("The deadline for the tax return is 3 May.", "The deadline for the tax return is 5 May."),
    ("The grant deadline is 9 June.", "The new grant deadline is 12 June."),
    ("The launch is on 5 December.", "The launch is on 12 December."),
]


def outcome(vault: Vault, known: str, news: str) -> str:
    """What becomes of the one sentence where the other is known."""
    first, second = (
        Event(f"evt_{day}", f"2026-03-{day:02}T10:00:00Z", "user", text, "Dana")
        for day, text in enumerate((known, news), 2)
    )
    (before,) = extract(first, vault.catalog, ("Dana",))
    (after,) = extract(second, vault.catalog, ("Dana",))
    fact: Fact = learned_fact(before, first, "fact_00000001", first.timestamp, "heartbeat/rules")
    assert (before.predicate, after.predicate) == ("deadline", "deadline")
    return reconcile(after, [fact], vault.catalog).outcome


@pytest.mark.parametrize(("known", "news"), BESIDE)
def test_a_deadline_of_something_else_retires_nothing(vault: Vault, known: str, news: str) -> None:
    assert outcome(vault, known, news) == ADD


@pytest.mark.parametrize(("known", "news"), REPLACED)
def test_a_deadline_of_the_same_thing_replaces_the_older_one(vault: Vault, known: str, news: str) -> None:
    assert outcome(vault, known, news) == UPDATE
