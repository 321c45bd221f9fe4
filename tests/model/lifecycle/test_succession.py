"""Succession: intervals close where the new fact begins; what was never true holds at no time."""

from __future__ import annotations

import pytest

from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.facts.trust import is_low_trust, trust_rank
from clawmem.model.lifecycle.succession import announced_successor, correct, reopened, replaced_object, succeed

AT = "2026-11-21T09:30:00Z"
OLD = Fact("fact_00000001", "Dana lives in Leeds.", "fact", AT, "chat", valid_from="2024-01-01")
NEW = Fact("fact_00000002", "Dana lives in Porto.", "fact", AT, "chat")


def test_the_old_fact_ends_where_the_new_one_begins() -> None:
    succession = succeed(NEW, [OLD], "supersedes", "she moved", AT, "2026-11-03")
    assert succession.new.valid_from == "2026-11-03"
    assert succession.new.links == (FactLink("supersedes", OLD.id, "she moved", AT),)
    (closed,) = succession.closed
    assert (closed.status, closed.superseded_by, closed.valid_to) == (SUPERSEDED, NEW.id, "2026-11-03")
    assert closed.valid_from == OLD.valid_from


def test_a_day_of_its_own_wins_over_the_day_it_was_said() -> None:
    succession = succeed(NEW._replace(valid_from="2025-05-01"), [OLD], "merges", "more detail", AT, "2026-11-03")
    assert (succession.new.valid_from, succession.closed[0].valid_to) == ("2025-05-01", "2025-05-01")


def test_what_is_announced_lets_stand_what_holds_until_it_begins() -> None:
    coming = NEW._replace(valid_from="2026-12-01")
    over = OLD._replace(id="fact_00000003", valid_to="2025-01-01")
    succession = succeed(coming, [OLD, over], "supersedes", "she said so", AT, "2026-11-21")
    waits, gone = succession.closed
    assert (waits.status, waits.superseded_by, waits.valid_to) == (OLD.status, None, "2026-12-01")
    assert announced_successor(waits) == (NEW.id, "she said so")
    assert reopened(waits) == OLD
    assert (gone.superseded_by, gone.valid_to) == (NEW.id, "2025-01-01T23:59:59Z")
    assert [link.to for link in succession.new.links] == [over.id]
    # Something else follows that: each stands until the next begins.
    then = NEW._replace(id="fact_00000004", object="Faro", valid_from="2027-01-01")
    (next_,) = succeed(then, [waits, coming], "supersedes", "again", AT, "2026-11-21").closed
    assert (next_.id, next_.valid_to, announced_successor(next_)) == (coming.id, "2027-01-01", (then.id, "again"))
    # It is put off: what holds goes on until then, and what never began held at no time.
    later = then._replace(object="Porto")
    succession = succeed(later, [waits, coming._replace(object="Porto")], "supersedes", "put off", AT, "2026-11-21")
    still, never = succession.closed
    assert (still.valid_to, announced_successor(still)) == ("2027-01-01", (later.id, "put off"))
    assert (never.superseded_by, never.valid_from, never.valid_to) == (later.id, "2026-12-01", "2026-12-01")
    # Something else is so today.
    (gone,) = succeed(NEW._replace(id="fact_00000005"), [waits], "supersedes", "now", AT, "2026-11-21").closed
    assert (gone.valid_to, gone.metadata) == ("2026-11-21", None)


def test_what_begins_today_supersedes_at_once() -> None:
    (closed,) = succeed(NEW._replace(valid_from="2026-11-21"), [OLD], "supersedes", "today", AT, "2026-11-21").closed
    assert (closed.superseded_by, closed.valid_to) == (NEW.id, "2026-11-21")


@pytest.mark.parametrize("begun", ["2024-01-01", None])
def test_what_was_never_true_holds_at_no_time(begun: str | None) -> None:
    succession = correct(NEW, [OLD._replace(valid_from=begun)], "wrong place", AT)
    (closed,) = succession.closed
    assert closed.valid_from == closed.valid_to == (begun or "2026-11-21")
    assert succession.new.valid_from is None
    assert [(link.type, link.to) for link in succession.new.links] == [("supersedes", OLD.id), ("contradicts", OLD.id)]
    assert {link.reason for link in succession.new.links} == {"wrong place"}


def test_trust_has_an_order_and_silence_counts_as_the_user() -> None:
    assert sorted(("user", "tool", "external", "agent"), key=trust_rank) == ["external", "tool", "agent", "user"]
    assert trust_rank(None) == trust_rank("user")
    assert [text for text in ("user", "agent", "tool", "external", None, "odd") if is_low_trust(text)] == [
        "tool",
        "external",
        "odd",
    ]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Jane lives in Rome.", "Rome"),
        ("Jane lives in Rome", "Rome"),
        ("Jane lives in New York.", "New York"),
        ("Jane lives in Rome with her cat and two dogs.", None),
        ("Jane moved to Rome.", None),
        ("Jane lives in .", None),
        ("Jane lives in", None),
        ("Anna and Jane lives in Rome.", None),
    ],
)
def test_a_newer_statement_says_the_object_where_the_older_one_did(statement: str, text: str | None) -> None:
    old = Fact("fact_1", "Jane lives in Oslo.", "fact", "2026-11-21T09:30:00Z", "user", object="Oslo")
    assert replaced_object(statement, old) == text
    assert replaced_object(statement, old._replace(object=None)) is None
    assert replaced_object("Oslo lives in Rome", old._replace(fact="Oslo lives in Oslo")) is None
