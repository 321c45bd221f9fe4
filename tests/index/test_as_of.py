"""`--as-of` against a reading of the intervals by hand: dates as calendars know them, never as text."""

from __future__ import annotations

import random
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clawmem.index.search.channels import FactFilter, all_passing, keyword_channel, passing_rows
from clawmem.index.tables.intake import take_in
from clawmem.index.tables.store import Index, create_in_memory
from clawmem.model.facts.codec import fact_from_record, render_items
from clawmem.model.facts.fact import RETRACTED, STATUSES, SUPERSEDED, Fact
from clawmem.model.facts.validity import true_at, untrue_reason
from clawmem.model.language.dates import parse_moment, parse_state
from clawmem.vault.vault import Vault

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = ("Z", "+00:00", "+01:00", "-05:00", "+05:45")
Instant = datetime | None


def some_time(chance: random.Random, end: bool = False) -> tuple[str | None, Instant]:
    """Draw a time in a form that a person or a program may write, with its meaning; few days, so that many are
    equal."""
    moment = FIRST + timedelta(seconds=chance.choice((0, 1, 3600, 43_200, 86_399)) + 86_400 * chance.randrange(70))
    form = chance.randrange(8)
    if form == 0:
        return None, None
    if form == 1:
        return chance.choice(("soon", "", "2026-02-31", "about 2026")), None
    if form == 2:
        day = monthrange(moment.year, moment.month)[1] if end else 1
        return f"{moment:%Y-%m}", moment.replace(day=day, hour=0, minute=0, second=0)
    if form in (3, 4):
        return f"{moment:%Y-%m-%d}", moment.replace(hour=0, minute=0, second=0)
    return written(chance, moment), moment


def written(chance: random.Random, moment: datetime) -> str:
    """A moment in some zone, with or without its fraction of a second."""
    zone = chance.choice(ZONES)
    local = moment
    if zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:])
        local = moment + (1 if zone[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)
    return f"{local:%Y-%m-%dT%H:%M:%S}{chance.choice(('', '.0', '.000'))}{zone}"


def some_facts(chance: random.Random, number: int) -> list[tuple[Fact, Instant, Instant]]:
    """Facts of every status with their beginnings and ends."""
    found = []
    for n in range(number):
        (begin, began), (end, ended) = some_time(chance), some_time(chance, end=True)
        record: dict[str, Any] = {"id": f"fact_{n:08x}", "fact": f"Boats are {n}.", "timestamp": "2026-01-01T00:00:00Z"}
        record |= {"status": chance.choice(STATUSES), "valid_from": begin, "valid_to": end}
        replaced = record["status"] == SUPERSEDED
        if ended and end and (len(end) == 7 or (len(end) == 10 and not replaced) or f"{ended:%T}" == "23:59:59"):
            # A day, a month or a year is included, but not the day on which a successor begins.
            ended = ended.replace(hour=0, minute=0, second=0) + timedelta(days=1)
        found.append((fact_from_record(record), began, ended))
    return found


def some_question(chance: random.Random) -> tuple[str, datetime]:
    """An --as-of as somebody types it, and the instant it asks about."""
    moment = FIRST + timedelta(seconds=chance.choice((0, 1, 3600, 86_399)) + 86_400 * chance.randrange(-5, 80))
    if chance.random() < 0.5:
        return f"{moment:%Y-%m-%d}", moment.replace(hour=23, minute=59, second=59)
    return written(chance, moment), moment


def holds(fact: Fact, began: Instant, ended: Instant, instant: datetime) -> bool:
    """The rule itself: not withdrawn, begun by then, not ended by then."""
    return fact.status != RETRACTED and (began is None or began <= instant) and (ended is None or instant < ended)


def index_of(vault: Vault, facts: Sequence[Fact]) -> Index:
    index = create_in_memory(vault, "a test")
    with index.writing():
        take_in(index, {"life/areas/boats/items.json": render_items(facts)})
    return index


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(40))
def test_as_of_is_what_the_intervals_say(vault: Vault, seed: int) -> None:
    chance = random.Random(seed)
    known = some_facts(chance, 120)
    index = index_of(vault, [fact for fact, _, _ in known])
    asked = 0
    for _ in range(50):
        text, instant = some_question(chance)
        as_of = parse_moment(text, NOW)
        expected = {fact.id for fact, began, ended in known if holds(fact, began, ended, instant)}
        wanted = FactFilter(as_of=as_of)
        assert {placed.fact.id for placed in all_passing(index, wanted)} == expected, text
        assert len(passing_rows(index, range(1, 121), wanted)) == len(expected)
        assert {fact.id for fact, _, _ in known if true_at(fact, as_of)} == expected
        assert {fact.id for fact, _, _ in known if untrue_reason(fact, as_of) is None} == expected
        asked += len(expected)
    hits = keyword_channel(index, ["boats"], wanted, 500)
    assert len(hits.scores) == len(expected)
    index.close()
    assert asked > 0


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "as_of", "true"),
    [
        ("2026-11-20", None, "2026-11-20", True),
        ("2026-11-20", None, "2026-11-19", False),
        ("2026-11-20", None, "2026-11-19T23:59:59Z", False),
        ("2026-11-20", None, "2026-11-20T00:00:00Z", True),
        ("2026-11-20", None, "2026-11-20T00:30:00+01:00", False),
        (None, "2026-11-20", "2026-11-19", True),
        (None, "2026-11-20", "2026-11-20", True),
        (None, "2026-11-20", "2026-11-21T00:00:00Z", False),
        (None, "2026-11-20T12:00:00Z", "2026-11-20T11:59:59Z", True),
        (None, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z", False),
        (None, "2026-11-20T12:00:00Z", "2026-11-20", False),
        ("2026-11-20T12:00:00+05:00", None, "2026-11-20T07:00:00Z", True),
        ("2026-11-20T12:00:00+05:00", None, "2026-11-20T06:59:59Z", False),
        ("2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z", False),
        (None, None, "1970-01-01", True),
        ("2019-06-01", "2021-03-01", "2020", True),
        ("2019-06-01", "2020-09-01", "2020", False),
        ("2019-06-01", "2020-09-01", "2020-08", True),
        ("2026-11-20", None, "2026", True),
        ("2026-11-22", None, "2026", False),
    ],
)
def test_the_edges_of_an_interval(
    vault: Vault, valid_from: str | None, valid_to: str | None, as_of: str, true: bool
) -> None:
    fact = fact_from_record({"id": "fact_1", "fact": "Boats.", "valid_from": valid_from, "valid_to": valid_to})
    moment = parse_state(as_of, NOW)
    index = index_of(vault, [fact])
    assert bool(all_passing(index, FactFilter(as_of=moment))) is true
    assert true_at(fact, moment) is true
    index.close()


def test_a_fact_that_was_replaced_is_given_for_the_time_it_held_and_says_so(vault: Vault) -> None:
    replaced = {"status": "superseded", "superseded_by": "fact_2", "valid_to": "2026-11-20"}
    old = fact_from_record({"id": "fact_1", "fact": "Red boats.", **replaced})
    new = fact_from_record({"id": "fact_2", "fact": "Blue boats.", "valid_from": "2026-11-20"})
    index = index_of(vault, [old, new])
    items = [[(placed.fact.id, placed.fact.status) for placed in all_passing(index, FactFilter(as_of=day))] for day in
             ("2026-11-19", "2026-11-20")]  # fmt: skip
    assert items == [[("fact_1", "superseded")], [("fact_2", "active")]]
    index.close()
