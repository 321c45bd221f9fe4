"""Relations that are not in the catalog: which are frequent enough for a proposal, and its contents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clawmem.index.refresh.refresh import open_index
from clawmem.index.tables.store import Index
from clawmem.learning.reconciling.predicates import (
    UnknownPredicates,
    describe_entry,
    entry_key,
    is_lasting,
    map_predicate,
    predicate_entry,
    predicate_name,
)
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

CATALOG = catalog_from_mapping({"likes": {"phrases": ["loves", "adores"]}, "lives_with": {"value": "person"}})


def fact(number: int, phrase: str, predicate: str | None = None, subject: str = "", value: str = "") -> Fact:
    who, what = subject or f"Ana {number}", value or f"Leo {number}"
    return Fact(
        f"fact_{number:08x}", f"{who} {phrase} {what}.", "fact", "2026-11-01T00:00:00Z", "chat",
        subject=who, predicate=predicate, object=what, relation_phrase=phrase,
    )  # fmt: skip


def mentors(*numbers: int, **more: str) -> list[Fact]:
    return [fact(number, "mentors", **more) for number in numbers]


@pytest.fixture
def index(vault: Vault) -> Iterator[Index]:
    opened = open_index(vault)
    yield opened
    opened.close()


def met(facts: list[Fact], by_model: bool = False, catalog: Catalog = CATALOG) -> UnknownPredicates:
    unknown = UnknownPredicates(catalog)
    for fact in facts:
        unknown.add(fact, by_model)
    return unknown


def test_a_verb_of_three_facts_is_proposed(index: Index) -> None:
    ((entry, newest, count),) = met(mentors(1, 2, 3)).entries(index)
    assert (entry.predicate.name, entry.predicate.questions, count) == ("mentors", ("* mentors",), 3)
    assert newest.id == "fact_00000003"
    assert entry.description == 'As in "Ana 3 mentors Leo 3".'
    assert met(mentors(1, 2)).entries(index) == []
    assert met([*mentors(1, 2), mentors(2)[0]]).entries(index) == [], "the same statement twice is one"


def test_facts_learned_before_count(vault: Vault, caller: Caller) -> None:
    remember(vault, [Draft(mentor) for mentor in mentors(1, 2)], caller)
    opened = open_index(vault)
    try:
        ((_, _, count),) = met(mentors(3)).entries(opened)
    finally:
        opened.close()
    assert count == 3


def test_one_value_is_guessed_only_where_each_subject_has_one() -> None:
    five = mentors(1, 2, 3, 4, 5)
    assert predicate_entry("mentors", five).predicate.single
    assert not predicate_entry("mentors", five[:4]).predicate.single
    assert not predicate_entry("mentors", [*five, fact(6, "mentors", None, "Ana 1", "Kim")]).predicate.single
    assert not predicate_entry("mentors", five).predicate.replaces, "to retire facts takes a person"


def test_a_name_that_an_extractor_gave_keeps_its_phrases(index: Index) -> None:
    facts = [fact(number, "is coached by", "coached_by") for number in (1, 2, 3)]
    ((entry, _, _),) = met(facts, by_model=True).entries(index)
    assert (entry.predicate.name, entry.predicate.phrases) == ("coached_by", ("is coached by",))
    assert entry.predicate.questions == ("* coached by", "* is coached by")
    odd = [other_fact._replace(predicate="Coached By") for other_fact in facts]
    assert met(odd, by_model=True).entries(index) == []


def test_a_models_phrase_for_a_known_predicate_is_proposed_for_it(index: Index) -> None:
    facts = [fact(number, "shares a flat with", "lives_with") for number in (1, 2, 3)]
    ((entry, _, _),) = met(facts, by_model=True).entries(index)
    assert (entry.predicate.name, entry.predicate.phrases) == ("lives_with", ("shares a flat with",))
    assert describe_entry(entry, CATALOG) == "Add the phrase 'shares a flat with' to the relation 'lives_with'."
    assert entry_key(entry) == ("lives_with", "shares a flat with")
    assert met(facts).entries(index) == [], "the rules' verbs say nothing about predicates"


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
