"""Chains: legal changes never break them, and every planted break is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import NotFound
from clawmem.model.facts.fact import (
    ACTIVE,
    ARCHIVED,
    RETRACTED,
    SUPERSEDED,
    Fact,
    FactLink,
    is_low_trust,
    is_never_true,
    trust_rank,
)
from clawmem.model.lifecycle.chain import (
    announced_successor,
    chain_of,
    chain_problems,
    correct,
    reopened,
    replaced_object,
    succeed,
)
from clawmem.model.merging.collisions import FiledFact, known_end_of_chain

Vault = dict[str, Fact]
# An operation by name, and numbers that pick the facts it works on.
STEPS = st.lists(st.tuples(st.sampled_from(["add", "supersede", "merge", "retract", "archive"]), st.integers(0, 999),
                           st.integers(2, 4)), max_size=40)  # fmt: skip


def a_fact(number: int, **changes: object) -> Fact:
    fact = Fact(f"fact_{number:08x}", f"Statement {number}.", "fact", f"2026-01-01T00:{number % 60:02}:00Z", "user")
    return fact._replace(**changes)  # type: ignore[arg-type]


def replaced(vault: Vault, old: list[Fact], kind: str) -> None:
    new = a_fact(len(vault), links=tuple(FactLink(kind, each.id) for each in old))
    vault[new.id] = new
    for each in old:
        vault[each.id] = each._replace(status=SUPERSEDED, superseded_by=new.id)


def played(steps: list[tuple[str, int, int]]) -> Vault:
    """A vault after a sequence of legal changes; only current facts are changed."""
    vault: Vault = {}
    for name, pick, count in steps:
        standing = [fact for fact in vault.values() if fact.is_current]
        chosen = [standing[(pick + step) % len(standing)] for step in range(min(count, len(standing)))]
        if name == "add" or not chosen:
            fact = a_fact(len(vault))
            vault[fact.id] = fact
        elif name in ("supersede", "merge"):
            replaced(vault, chosen if name == "merge" else chosen[:1], f"{name}s")
        else:
            status = RETRACTED if name == "retract" else ARCHIVED
            vault[chosen[0].id] = chosen[0]._replace(status=status)
    return vault


@given(STEPS)
def test_legal_changes_never_give_a_problem(steps: list[tuple[str, int, int]]) -> None:
    assert chain_problems(played(steps).values()) == ()


def _end(fact_id: str, vault: Mapping[str, Fact]) -> Fact | None:
    return known_end_of_chain({key: FiledFact(fact, "items.json") for key, fact in vault.items()}, fact_id)


@given(STEPS)
def test_a_chain_holds_one_standing_fact_at_most_and_it_is_the_last(steps: list[tuple[str, int, int]]) -> None:
    vault = played(steps)
    for fact_id in vault:
        chain = chain_of(fact_id, vault)
        assert vault[fact_id] in chain
        assert [fact for fact in chain if fact.is_current] in ([], [chain[-1]])
        assert _end(fact_id, vault) == chain[-1]
        place = {fact.id: number for number, fact in enumerate(chain)}
        assert all(place[fact.superseded_by] > place[fact.id] for fact in chain if fact.superseded_by)
        assert {fact.id for fact in vault.values() if fact.superseded_by in place} <= set(place)


def break_dangling(vault: Vault, fact: Fact) -> str:
    vault[fact.id] = fact._replace(status=SUPERSEDED, superseded_by="fact_ffffffff")
    return "does not exist"


def break_missing_pointer(vault: Vault, fact: Fact) -> str:
    vault[fact.id] = fact._replace(status=SUPERSEDED, superseded_by=None)
    return "has no successor"


def break_status(vault: Vault, fact: Fact) -> str:
    other = a_fact(len(vault))
    vault[other.id] = other
    vault[fact.id] = fact._replace(status=ACTIVE, superseded_by=other.id)
    return "but its status is active"


def break_retracted(vault: Vault, fact: Fact) -> str:
    other = a_fact(len(vault))
    vault[other.id] = other
    vault[fact.id] = fact._replace(status=RETRACTED, superseded_by=other.id)
    return "but its status is retracted"


def break_itself(vault: Vault, fact: Fact) -> str:
    vault[fact.id] = fact._replace(status=SUPERSEDED, superseded_by=fact.id)
    return "by itself"


def break_circle(vault: Vault, fact: Fact) -> str:
    other = a_fact(len(vault), status=SUPERSEDED, superseded_by=fact.id)
    vault[other.id] = other
    vault[fact.id] = fact._replace(status=SUPERSEDED, superseded_by=other.id)
    return "circle"


def break_two_standing(vault: Vault, fact: Fact) -> str:
    other = a_fact(len(vault), links=(FactLink("supersedes", fact.id),))
    vault[other.id] = other
    vault[fact.id] = fact._replace(status=ACTIVE, superseded_by=None)
    return "is still"


def break_link(vault: Vault, fact: Fact) -> str:
    vault[fact.id] = fact._replace(links=(*fact.links, FactLink("depends_on", "fact_ffffffff")))
    return "'depends_on' to fact_ffffffff, which does not exist"


BREAKS = [break_dangling, break_missing_pointer, break_status, break_retracted, break_itself, break_circle,
          break_two_standing, break_link]  # fmt: skip


@given(STEPS, st.sampled_from(BREAKS), st.integers(0, 999))
def test_every_planted_break_is_found(
    steps: list[tuple[str, int, int]], plant: Callable[[Vault, Fact], str], pick: int
) -> None:
    vault = played([("add", 0, 2), *steps])
    fact = list(vault.values())[pick % len(vault)]
    words = plant(vault, fact)
    found = chain_problems(vault.values())
    assert any(words in problem.sentence for problem in found)
    assert all(problem.fact_id in vault for problem in found)


def test_a_problem_names_the_fact_in_one_sentence() -> None:
    found = chain_problems([a_fact(1, status=SUPERSEDED, superseded_by="fact_ffffffff")])
    assert len(found) == 1
    assert found[0].fact_id == "fact_00000001"
    assert found[0].sentence == "fact_00000001 was superseded by fact_ffffffff, which does not exist."


def test_a_circle_is_one_problem_and_does_not_trap_the_walk() -> None:
    vault = {
        fact.id: fact
        for fact in (
            a_fact(1, status=SUPERSEDED, superseded_by="fact_00000002"),
            a_fact(2, status=SUPERSEDED, superseded_by="fact_00000003"),
            a_fact(3, status=SUPERSEDED, superseded_by="fact_00000002"),
        )
    }
    sentences = [problem.sentence for problem in chain_problems(vault.values())]
    assert sentences == ["The supersessions run in a circle: fact_00000002 -> fact_00000003 -> fact_00000002."]
    assert {fact.id for fact in chain_of("fact_00000001", vault)} == set(vault)
    assert _end("fact_00000001", vault) == vault["fact_00000003"]


def test_the_same_id_twice_is_a_problem() -> None:
    assert [problem.sentence for problem in chain_problems([a_fact(1), a_fact(1)])] == [
        "fact_00000001 is the id of more than one fact."
    ]


def test_an_undone_supersession_is_legal() -> None:
    facts = [a_fact(1), a_fact(2, status=RETRACTED, links=(FactLink("supersedes", "fact_00000001"),))]
    assert chain_problems(facts) == ()


def test_a_merge_shows_both_its_sources_oldest_first() -> None:
    vault = played([("add", 0, 2)] * 3)
    first, second, third = vault.values()
    replaced(vault, [third], "supersedes")
    replaced(vault, [second, vault["fact_00000003"], first], "merges")
    assert [fact.id[-1] for fact in chain_of(first.id, vault)] == ["0", "1", "2", "3", "4"]
    assert [fact.id[-1] for fact in chain_of("fact_00000004", vault)] == ["0", "1", "2", "3", "4"]


def test_a_successor_with_an_earlier_clock_still_comes_after() -> None:
    old = a_fact(9, status=SUPERSEDED, superseded_by="fact_00000001")
    vault = {fact.id: fact for fact in (a_fact(1), old)}
    assert [fact.id for fact in chain_of("fact_00000001", vault)] == ["fact_00000009", "fact_00000001"]


def test_a_long_chain_is_walked_without_recursion() -> None:
    size = 1500
    facts = [a_fact(n, status=SUPERSEDED, superseded_by=f"fact_{n + 1:08x}") for n in range(size)]
    vault = {fact.id: fact for fact in [*facts, a_fact(size)]}
    assert chain_problems(vault.values()) == ()
    assert [fact.id for fact in chain_of("fact_00000000", vault)] == list(vault)


def test_an_unknown_fact_is_not_found() -> None:
    with pytest.raises(NotFound, match="fact_ffffffff"):
        chain_of("fact_ffffffff", {})


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


def test_what_is_worded_anew_from_an_earlier_day_was_true_until_then() -> None:
    old = OLD._replace(valid_from="2026-11-03", valid_to=None)
    succession = succeed(
        NEW._replace(valid_from=None), [old], "merges", "more detail", "2026-11-03T09:00:00Z", "2026-11-02"
    )
    (closed,) = succession.closed
    assert (closed.valid_from, closed.valid_to) == ("2026-11-03", "2026-11-03T09:00:00Z")
    assert not is_never_true(closed)
