"""What a fact is about, and so where PARA places it: a table of propositions and the entities they belong to."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.entities import EntityTitles, place, related_entities
from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import (
    HERE,
    EntityHint,
    Proposition,
    kinds_of_objects,
    named_thing,
    names_in,
    project_name,
    with_project,
)
from clawmem.model.records.event import Event

SPEAKER = EntityHint("person", "Dana", "speaker")
CATALOG = catalog_from_mapping({"works_at": {"value": "organisation"}, "works_on": {}, "likes": {}})
KNOWN = {
    "areas/people/dana": ["Dana"],
    "areas/people/ana": ["Ana"],
    "areas/companies/corvid": ["Corvid"],
    "projects/atlas": ["Atlas"],
    "areas/general": ["General"],
    "@finance/projects/budget": ["Budget"],
}
KINDS = {"tern": "project", "wren & co": "company"}


def says(subject: str, predicate: str = "likes", value: str = "tea", *about: EntityHint) -> Proposition:
    statement = f"{subject} {predicate} {value}."
    hints = (*about, SPEAKER)
    return Proposition(statement, "ev_1", (0, 1), "W", subject, predicate, value, entity_hints=hints)


PLACES = [
    (says("Dana"), "areas/people/dana", False),
    (says("Dana", "likes", "Atlas"), "areas/people/dana", False),
    # A known thing, and a part of it.
    (says("Atlas", "deadline", "2026-05-01"), "projects/atlas", False),
    (says("the Atlas launch", "deadline", "2026-05-01"), "projects/atlas", False),
    (says("Atlas's budget", "budget", "9,000"), "projects/atlas", False),
    (says("Corvid", "uses", "Go"), "areas/companies/corvid", False),
    # A fact about a person of the same kind of subject stays with the people; a common word is no area.
    (says("Ana's mother"), "areas/people/dana", False),
    (says("general relativity"), "areas/people/dana", False),
    # An agent's own entity takes no global fact.
    (says("Budget", "limit", "9"), "areas/people/dana", False),
    # By the words of a name.
    (says("Corvid Labs", "located_in", "Bergen"), "areas/companies/corvid-labs", True),
    (says("Brandt Möbel GmbH", "located_in", "Kiel"), "areas/companies/brandt-möbel-gmbh", True),
    (says("Project Heron", "uses", "Go"), "projects/heron", True),
    (says("the Heron project", "uses", "Go"), "projects/heron", True),
    (says("the data-pipeline repo", "uses", "Go"), "projects/data-pipeline", True),
    (says("our new app", "uses", "Go"), "areas/people/dana", False),
    (says("the whole project", "uses", "Go"), "areas/people/dana", False),
    # By what is known of it.
    (says("Tern", "uses", "Go"), "projects/tern", True),
    (says("Wren", "uses", "Go"), "areas/people/dana", False),
    # By the catalog: the object of `works_on` is a project.
    (says("Dana", "works_on", "Larder"), "projects/larder", True),
    (says("Dana", "works_on", "a recipe app called Larder"), "projects/larder", True),
    (says("Dana", "works_on", "a recipe app"), "areas/people/dana", False),
    (says("Dana", "works_at", "Corvid Labs"), "areas/people/dana", False),
    # By what a model says that it is about: a known entity, or a new one with its kind.
    (says("it", "uses", "Go", EntityHint("project", "projects/atlas", "about")), "projects/atlas", False),
    (says("it", "uses", "Go", EntityHint("project", "Plover", "about")), "projects/plover", True),
    (says("it", "uses", "Go", EntityHint("company", "Plover", "about")), "areas/companies/plover", True),
    (says("Redis", "limit", "9", EntityHint("tool", "Redis", "about")), "resources/redis", True),
    (says("Bergen", "is", "wet", EntityHint("place", "Bergen", "about")), "resources/bergen", True),
    (says("tides", "are", "slow", EntityHint("topic", "Tides", "about")), "resources/tides", True),
    (says("Bo", "likes", "tea", EntityHint("person", "Bo", "about")), "areas/people/dana", False),
    (says("it", "uses", "Go", EntityHint("project", "Atlas 2", "mention", "projects/atlas")), "projects/atlas", False),
    (
        says("Corvid Labs", "uses", "Go", EntityHint("company", "x", "mention", "areas/companies/corvid")),
        "areas/companies/corvid",
        False,
    ),
    (says("Heron", "", "", EntityHint("project", "Heron", "asked")), "projects/heron", True),
    # The project of the conversation.
    (says("the project", "uses", "pnpm", EntityHint("project", "shop", HERE)), "projects/shop", True),
    (says("our repo", "uses", "pnpm", EntityHint("project", "Atlas", HERE)), "projects/atlas", False),
    (says("Dana's project", "uses", "pnpm", EntityHint("project", "shop", HERE)), "projects/shop", True),
    (says("the user's team", "uses", "pnpm", EntityHint("project", "shop", HERE)), "projects/shop", True),
    (says("the staging port", "set_to", "9090", EntityHint("project", "shop", HERE)), "projects/shop", True),
    (says("prod", "uses", "node 20", EntityHint("project", "shop", HERE)), "projects/shop", True),
    (says("Dana", "likes", "tea", EntityHint("project", "shop", HERE)), "areas/people/dana", False),
    (says("the user", "likes", "tea", EntityHint("project", "shop", HERE)), "areas/people/dana", False),
    (says("the user's wife", "likes", "tea", EntityHint("project", "shop", HERE)), "areas/people/dana", False),
    (says("Dana's favourite tea", "is", "Assam", EntityHint("project", "shop", HERE)), "areas/people/dana", False),
    (says("the staging port", "set_to", "9090"), "areas/people/dana", False),
    (says("the project", "uses", "pnpm"), "areas/people/dana", False),
]


@pytest.mark.parametrize(
    ("proposition", "entity", "create"), PLACES, ids=lambda other: getattr(other, "statement", None)
)
def test_a_fact_goes_to_what_it_is_about(proposition: Proposition, entity: str, create: bool) -> None:
    placement = place(proposition, EntityTitles(KNOWN), kinds=lambda: KINDS)
    assert (placement.entity, placement.create) == (entity, create), placement.reason
    assert placement.reason


def test_a_person_who_is_close_gets_a_page_by_what_a_model_says() -> None:
    about = says("Bo", "likes", "tea", EntityHint("person", "Bo", "about"))
    placement = place(about, EntityTitles(KNOWN), {"bo": 3})
    assert (placement.entity, placement.create) == ("areas/people/bo", True)


def test_a_fact_names_the_other_entities_that_it_mentions() -> None:
    titles = EntityTitles(KNOWN)
    fact = says("Atlas", "colleague", "Ana of Corvid and the Budget team")
    assert related_entities(fact, "projects/atlas", titles) == (
        "areas/people/ana",
        "areas/companies/corvid",
        "areas/people/dana",
    )
    assert related_entities(says("Dana"), "areas/people/dana", titles) == ()


def test_the_kinds_of_the_things_that_facts_name() -> None:
    fact = Fact("fact_00000001", "Words.", "fact", "2026-01-01T00:00:00Z", "test", subject="Dana")
    items = [
        fact._replace(predicate="works_at", object="Corvid Labs"),
        fact._replace(predicate="works_at", object="a bakery"),
        fact._replace(predicate="works_on", object="an app called Larder"),
        fact._replace(predicate="works_on", object="a book"),
        fact._replace(predicate="likes", object="Abba"),
        fact._replace(predicate="works_at", object="Gone", status="superseded"),
    ]
    assert kinds_of_objects(items, CATALOG) == {"corvid labs": "company", "larder": "project"}


NAMED = [
    ("Corvid Labs", ("company", "Corvid Labs")),
    ("Corvid Labs' office", ("company", "Corvid Labs")),
    ("the labs", None),
    ("Labs", None),
    ("Project Atlas", ("project", "Atlas")),
    ("project management", None),
    ("the Atlas codebase", ("project", "Atlas")),
    ("my app", None),
    ("new Atlas app", None),
]


@pytest.mark.parametrize(("text", "named"), NAMED)
def test_what_a_name_says_by_its_words(text: str, named: tuple[str, str] | None) -> None:
    found = named_thing(text)
    assert (found and (found.kind, found.title)) == named


def test_the_name_of_a_project() -> None:
    assert project_name("the Atlas repo") == "Atlas"
    assert project_name("Larder") == "Larder"
    assert project_name("a game") is None


def test_the_names_in_a_text() -> None:
    found = list(names_in("The user met Ana Berg's team at Corvid."))
    assert found == ["ana berg", "ana", "berg", "corvid"]


def test_what_a_team_does_belongs_to_its_project() -> None:
    here = EntityHint("project", "shop", HERE)
    decided = says("the user", "decided", "pnpm", here)._replace(statement="The user's team decided on pnpm.")
    assert place(decided, EntityTitles(KNOWN)).entity == "projects/shop"
    alone = decided._replace(entity_hints=(SPEAKER,))
    assert place(alone, EntityTitles(KNOWN)).entity == "areas/people/dana"


def test_the_project_of_an_event_comes_with_its_propositions() -> None:
    event = Event("ev_1", "2026-11-20T08:00:00Z", "user", "We use pnpm.", metadata={"project": "shop"})
    assert with_project(says("Dana"), event).entity_hints == (SPEAKER, EntityHint("project", "shop", HERE))
    for metadata in (None, {}, {"project": " "}, {"project": 3}):
        assert with_project(says("Dana"), event._replace(metadata=metadata)) == says("Dana")
