"""A triple is read where all the words of a statement say it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.learning.relate import EntityNames, triple_of
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping
from clawmem.model.facts.fact import Fact
from clawmem.model.records.entity import Entity
from clawmem.vault.strict_yaml import parse_yaml

SHIPPED = Path(__file__).parents[3] / "vault-template" / "predicates.yaml"
ANN, SHOP, USER, DEFAULT = "areas/people/ann", "projects/webshop", "areas/people/user", "areas/general"
CALLED = EntityNames(
    [
        Entity(ANN, "Ann", ("Annie", "Ann Berg"), "person"),
        Entity("areas/people/will", "Will", (), "person"),
        Entity(USER, "User", (), "person"),
        Entity(SHOP, "Webshop", ("web shop",), "project"),
        Entity("areas/companies/acme", "Acme", (), "company"),
        Entity("projects/mercury", "Mercury", (), "project"),
        Entity("resources/mercury", "Mercury", (), "resource"),
        Entity("@finance/areas/people/bo", "Bo", (), "person"),
    ],
    DEFAULT,
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The catalog that a new vault has."""
    return catalog_from_mapping(parse_yaml(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name) or {})


def read(catalog: Catalog, statement: str, entity: str = ANN, **more: str) -> tuple[str, str, str] | None:
    fact = Fact("fact_1", statement, "fact", "2026-11-21T09:00:00Z", "user", trust="user")._replace(**more)  # type: ignore[arg-type]
    triple = triple_of(fact, entity, CALLED, catalog)
    return triple[:3] if triple else None


SAID = [
    ("Ann lives in Oslo.", "Ann", "lives_in", "Oslo"),
    ("ann lives in Oslo", "Ann", "lives_in", "Oslo"),
    ("Annie is based in New York City.", "Ann", "lives_in", "New York City"),
    ("Ann Berg is living in Rio de Janeiro", "Ann", "lives_in", "Rio de Janeiro"),
    ("Ann’s employer is Acme.", "Ann", "works_at", "Acme"),
    ("Ann works as a nurse.", "Ann", "job", "nurse"),
    ("Ann's birthday is May 3.", "Ann", "birthday", "May 3"),
    ("Ann was born on May 3, 1990.", "Ann", "birthday", "May 3, 1990"),
    ("Ann is married to Tom.", "Ann", "spouse", "Tom"),
    ("Ann's favorite color is blue.", "Ann's favourite color", "favorite", "blue"),
    ("Ann's email is ann@example.com.", "Ann", "email", "ann@example.com"),
    ("Ann is allergic to peanuts.", "Ann", "allergic_to", "peanuts"),
]


@pytest.mark.parametrize(("statement", "subject", "predicate", "value"), SAID)
def test_what_is_said_of_somebody(catalog: Catalog, statement: str, subject: str, predicate: str, value: str) -> None:
    assert read(catalog, statement) == (subject, predicate, value)


@pytest.mark.parametrize(
    "statement",
    [
        "Ann does not live in Oslo.",
        "Ann doesn’t live in Oslo.",
        "Ann no longer lives in Oslo.",
        "Ann never lived in Oslo.",
        "Ann lives in Oslo?",
        "Does Ann live in Oslo?",
        "If Ann lives in Oslo, call her.",
        "Ann lives in Oslo if the offer stands.",
        "Ann might live in Oslo.",
        "Ann would live in Oslo.",
        "Ann will live in Oslo.",
        "Ann wants to live in Oslo.",
        "Ann probably lives in Oslo.",
        "Ann lives in Oslo, I think.",
        "Ann says she lives in Oslo.",
        'Ann said: "I live in Oslo."',
        '"Ann lives in Oslo."',
        "Tom says Ann lives in Oslo.",
        "Ann lived in Oslo.",
        "Ann lived in Oslo until 2020.",
        "Ann lives in Oslo until 2027.",
        "Ann used to live in Oslo.",
        "Ann was living in Oslo.",
        "Ann moved to Bergen in 2024.",
        "Ann is moving to Bergen.",
        "Ann lives in Oslo or Paris.",
        "Ann lives in Oslo and Paris.",
        "Ann lives in Oslo (for now).",
        "Ann lives in Oslo during the week.",
        "Ann lives in Oslo half of the year.",
        "Ann lives in Oslo temporarily.",
        "Ann lives in Oslo with her husband Tom.",
        "Ann lives in Oslo and works at Acme.",
        "Ann lives in Oslo. She works at Acme.",
        "Ann lives in Oslo Mondays.",
        "Ann also lives in Oslo.",
        "Ann lives near Oslo.",
        "Ann lives outside Oslo.",
        "Ann lives at Main Street 5.",
        "Ann lives by the sea.",
        "Ann lives in fear.",
        "Ann lives in her head.",
        "Ann lives in services/ann.",
        "Ann works at night.",
        "Ann works at a bank.",
        "Ann is a student at MIT.",
        "Ann is 34 years old.",
        "Ann is mostly vegan.",
        "Ann is vegan on weekdays.",
        "Ann collects stamps and has an interest in chess.",
        "Ann loves chess and plays the piano.",
        "Ann prefers tea over coffee.",
        "Ann's deadline is Friday.",
        "Ann's sister lives in Oslo.",
        "Ann's sister Eva lives in Oslo.",
        "Tom lives in Oslo.",
        "Anna lives in Oslo.",
        "Ann and Tom live in Oslo.",
        "Ann, Tom's wife, lives in Oslo.",
        "She lives in Oslo.",
        "I live in Oslo.",
        "The user lives in Oslo.",
        "Lives in Oslo.",
        "Ann",
    ],
)
def test_what_is_not_said_for_certain_is_left_alone(catalog: Catalog, statement: str) -> None:
    assert read(catalog, statement) is None


