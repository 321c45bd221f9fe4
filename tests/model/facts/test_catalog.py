"""The predicate catalog: read from plain data, written back, asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clawmem.errors import InvalidInput
from clawmem.model.facts.catalog import (
    Catalog,
    canonical_predicate,
    catalog_from_mapping,
    is_replaced,
    is_single,
    other_words,
    predicates_asked,
)

SHIPPED = Path(__file__).parents[3] / "vault-template" / "predicates.yaml"
SMALL = {
    "lives_in": {
        "phrases": ["resides in", "home city"],
        "value": "place",
        "cardinality": "single",
        "replaces": True,
        "questions": ["where * live|lives"],
    },
    "likes": {"phrases": ["is fond of"]},
}


def shipped() -> Catalog:
    return catalog_from_mapping(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))


def test_a_phrase_names_its_predicate_whatever_its_case() -> None:
    catalog = catalog_from_mapping(SMALL)
    assert canonical_predicate(catalog, "Resides  In") == "lives_in"
    assert canonical_predicate(catalog, "lives_in") == "lives_in"
    assert canonical_predicate(catalog, "lives in") == "lives_in"
    assert canonical_predicate(catalog, "is fond of") == "likes"
    assert canonical_predicate(catalog, "eats") is None


def test_cardinality_and_replacement_default_to_many_and_keep() -> None:
    catalog = catalog_from_mapping(SMALL)
    assert is_single(catalog, "lives_in")
    assert is_replaced(catalog, "lives_in")
    assert not is_single(catalog, "likes")
    assert not is_replaced(catalog, "likes")
    assert not is_single(catalog, "unknown")
    assert not is_single(catalog, None)


QUESTIONS = [
    ("Where does Melanie live?", "lives_in"),
    ("Which city does he live in?", "lives_in"),
    ("where do I work", "works_at"),
    ("What is Jane's job?", "job"),
    ("what does she do for a living?", "job"),
    ("Who is John married to?", "spouse"),
    ("What's my wife's name?", "spouse"),
    ("what is the name of my dog?", "pet"),
    ("When is Priya's birthday?", "birthday"),
    ("How old is Sam?", "age"),
    ("Am I allergic to anything?", "allergic_to"),
    ("Do I have any allergies?", "allergic_to"),
    ("What languages does Ana speak?", "speaks"),
    ("When is the deadline?", "deadline"),
    ("Which database do we use?", "uses"),
    ("Why did we decide on Redis?", "decided"),
    ("What is Caroline's relationship status?", "marital_status"),
    ("What is my favourite colour?", "favorite"),
    ("Where is Tom from?", "from"),
]


@pytest.mark.parametrize(("question", "predicate"), QUESTIONS)
def test_the_shipped_catalog_knows_what_a_question_asks_for(question: str, predicate: str) -> None:
    assert predicate in predicates_asked(shipped(), question)


@pytest.mark.parametrize("question", ["", "Hello there", "Tell me a story about dragons.", "?"])
def test_other_talk_asks_for_nothing(question: str) -> None:
    assert predicates_asked(shipped(), question) == ()


def test_words_without_a_gap_must_be_neighbours() -> None:
    catalog = catalog_from_mapping({"age": {"questions": ["how old"]}})
    assert predicates_asked(catalog, "How old is he?") == ("age",)
    assert predicates_asked(catalog, "How is the old man?") == ()


def test_a_word_that_asks_for_a_predicate_stands_for_its_names() -> None:
    due = other_words(shipped(), "when is the report due?")
    assert "deadline" in due["due"] and "release date" in due["due"] and due.keys() == {"due"}
    assert other_words(shipped(), "is the rent due?") == {}
    # A name of common words alone, such as `name`, is in too many texts.
    assert all("name" not in names for names in other_words(shipped(), "what is the dog called?").values())


def test_a_long_question_takes_little_time() -> None:
    assert predicates_asked(shipped(), "where what which how " * 2_000) == ()


BROKEN: list[tuple[Any, str]] = [
    ([], "map predicate names"),
    ({"Lives In": {}}, "Lives In"),
    ({"lives_in": "x"}, "lives_in"),
    ({"lives_in": {"cardinality": "two"}}, "lives_in"),
    ({"lives_in": {"value": "colour"}}, "lives_in"),
    ({"lives_in": {"phrases": "resides"}}, "lives_in"),
    ({"lives_in": {"phrases": [1]}}, "lives_in"),
    ({"lives_in": {"replaces": "yes"}}, "lives_in"),
    ({"lives_in": {"replaces": True}}, "cardinality: single"),
    ({"lives_in": {"colour": 1}}, "colour"),
    ({"lives_in": {"phrases": ["has"]}, "owns": {"phrases": ["Has"]}}, "'Has' belongs"),
    ({3: {}}, "3"),
]


@pytest.mark.parametrize(("mapping", "words"), BROKEN)
def test_a_wrong_entry_is_named(mapping: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        catalog_from_mapping(mapping)
    assert words in problem.value.message


def test_every_shipped_predicate_has_a_description_and_no_unknown_key() -> None:
    entries = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    assert all(entry.get("description") for entry in entries.values())
    assert len(shipped().predicates) == len(entries) > 40


def test_importing_it_does_not_import_yaml() -> None:
    code = "import sys, clawmem.model.facts.catalog; sys.exit('yaml' in sys.modules or 'dataclasses' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
