"""Where a fact goes."""

from __future__ import annotations

import pytest

from clawmem.learning.entities import Titles, place
from clawmem.model.proposition import Hint, Proposition

KNOWN = {"areas/people/ana": ["Ana", "Annie"], "projects/atlas": ["Atlas"]}


def about(*hints: Hint) -> Proposition:
    return Proposition("Words.", "ev_1", (0, 1), "W", entity_hints=hints)


CASES = [
    (about(Hint("person", "Ana")), "areas/people/ana", False),
    (about(Hint("person", "annie")), "areas/people/ana", False),
    (about(Hint("project", "Atlas")), "projects/atlas", False),
    (about(Hint("person", "Dana", "speaker")), "areas/people/dana", True),
    (about(Hint("person", "User", "speaker")), "areas/people/user", True),
    (about(Hint("person", "Bo", "relation")), "areas/people/bo", True),
    (about(Hint("company", "Corvid Labs", "work")), "areas/companies/corvid-labs", True),
    (about(Hint("resource", "Sourdough", "asked")), "resources/sourdough", True),
    (about(Hint("person", "Tom")), None, False),
    (about(Hint("person", "Kim")), "areas/people/kim", True),
    (about(Hint("person", "Tom"), Hint("person", "Dana", "speaker")), "areas/people/dana", True),
    (about(Hint("person", "!!!", "speaker")), None, False),
    (about(), None, False),
]


@pytest.mark.parametrize(("proposition", "entity", "create"), CASES)
def test_the_entity_a_fact_goes_to(proposition: Proposition, entity: str | None, create: bool) -> None:
    placement = place(proposition, Titles(KNOWN), {"kim": 3, "tom": 2})
    assert (placement.entity, placement.create) == (entity, create)
    assert placement.reason
