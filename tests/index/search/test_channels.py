"""The channels: what each finds, what the filter keeps out, and how far each goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clawmem.index.refresh import open_index
from clawmem.index.search.channels import (
    CANDIDATES,
    ChannelHits,
    FactFilter,
    all_passing,
    facts_in_rows,
    keyword_channel,
    passing_rows,
    predicate_channel,
    sketches,
    time_channel,
)
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.validity import validity_end
from clawmem.model.language.question import DaySpan
from clawmem.model.records.change import Change
from clawmem.model.records.entity import items_path
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.vault import Vault
from tests.conftest import NOW

HOME = "areas/people/jane"


def fact(number: int, statement: str, **more: Any) -> Fact:
    """A fact with a number for its id."""
    return Fact(f"fact_{number}", statement, "fact", "2026-11-01T00:00:00Z", "user")._replace(**more)


def index_of(vault: Vault, shelves: Mapping[str, Iterable[Fact]]) -> Index:
    """The index of a vault that holds these facts."""
    writes: dict[str, bytes | None] = {items_path(entity): render_items(facts) for entity, facts in shelves.items()}
    with transaction(vault, NOW, "test") as started:
        started.commit([Change("test(vault): facts", writes)])
    return open_index(vault)


def ids(index: Index, hits: ChannelHits) -> list[str]:
    """The ids of the hits, best first, in the order of their numbers where equal."""
    found = facts_in_rows(index, list(hits.scores))
    return [found[n].fact.id for n in sorted(hits.scores, key=lambda n: (-hits.scores[n], n))]


FACTS = (
    fact(1, "Jane likes tea", tags=("Drink", "Über uns"), category="preference"),
    fact(2, "Jane liked coffee", status="superseded", superseded_by="fact_1", valid_to="2026-05-01"),
    fact(3, "Jane hates tea", status="retracted"),
    fact(4, "Jane drank tea", status="archived"),
    fact(5, "Jane will like tea", valid_from="2027-01-01"),
)


def test_the_filter(vault: Vault) -> None:
    index = index_of(
        vault,
        {
            HOME: FACTS,
            "areas/people/ravi": [fact(6, "Ravi likes tea")],
            "@finance/projects/budget": [fact(7, "tea is dear")],
        },
    )
    rows: list[tuple[FactFilter, set[int]]] = [
        (FactFilter(), {1, 4, 5}),
        (FactFilter(superseded=True), {1, 2, 3, 4, 5}),
        (FactFilter(category="preference"), {1}),
        (FactFilter(tag="drink"), {1}),
        (FactFilter(tag="DRINK"), {1}),
        (FactFilter(tag="über uns"), {1}),
        (FactFilter(tag="uns"), set()),
        (FactFilter(tag="other"), set()),
        (FactFilter(entity=HOME), {1, 4, 5}),
        (FactFilter(entity="areas/people/ravi"), {6}),
        (FactFilter(owners=("", "finance")), {1, 4, 5, 7}),
        (FactFilter(as_of="2026-04-30"), {1, 2, 4, 6}),
        (FactFilter(as_of="2026-05-01"), {1, 4, 6}),
        (FactFilter(as_of="2026-04-30T23:59:59Z"), {1, 2, 4, 6}),
        (FactFilter(as_of="2027-01-01"), {1, 4, 5, 6}),
    ]
    for wanted, expected in rows:
        if not wanted.as_of and not wanted.entity:
            expected = expected | ({6} if not wanted.category and not wanted.tag else set())
        wanted_ids = {f"fact_{number}" for number in expected}
        assert {placed.fact.id for placed in all_passing(index, wanted)} == wanted_ids
        every = [row[0] for row in index.database.execute("SELECT n FROM fact")]
        assert {
            placed.fact.id for placed in facts_in_rows(index, sorted(passing_rows(index, every, wanted))).values()
        } == wanted_ids
        with_tea = wanted_ids - {"fact_2"}
        assert set(ids(index, keyword_channel(index, ["tea"], wanted))) == with_tea
    index.close()


def test_the_keyword_channel_looks_among_those_that_pass_where_few_of_the_best_do(vault: Vault) -> None:
    many = [fact(n, f"tea number {n}") for n in range(600)]
    few = [fact(1000 + n, f"tea and other drinks of a long afternoon in town, number {n}") for n in range(30)]
    index = index_of(vault, {"projects/many": many, "projects/few": few})
    hits = keyword_channel(index, ["tea"], FactFilter(entity="projects/few"))
    assert len(hits.scores) == 30
    every = {match.n: match.score for match in index.engine.search(["tea"], 1000, thorough=True)}
    assert hits.scores == {n: every[n] for n in hits.scores}
    assert not keyword_channel(index, ["tea"], FactFilter(category="lesson")).scores
    assert len(keyword_channel(index, ["tea"], FactFilter()).scores) == CANDIDATES
    assert not keyword_channel(index, [], FactFilter()).ran
    index.close()


def test_the_predicate_channel_asks_for_subject_and_predicate(vault: Vault) -> None:
    triples = [
        fact(1, "Jane lives in Lisbon", subject="Jane", predicate="lives_in", object="Lisbon"),
        fact(2, "Ravi lives in Oslo", subject="Ravi", predicate="lives_in", object="Oslo"),
        fact(3, "Jane works at Acme", subject="Jane", predicate="works_at", object="Acme"),
        fact(4, "I live in Rome", subject="the user", predicate="lives_in", object="Rome"),
    ]
    old = [
        fact(100 + n, f"Jane lived in {n}", subject="Jane", predicate="lives_in", status="superseded")
        for n in range(250)
    ]
    index = index_of(vault, {HOME: [*old, *triples]})
    asked = predicate_channel(index, "Where does Jane live?", vault.catalog, FactFilter())
    assert ids(index, asked) == ["fact_1"], "replaced facts do not crowd out the one that stands"
    assert ids(
        index, predicate_channel(index, "Where is Jane's home? Where does jane live", vault.catalog, FactFilter())
    ) == ["fact_1"]
    assert ids(index, predicate_channel(index, "Where do I live?", vault.catalog, FactFilter())) == ["fact_4"]
    nothing = predicate_channel(index, "tea", vault.catalog, FactFilter())
    assert (nothing.ran, dict(nothing.scores)) == (False, {})
    index.close()


def test_the_time_channel_prefers_beginnings_and_what_others_found(vault: Vault) -> None:
    dated = [
        fact(1, "began", valid_from="2026-11-03"),
        fact(2, "ended", valid_from="2020-01-01", valid_to="2026-11-04"),
        fact(3, "recorded", timestamp="2026-11-05T10:00:00Z"),
        fact(4, "recorded later", timestamp="2026-12-05T10:00:00Z"),
        fact(5, "began before", valid_from="2026-10-03", timestamp="2026-11-04T00:00:00Z"),
        fact(6, "on the last day", timestamp="2026-11-08T23:00:00Z"),
    ]
    index = index_of(vault, {HOME: dated})
    week = DaySpan("2026-11-02", "2026-11-08")
    hits = time_channel(index, week, FactFilter())
    assert ids(index, hits)[0] == "fact_1"
    assert set(ids(index, hits)) == {"fact_1", "fact_2", "fact_3", "fact_6"}
    found = time_channel(index, week, FactFilter(), range(1, 7))
    assert ids(index, found)[-1] == "fact_5", "what has no end counts where it was found, and least"
    assert found.scores.keys() - hits.scores.keys() == {5}
    assert not time_channel(index, None, FactFilter()).ran
    index.close()


def test_the_time_channel_finds_what_held_all_the_time(vault: Vault) -> None:
    dated = [
        fact(1, "held", valid_from="2010-01-01", valid_to="2020-01-01"),
        fact(2, "was over", valid_from="2010-01-01", valid_to="2014-12-31"),
        fact(3, "began later", valid_from="2016-01-01", valid_to="2020-01-01"),
        fact(
            4, "replaced", valid_from="2010-01-01", valid_to="2020-01-01", status="superseded", superseded_by="fact_1"
        ),
        fact(5, "from ever", valid_to="2020-01-01"),
        fact(6, "for ever", valid_from="2010-01-01"),
        fact(7, "always"),
    ]
    index = index_of(vault, {HOME: dated})
    year = DaySpan("2015-01-01", "2015-12-31")
    assert ids(index, time_channel(index, year, FactFilter())) == ["fact_1"]
    found = time_channel(index, year, FactFilter(), range(1, 8))
    assert ids(index, found) == ["fact_1", "fact_5", "fact_6"]
    assert set(ids(index, time_channel(index, year, FactFilter(superseded=True)))) == {"fact_1", "fact_4"}
    index.close()


def test_the_filter_of_what_was_replaced_since(vault: Vault) -> None:
    old = {"status": "superseded", "superseded_by": "fact_9"}
    dated = [
        fact(1, "held", valid_from="2010-01-01", valid_to="2015-03-01", **old),
        fact(2, "was over", valid_from="2010-01-01", valid_to="2015-01-01", **old),
        fact(3, "began later", valid_from="2016-01-01", **old),
        fact(4, "from ever", valid_to="2020-01-01", **old),
        fact(9, "stands", valid_from="2015-03-01"),
    ]
    index = index_of(vault, {HOME: dated})
    wanted = FactFilter(replaced_in=DaySpan("2015-01-01", "2015-12-31"))
    assert [placed.fact.id for placed in all_passing(index, wanted)] == ["fact_1", "fact_4"]
    index.close()


def test_the_time_channel_is_bounded_and_keeps_what_others_found(vault: Vault) -> None:
    index = index_of(vault, {HOME: [fact(n, f"day {n}", valid_from="2026-11-03") for n in range(500)]})
    span = DaySpan("2026-11-01", "2026-11-30")
    assert len(time_channel(index, span, FactFilter()).scores) == CANDIDATES
    hits = time_channel(index, span, FactFilter(), found={3, 5})
    assert len(hits.scores) == CANDIDATES
    assert {3, 5} <= set(hits.scores)
    index.close()


def test_a_sketch_has_what_ordering_needs(vault: Vault) -> None:
    whole = fact(
        1,
        "Jane likes tea",
        access_count=4,
        last_accessed="2026-11-02T00:00:00Z",
        importance=0.9,
        trust="user",
        valid_to="2027-01-01",
        tags=("a",),
    )
    index = index_of(vault, {HOME: [whole]})
    ((n, sketch),) = sketches(index, [1]).items()
    assert (n, sketch.entity) == (1, HOME)
    same = ("id", "category", "timestamp", "status", "access_count", "last_accessed", "importance", "trust")
    assert [getattr(sketch.fact, key) for key in same] == [getattr(whole, key) for key in same]
    assert sketch.fact.superseded_by is None
    assert validity_end(sketch.fact) == validity_end(whole)
    index.close()
