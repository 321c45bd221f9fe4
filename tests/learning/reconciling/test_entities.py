"""Where a fact goes."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.entities import EntityTitles, close_people, place
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import EntityHint, Proposition

KNOWN = {"areas/people/ana": ["Ana", "Annie"], "projects/atlas": ["Atlas"]}


def about(*hints: EntityHint) -> Proposition:
    return Proposition("Words.", "ev_1", (0, 1), "W", entity_hints=hints)


CASES = [
    (about(EntityHint("person", "Ana")), "areas/people/ana", False),
    (about(EntityHint("person", "annie")), "areas/people/ana", False),
    (about(EntityHint("project", "Atlas")), "projects/atlas", False),
    (about(EntityHint("person", "Dana", "speaker")), "areas/people/dana", True),
    (about(EntityHint("person", "User", "speaker")), "areas/people/user", True),
    (about(EntityHint("person", "Bo", "relation")), "areas/people/bo", True),
    (about(EntityHint("company", "Corvid Labs", "work")), "areas/companies/corvid-labs", True),
    (about(EntityHint("resource", "Sourdough", "asked")), "resources/sourdough", True),
    (about(EntityHint("person", "Tom")), None, False),
    (about(EntityHint("person", "Kim")), "areas/people/kim", True),
    (about(EntityHint("person", "Tom"), EntityHint("person", "Dana", "speaker")), "areas/people/dana", True),
    (about(EntityHint("person", "!!!", "speaker")), None, False),
    (about(), None, False),
]


@pytest.mark.parametrize(("proposition", "entity", "create"), CASES)
def test_the_entity_a_fact_goes_to(proposition: Proposition, entity: str | None, create: bool) -> None:
    placement = place(proposition, EntityTitles(KNOWN), {"kim": 3, "tom": 2})
    assert (placement.entity, placement.create) == (entity, create)
    assert placement.reason


def fact(subject: str, predicate: str, value: str, phrase: str | None = None) -> Fact:
    message = Fact("fact_00000001", "Words.", "relationship", "2026-01-01T00:00:00Z", "test")
    return message._replace(subject=subject, predicate=predicate, object=value, relation_phrase=phrase)


CLOSE = [
    (fact("Dana", "child", "Lina", "has a daughter"), {"lina": "Lina"}),
    (fact("Dana", "child", "two daughters named Lina and Maren", "have"), {"lina": "Lina", "maren": "Maren"}),
    (fact("the user's husband", "name", "Bo Lund"), {"bo": "Bo Lund", "bo lund": "Bo Lund"}),
    (fact("Dana's boss", "name", "Eva"), {"eva": "Eva"}),
    (fact("Dana", "child", "two kids", "have"), {}),
    (fact("Dana", "pet", "Rex", "has a dog"), {}),
    (fact("Dana's dog", "name", "Rex"), {}),
    (fact("Dana", "name", "Dana Whitfield"), {}),
    (fact("Dana", "likes", "Abba", "love"), {}),
    (fact("Dana", "child", "Lina", "has a daughter")._replace(status="superseded"), {}),
]


@pytest.mark.parametrize(("fact", "close"), CLOSE)
def test_who_is_close(fact: Fact, close: dict[str, str]) -> None:
    assert close_people([fact]) == close


def test_two_of_one_first_name_go_by_their_whole_names() -> None:
    both = [fact("Dana", "friend", "Bo Lund", "has a friend"), fact("Dana", "friend", "Bo Berg", "has a friend")]
    assert close_people(both) == {"bo lund": "Bo Lund", "bo berg": "Bo Berg"}


def test_the_husband_of_a_sister_is_not_the_speakers_own_relation() -> None:
    items = [fact("Dana", "sibling", "Ana", "has a sister"), fact("Ana's husband", "name", "Bo")]
    assert close_people(items) == {"ana": "Ana"}


def test_somebody_close_gets_an_entity_by_their_whole_name() -> None:
    placement = place(about(EntityHint("person", "Bo")), EntityTitles(KNOWN), relations=lambda: {"bo": "Bo Lund"})
    assert (placement.entity, placement.create, placement.title) == ("areas/people/bo-lund", True, "Bo Lund")
    known = EntityTitles({"areas/people/bo-lund": ["Bo Lund"]})
    assert (
        place(about(EntityHint("person", "Bo")), known, relations=lambda: {"bo": "Bo Lund"}).entity
        == "areas/people/bo-lund"
    )


def test_an_allergy_is_never_only_noted() -> None:
    proposition = about(EntityHint("person", "Sven"))
    assert place(proposition, EntityTitles(KNOWN)).entity is None
    assert place(proposition._replace(predicate="allergic_to"), EntityTitles(KNOWN)).entity == "areas/people/sven"
