"""The relations of what was learned: which phrases name one, and which predicate they give."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.reconcile import (
    is_lasting,
    map_predicate,
    predicate_name,
)
from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.proposals.para import Proposition

CATALOG = catalog_from_mapping({"likes": {"phrases": ["loves", "adores"]}, "lives_with": {"value": "person"}})


@pytest.mark.parametrize(
    ("phrase", "by_rules", "by_model"),
    [
        ("mentors", True, True),
        ("teaches", True, True),
        ("has", False, False),
        ("is", False, False),
        ("went", False, True),
        ("was", False, False),
        ("used to play", False, True),
        ("shares a flat with", False, True),
        ("would like to go and see", False, False),
    ],
)
def test_which_phrases_name_a_relation(phrase: str, by_rules: bool, by_model: bool) -> None:
    assert (is_lasting(phrase, by_model=False), is_lasting(phrase, by_model=True)) == (by_rules, by_model)


def test_a_phrase_of_the_catalog_gives_its_predicate() -> None:
    proposition = Proposition(
        "Ana adores Leo.", "e", (0, 1), "x", subject="Ana", object="Leo", relation_phrase="adores"
    )
    assert map_predicate(proposition, CATALOG, by_model=False).predicate == "likes"
    assert map_predicate(proposition._replace(relation_phrase="mentors"), CATALOG, by_model=False).predicate is None
    assert map_predicate(proposition._replace(object=None), CATALOG, by_model=False).predicate is None
    assert map_predicate(proposition._replace(predicate="friend"), CATALOG, by_model=False).predicate == "friend"


def test_names_are_made_of_letters_digits_and_underscores() -> None:
    assert predicate_name("Is coached-by  ") == "is_coached_by"
