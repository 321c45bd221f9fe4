"""A fact in words: its reason, what became of a decision, and what it rejected, whatever the record holds."""

from __future__ import annotations

from typing import Any

import pytest

from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.facts.fact_words import PERSON, labels, person_of, searched_reasons, trust_words

DECIDED = Fact("fact_00000001", "The mast becomes carbon.", "decision", "2026-11-20T08:00:00Z", "user", trust="user")
FAILED = {"outcome": "failed", "at": "2026-11-21T08:00:00Z", "note": "It\nsplit."}


@pytest.mark.parametrize(
    ("outcomes", "shown"),
    [
        ([{"outcome": "worked", "at": "2026-11-20T09:00:00Z"}, FAILED], ["failed 2026-11-21: It split"]),
        ([FAILED, {"outcome": "worked", "at": "2026-11-22T09:00:00Z", "by": "cli"}],
         ["worked 2026-11-22, reported by cli"]),
        ([{"outcome": "reverted"}], ["reverted"]),
        ([], []),
        ("failed", []),
        (["failed"], []),
    ],
)  # fmt: skip
def test_the_last_outcome_of_a_decision_is_a_label(outcomes: Any, shown: list[str]) -> None:
    assert labels(DECIDED._replace(details={"outcomes": outcomes})) == shown


def test_every_outcome_and_the_reason_of_every_link_is_searched() -> None:
    fact = DECIDED._replace(
        details={"why": "It is light.", "outcomes": [FAILED, {"outcome": "reverted"}]},
        links=(FactLink("supports", "fact_2", "the letter says so"),),
    )
    found = searched_reasons(fact)
    assert found == ["It is light.", "decision failed 2026-11-21: It split", "decision reverted", "the letter says so"]
    assert labels(fact) == ["reverted", "because It is light"]


def test_rejected_options_stand_behind_the_reason() -> None:
    options = [{"option": "steel", "why": "It rusts."}, {"option": "wood"}, "plastic"]
    fact = DECIDED._replace(details={"why": "It is light.", "alternatives": options})
    assert labels(fact) == ["because It is light", "rejected steel: It rusts", "rejected wood"]


@pytest.mark.parametrize(
    ("metadata", "trust", "person"),
    [
        ({PERSON: "Ada"}, "user", "Ada"),
        ({PERSON: "Ada"}, "agent", None),
        ({PERSON: 3}, "user", None),
        (None, "user", None),
    ],
)
def test_a_fact_of_a_person_on_record_names_the_person(metadata: Any, trust: str, person: str | None) -> None:
    fact = DECIDED._replace(metadata=metadata, trust=trust, details={"decision_makers": "Ben"})
    assert person_of(fact) == person
    assert ("Ada" in labels(fact), trust_words(fact) == "from Ada") == (person is not None,) * 2
    assert searched_reasons(fact) == ["decided by Ben"]
