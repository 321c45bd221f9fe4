"""Search in the hub, against a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from clawmem.extensions.hub.postgres.connect import connect
from clawmem.extensions.hub.postgres.organisation import named_facts
from clawmem.extensions.hub.postgres.rows import migrate
from clawmem.extensions.hub.postgres.search import (
    HubQuestion,
    enable_vectors,
    fill_vectors,
    search_facts,
    vector_type,
)
from clawmem.model.facts.catalog import Catalog, Predicate
from clawmem.model.facts.fact import Fact
from tests.extensions.hub.postgres.rows import add_facts, add_member, add_scope
from tests.extensions.hub.postgres.server import Database

Owner = psycopg.Connection[tuple[Any, ...]]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fact(name: str, statement: str, **more: object) -> Fact:
    return Fact(f"fact_{name}", statement, "fact", "2026-01-05T10:00:00Z", "user", **more)  # type: ignore[arg-type]


@pytest.fixture
def owner(database: Database) -> Iterator[Owner]:
    with connect(database.address()) as hub:
        add_scope(hub, "red", "crimson")
        add_scope(hub, "blue", "navy")
        add_member(hub, "rita", "red")
        add_member(hub, "bob", "blue")
        add_member(hub, "nora")
        hub.commit()
        yield hub


def found(database: Database, role: str, text: str, **more: object) -> list[str]:
    with connect(database.address(role)) as hub:
        return [search_fact.found.fact.id for search_fact in search_facts(hub, HubQuestion(text, NOW, **more))]  # type: ignore[arg-type]


def add(owner: Owner, vault: str, scope: str, *facts: Fact, entity: str = "areas/x") -> None:
    add_facts(owner, vault, scope, [(entity, fact) for fact in facts])
    owner.commit()


def test_facts_are_found_by_their_words_in_any_form(database: Database, owner: Owner) -> None:
    add(owner, "crimson", "red", fact("went", "Jane went to the harbour."), fact("boat", "The boat is green."))
    assert found(database, "rita", "Who goes to harbours?") == ["fact_went"]
    assert found(database, "rita", "the of and") == []
    assert found(database, "rita", "' | & ! <-> :* ()") == []


def test_only_readable_scopes_are_searched_and_counted(database: Database, owner: Owner) -> None:
    add(owner, "crimson", "red", fact("red", "The vault code word is saffron."))
    add(owner, "navy", "blue", fact("blue", "The vault code word is indigo."))
    assert found(database, "rita", "code word saffron indigo") == ["fact_red"]
    assert found(database, "bob", "code word saffron indigo") == ["fact_blue"]
    assert found(database, "nora", "code word saffron indigo") == []
    with connect(database.address("rita")) as hub:
        assert named_facts(hub, [("navy", "fact_blue")]) == []
        alone = [search_fact.score for search_fact in search_facts(hub, HubQuestion("indigo word", NOW))]
        absent = [search_fact.score for search_fact in search_facts(hub, HubQuestion("zzz word", NOW))]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            hub.execute("SELECT clawmem.word_counts('acme', '{blue}', '{indigo}', 2, 10)")
    assert alone == absent, "the score shows that another team has the word"


def test_replaced_and_withdrawn_facts_are_not_found(database: Database, owner: Owner) -> None:
    old = fact("old", "The office is in Oslo.", status="superseded", superseded_by="fact_new")
    gone = fact("gone", "The office is in Rome.", status="retracted")
    add(owner, "crimson", "red", old, gone, fact("new", "The office is in Bergen."))
    assert found(database, "rita", "Where is the office?") == ["fact_new"]
    with connect(database.address("rita")) as hub:
        (kept,) = named_facts(hub, [("crimson", "fact_old")])
    assert kept.fact.superseded_by == "fact_new" and kept.line == 1


def test_an_exact_relation_and_a_named_day_count(database: Database, owner: Owner) -> None:
    exact = fact("exact", "Jane is at home in Oslo.", subject="Jane", predicate="lives_in", object="Oslo")
    june = fact("june", "Jane saw a whale.")._replace(timestamp="2025-06-10T10:00:00Z")
    add(owner, "crimson", "red", exact, june, fact("lives", "Where a whale lives is told by its song."))
    lives = Predicate("lives_in", phrases=("live", "lives"), questions=("where does * live",))
    catalog = Catalog({"lives_in": lives})
    assert found(database, "rita", "Where does Jane live?", catalog=catalog)[0] == "fact_exact"
    assert found(database, "rita", "What was in June 2025?") == ["fact_june"]


def test_meaning_finds_what_shares_no_word(database: Database, owner: Owner) -> None:
    if not vector_type(owner):
        pytest.skip("the server has no pgvector")
    add(owner, "crimson", "red", *(fact(f"n{number}", f"Text {number}.") for number in range(30)))
    add(owner, "crimson", "red", fact("near", "A feline."))
    owner.execute("UPDATE clawmem.fact SET embedding = (%s)::public.halfvec", (vector(0),))
    owner.execute("UPDATE clawmem.fact SET embedding = (%s)::public.halfvec WHERE id = 'fact_near'", (vector(1),))
    owner.commit()
    items = [float(word) for word in vector(1)[1:-1].split(",")]
    assert found(database, "rita", "cat", vector=items)[0] == "fact_near"
    assert found(database, "bob", "cat", vector=items) == []


def test_missing_vectors_are_filled_once(database: Database, owner: Owner) -> None:
    gone = fact("gone", "Withdrawn.", status="retracted")
    add(
        owner,
        "crimson",
        "red",
        gone,
        *(fact(f"n{number}", f"Text {number}.") for number in range(70)),
        entity="areas/people/jane",
    )
    seen: list[str] = []

    def embed(text: str) -> list[float]:
        seen.append(text)
        return [1.0] * 384

    if not vector_type(owner):
        assert fill_vectors(owner, embed, 10) == 0
        return
    assert fill_vectors(owner, embed, 10) == 70
    assert fill_vectors(owner, embed, 10) == 0
    assert sorted(seen)[0] == "Jane: Text 0."
    assert owner.execute("SELECT id FROM clawmem.fact WHERE embedding IS NULL").fetchall() == [("fact_gone",)]


def vector(at: int) -> str:
    return f"[{','.join('1' if place == at else '0' for place in range(384))}]"


def test_rare_words_lead_where_common_ones_are_in_too_many(database: Database, owner: Owner) -> None:
    many = [fact(f"m{number}", f"Report {number} about budget of the team.") for number in range(60)]
    add(owner, "crimson", "red", *many, fact("rare", "The team report names a zeppelin."))
    query = "SELECT id FROM clawmem.ranked_by_words('acme', '{red}', %s, 5, 10)"
    assert owner.execute(query, (["report", "team", "zeppelin"],)).fetchall()[0] == ("fact_rare",)
    assert len(owner.execute(query, (["report", "budget"],)).fetchall()) == 5


def test_statistics_of_hidden_facts_change_no_score(database: Database, owner: Owner) -> None:
    add(owner, "crimson", "red", fact("own", "The beta release is near."))
    add(owner, "navy", "blue", *(fact(f"h{number}", "The merger with Falconwing.") for number in range(8)))
    owner.execute("ANALYZE clawmem.fact")
    owner.commit()
    with connect(database.address("rita")) as hub:
        for function in ("facts_by_words('{beta,%s}', 1)", "facts_by_words('{beta,%s}', 1, 1)"):
            seen = set()
            for word in ("merger", "falconwing", "sparrowleg"):
                try:
                    seen.add(tuple(hub.execute(f"SELECT * FROM clawmem.{function % word}").fetchall()))
                except psycopg.errors.UndefinedFunction:
                    hub.rollback()
            assert len(seen) < 2


def test_vectors_are_added_when_a_superuser_made_the_extension_later(empty_database: Database) -> None:
    server, name = empty_database
    with connect(empty_database.address()) as hub:
        migrate(hub)
        assert not enable_vectors(hub)
    with server.admin(name) as admin:
        try:
            admin.execute("CREATE EXTENSION vector")
        except psycopg.Error:
            pytest.skip("the server has no pgvector")
    with connect(empty_database.address()) as hub:
        assert enable_vectors(hub) and enable_vectors(hub) and vector_type(hub)


_ASKED = (
    "facts_by_words('{coffee coffees}', 50)",
    "facts_by_words('{coffee,budget budgets,plan}', 50)",
    "facts_by_relation('{likes}', '{jane}', 500)",
    "facts_by_time('2026-01-01', '2026-12-31', 500)",
    f"facts_by_meaning('{'[' + ','.join(['1'] * 384) + ']'}', 500)",
)


def test_rights_hold_with_a_second_level_of_partitions(database: Database, owner: Owner) -> None:
    likes: dict[str, object] = {"subject": "Jane", "predicate": "likes", "object": "coffee"}
    for number in range(12):
        scope, vault = ("red", "blue")[number % 2], f"vault{number}"
        owner.execute(
            "INSERT INTO vault (org, vault, address, scope) VALUES ('acme', %s, %s, %s)", (vault, vault, scope)
        )
        add(owner, vault, scope, *(fact(f"{vault}_{n}", f"Coffee, budget and plan {n}.", **likes) for n in range(25)))

    def answers() -> list[set[tuple[Any, ...]]]:
        with connect(database.address("rita")) as hub:
            asked = _ASKED if vector_type(hub) else _ASKED[:-1]
            found = [set(hub.execute(f"SELECT vault, id FROM clawmem.{text}").fetchall()) for text in asked]
            readable = set(hub.execute("SELECT vault, id FROM clawmem.fact").fetchall())
        assert len(readable) == 150 and all(group <= readable for group in found), [
            len(group - readable) for group in found
        ]
        return found

    if vector_type(owner):
        owner.execute("UPDATE fact SET embedding = (%s)::public.halfvec", (vector(1),))
        owner.commit()
    before = answers()
    columns = "org, vault, id, scope, scopes, entity, claim, category, subject, predicate, object, status, timestamp,"
    columns += " source, tags, author, commit, path, line, recorded_at, record"
    columns += ", embedding" if vector_type(owner) else ""
    owner.execute("ALTER TABLE fact DETACH PARTITION fact_acme")
    owner.execute("ALTER TABLE fact_acme RENAME TO whole")
    owner.execute("CREATE TABLE fact_acme PARTITION OF fact FOR VALUES IN ('acme') PARTITION BY HASH (vault)")
    for rest in range(4):
        owner.execute(
            f"CREATE TABLE fact_acme_{rest} PARTITION OF fact_acme FOR VALUES WITH (MODULUS 4, REMAINDER {rest})"
        )
    owner.execute(f"INSERT INTO fact ({columns}) SELECT {columns} FROM whole")
    owner.execute("ANALYZE fact")
    owner.commit()
    after = answers()
    assert [len(group) for group in after] == [len(group) for group in before] and min(map(len, after)) > 0
    assert after[2:4] == before[2:4] == [after[2], after[2]]
