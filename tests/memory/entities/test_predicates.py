"""The catalog as a text: entries and phrases are added, comments stay, and nothing is taken over by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clawmem.errors import Refused
from clawmem.model.facts.catalog import Predicate, canonical_predicate, catalog_from_mapping
from clawmem.model.proposals.proposal import CatalogEntry
from clawmem.review.approval import with_catalog_entry

TEMPLATE = (Path(__file__).parents[3] / "vault-template" / "predicates.yaml").read_text(encoding="utf-8")
MENTORS = CatalogEntry(Predicate("mentors", ("coaches",), questions=("* mentors",)), 'As in "Ana mentors Leo": often.')


def more(name: str, *phrases: str) -> CatalogEntry:
    return CatalogEntry(Predicate(name, phrases), "As in an example.")


def test_a_new_predicate_goes_to_the_end_and_all_else_stays() -> None:
    text = with_catalog_entry(TEMPLATE, MENTORS)
    assert text.startswith(TEMPLATE)
    catalog = catalog_from_mapping(yaml.safe_load(text))
    described = MENTORS.predicate._replace(description=MENTORS.description)
    assert catalog.predicates["mentors"] == described
    assert canonical_predicate(catalog, "coaches") == "mentors"
    assert yaml.safe_load(text)["mentors"]["description"] == 'As in "Ana mentors Leo": often.'


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "likes:\n  phrases: [loves]", "likes:\n"])
def test_any_small_catalog_takes_an_entry(text: str) -> None:
    entry = MENTORS._replace(predicate=MENTORS.predicate._replace(single=True, replaces=True, value="person"))
    if text == "likes:\n":
        with pytest.raises(Exception, match="likes"):
            with_catalog_entry(text, entry)
        return
    result = with_catalog_entry(text, entry)
    assert result.startswith(text)
    described = entry.predicate._replace(description=entry.description)
    assert catalog_from_mapping(yaml.safe_load(result)).predicates["mentors"] == described


@pytest.mark.parametrize(
    "text",
    [
        "likes:\n  phrases: [loves, adores]  # dear\n  value: text\n# end\n",
        "likes:\n  value: text\n  phrases:\n    - loves\n    - adores\n# end\n",
        "likes:\n  phrases:\n  - loves\n  - adores\n  value: text\n",
    ],
)
def test_a_known_predicate_gets_the_phrase_it_lacks(text: str) -> None:
    result = with_catalog_entry(text, more("likes", "adores", "is mad about"))
    assert yaml.safe_load(result)["likes"]["phrases"] == ["loves", "adores", "is mad about"]
    assert [line for line in result.splitlines() if "#" in line] == [
        line.replace("adores]", 'adores, "is mad about"]') for line in text.splitlines() if "#" in line
    ]


def test_a_predicate_without_phrases_gets_its_first() -> None:
    result = with_catalog_entry("height:\n  # in cm\n  cardinality: single\n", more("height", "is as tall as"))
    assert yaml.safe_load(result)["height"] == {"phrases": ["is as tall as"], "cardinality": "single"}
    assert "# in cm" in result


def test_a_phrase_that_belongs_to_another_predicate_is_refused() -> None:
    with pytest.raises(Refused, match="'loves' belongs to the predicate 'likes'"):
        with_catalog_entry(TEMPLATE, more("adoration", "loves"))
    with pytest.raises(Refused, match="belongs to the predicate 'likes'"):
        with_catalog_entry(TEMPLATE, more("dislikes", "loves"))


def test_what_is_there_already_is_refused() -> None:
    with pytest.raises(Refused, match="already"):
        with_catalog_entry(TEMPLATE, more("likes", "loves"))


def test_a_layout_that_cannot_be_extended_is_left_alone() -> None:
    with pytest.raises(Refused, match="safely"):
        with_catalog_entry("{likes: {value: text}}\n", more("likes", "adores"))