@pytest.mark.parametrize(
    ("statement", "pair"),
    [
        ("The webshop uses Postgres.", ("the webshop", "uses", "Postgres")),
        ("Webshop uses Postgres.", ("Webshop", "uses", "Postgres")),
        ("The webshop deadline is 2026-12-01.", ("the webshop deadline", "deadline", "2026-12-01")),
        ("The webshop lives in services/webshop.", None),
        ("The webshop lives in Git.", None),
        ("The webshop likes Postgres.", None),
        ("The webshop uses Postgres, not MySQL.", None),
        ("The webshop deadline was 2026-12-01.", None),
        ("The webshop deadline might be 2026-12-01.", None),
        ("The deadline is 2026-12-01.", None),
        ("The API lives in services/api.", None),
    ],
)
def test_what_is_said_of_a_thing(catalog: Catalog, statement: str, pair: tuple[str, str, str] | None) -> None:
    assert read(catalog, statement, SHOP) == pair


@pytest.mark.parametrize(
    ("statement", "pair"),
    [
        ("I live in Oslo.", ("the user", "lives_in", "Oslo")),
        ("I'm allergic to peanuts.", ("the user", "allergic_to", "peanuts")),
        ("My name is Nora.", ("the user", "name", "Nora")),
        ("My favorite editor is vim.", ("the user's favourite editor", "favorite", "vim")),
        ("User works at Acme.", ("the user", "works_at", "Acme")),
        ("I used to live in Oslo.", None),
        ("I don't live in Oslo.", None),
        ("I moved to Bergen last week.", None),
        ("We live in Oslo.", None),
        ("My sister Ana lives in Rome.", None),
        ("The users live in Oslo.", None),
    ],
)
def test_what_the_user_says_of_themself(catalog: Catalog, statement: str, pair: tuple[str, str, str] | None) -> None:
    assert read(catalog, statement, USER) == pair


def test_an_agent_that_says_i_is_not_the_user(catalog: Catalog) -> None:
    assert read(catalog, "I live in Oslo.", USER, agent="finance") is None
    assert read(catalog, "I live in Oslo.", USER, trust="tool") is None
    assert read(catalog, "The user lives in Oslo.", USER, agent="finance") == ("the user", "lives_in", "Oslo")


def test_where_facts_stand_that_nobody_gave_a_place_any_one_known_name_will_do(catalog: Catalog) -> None:
    assert read(catalog, "Ann lives in Oslo.", DEFAULT) == ("Ann", "lives_in", "Oslo")
    assert read(catalog, "Will lives in Oslo.", DEFAULT) == ("Will", "lives_in", "Oslo")
    assert read(catalog, "The user lives in Oslo.", DEFAULT) == ("the user", "lives_in", "Oslo")
    for unsure in ("I live in Oslo.", "Bob lives in Oslo.", "Mercury uses Postgres.", "Bo lives in Oslo."):
        assert read(catalog, unsure, DEFAULT) is None
    assert read(catalog, "Mercury uses Postgres.", "projects/mercury") == ("Mercury", "uses", "Postgres")
    assert read(catalog, "Kim lives in Oslo.", "areas/people/kim") == ("Kim", "lives_in", "Oslo")


_WORDS = st.sampled_from(
    "lives in works at Oslo Acme until or not is a the and 2020 May 's I she , . \" nurse from".split()
)


@settings(max_examples=60)
@given(st.lists(_WORDS, max_size=8), st.sampled_from([ANN, SHOP, USER, DEFAULT]))
def test_whatever_the_words_a_value_is_among_them(catalog: Catalog, words: list[str], entity: str) -> None:
    statement = " ".join(["Ann", *words])
    pair = read(catalog, statement, entity)
    assert pair is None or (pair[0].startswith("Ann") and pair[2].split(",")[0] in statement)
