"""A deadline takes the place of another only where both are for the same."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.reconcile import ADD, UPDATE, mark_change, reconcile
from clawmem.learning.rules.rules import statements as extract
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import Proposition, learned_fact
from clawmem.model.records.event import Event
from clawmem.vault.vault import Vault

BESIDE = [
    ("3 May for the tax return", "9 June for the grant"),
    ("9 June for the grant", "on 3 May for the tax return"),
    ("9 June for the grant", "2026-06-12"),
    ("2026-06-12", "9 June for the grant"),
    ("a paper deadline on 2026-03-06", "a deadline on 2026-03-09"),
    ("a paper deadline on 2026-03-06", "a grant deadline on 2026-03-09"),
]
REPLACED = [
    ("2026-03-06", "2026-03-09"),
    ("9 June", "on 12 June"),
    ("9 June for the grant", "12 June for the grant"),
    ("on 9 June for the grant", "on 12 June for the grant"),
    ("a paper deadline on 2026-03-06", "a paper deadline on 2026-03-09"),
]
SPOKEN = [
    ("The deadline for the tax return is 3 May.", "The deadline for the grant is 9 June.", ADD),
    ("The grant report deadline is 9 June.", "The grant deadline is 12 June.", ADD),
    ("The tax return is due on 3 May.", "The grant is due on 9 June.", ADD),
    ("The deadline for the tax return is 3 May.", "The deadline for the tax return is 5 May.", UPDATE),
    ("The grant deadline is 9 June.", "The grant deadline was moved to 12 June.", UPDATE),
]


def outcome(vault: Vault, known: str, news: str) -> str:
    """What becomes of one deadline of the speaker where the other is known."""
    words = "Dana has a deadline on {}."
    fact = Fact(
        "fact_00000001", words.format(known), "fact", "2026-03-02T10:00:00Z", "events",
        subject="Dana", predicate="deadline", object=known,
    )  # fmt: skip
    text = "2026-03-03T10:00:00Z"
    after = Proposition(words.format(news), "evt_1", (0, 1), "x", "Dana", "deadline", news, said_at=text)
    return reconcile(after, [fact], vault.catalog).outcome


@pytest.mark.parametrize(("known", "news"), BESIDE)
def test_a_deadline_of_something_else_retires_nothing(vault: Vault, known: str, news: str) -> None:
    assert outcome(vault, known, news) == ADD


@pytest.mark.parametrize(("known", "news"), REPLACED)
def test_a_deadline_of_the_same_thing_replaces_the_older_one(vault: Vault, known: str, news: str) -> None:
    assert outcome(vault, known, news) == UPDATE


@pytest.mark.parametrize(("known", "news", "expected"), SPOKEN)
def test_what_a_deadline_is_for_is_its_subject(vault: Vault, known: str, news: str, expected: str) -> None:
    first, second = (
        Event(f"evt_{day}", f"2026-03-{day:02}T10:00:00Z", "user", text) for day, text in enumerate((known, news), 2)
    )
    (before,) = extract(first, vault.catalog)
    (after,) = extract(second, vault.catalog)
    fact = learned_fact(before, first, "fact_00000001", first.timestamp, "heartbeat/rules")
    assert (before.predicate, after.predicate) == ("deadline", "deadline")
    assert reconcile(after, [fact], vault.catalog).outcome == expected


@pytest.mark.parametrize(
    "text", ["The deadline is Friday.", "My deadline moved to 9 June.", "I have a deadline on Friday."]
)
def test_a_deadline_of_nothing_named_is_no_fact(vault: Vault, text: str) -> None:
    assert extract(Event("evt_1", "2026-03-02T10:00:00Z", "user", text), vault.catalog) == ()


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        ("The port is 3000.", ADD),
        ("The port is 8080.", "noop"),
        ("The port is 3000 now.", UPDATE),
        ("The port is 3000, not 8080.", UPDATE),
        ("The port changed to 3000.", UPDATE),
    ],
)
def test_a_setting_is_replaced_where_a_change_is_stated(vault: Vault, news: str, expected: str) -> None:
    first, second = (
        Event(f"evt_{day}", f"2026-03-{day:02}T10:00:00Z", "user", text)
        for day, text in enumerate(("The port is 8080.", news), 2)
    )
    (before,) = extract(first, vault.catalog)
    (after,) = (mark_change(proposition, news) for proposition in extract(second, vault.catalog))
    fact = learned_fact(before, first, "fact_00000001", first.timestamp, "heartbeat/rules")
    assert reconcile(after, [fact], vault.catalog).outcome == expected
