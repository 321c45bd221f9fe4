"""The words of a person for a fact that has none of them: by a year or a former value; by meaning it is only named."""

from __future__ import annotations

import pytest

from tests.conftest import Command
from tests.memory.facts.test_targets import stored
from tests.needs import needs_local_model

pytestmark = [needs_local_model, pytest.mark.usefixtures("unrelated_known")]


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (("From 2018 to 2021 we lived in Tampere.", "We have lived in Turku since 2021."), "where we lived in 2020"),
        (("We lived in Oulu until 2018.", "From 2018 to 2021 we lived in Tampere."), "where we lived in 2015"),
    ],
)
def test_the_state_of_a_year_goes_alone(clawmem: Command, facts: tuple[str, ...], says: str) -> None:
    for fact in facts:
        clawmem("remember", fact)
    result = clawmem("forget", says, "--yes")
    assert result.code == 0, result.err
    assert stored(clawmem) == sorted(facts[1:])


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (("Dana is tall.", "I have a boat.", "Dana likes tea."), "how old Dana is"),
        (("Nadia works at Brightwell.", "Nadia has a job at Kestrel."), "Nadia's profession"),
        (("Kofi sails.", "Kofi lives by the port."), "Kofi's religion"),
        (("The shed has a rent of 310 euros.", "Ylva sings bass.", "Bea keeps bees."), "the harbour"),
        (("My father has Parkinson's.", "My mother swims."), "my mother's illness"),
        (("Ylva Storm paints.", "Ylva Storm sings."), "Ylva's caffeine habit"),
        (("We lived in Oulu until 2018.", "We have lived in Turku since 2021."), "where we lived in 2020"),
        (("Ekaterina works at the observatory.", "Katarina works at the town hall."), "работа Екатерины"),
        (
            ("Jane's old flat was in Rome until 2010.", "Tom worked at Siemens from 2015 to 2018."),
            "Jane's wedding in 2009",
        ),
    ],
)
def test_what_is_not_clearly_meant_stays(clawmem: Command, facts: tuple[str, ...], says: str) -> None:
    for fact in facts:
        clawmem("remember", fact)
    assert clawmem("forget", says, "--yes").code == 1
    assert stored(clawmem) == sorted(facts)


def test_words_of_a_replaced_statement_name_what_replaced_it(clawmem: Command) -> None:
    clawmem("remember", "Marta's gym is FitBox in Malmö.")
    for new in ("Marta trains at Kraftwerk.", "Marta trains at Nordic Climb."):
        assert clawmem("supersede", "Marta's gym", new).code == 0
        assert stored(clawmem) == [new]
    assert clawmem("retract", "FitBox in Malmö").code == 1
    assert clawmem("forget", "Marta's gym", "--yes").code == 0
    assert stored(clawmem) == []


def test_a_state_of_a_year_goes_without_what_it_replaced(clawmem: Command) -> None:
    clawmem("remember", "We live in Oulu.", "--valid-from", "2010")
    clawmem("supersede", "We live in Oulu", "We live in Tampere.", "--valid-from", "2018")
    clawmem("supersede", "We live in Tampere", "We live in Turku.", "--valid-from", "2021")
    result = clawmem("forget", "where we lived in 2019", "--yes")
    assert result.code == 0, result.err
    left = clawmem("list", "--include-superseded", "--json").data["facts"]
    assert {fact["fact"] for fact in left} == {"We live in Oulu.", "We live in Turku."}
    assert clawmem("doctor").code == 0


def test_what_is_near_in_meaning_is_named_and_stays(clawmem: Command) -> None:
    facts = ("Never deploy on a Friday.", "The staging database is PostgreSQL 15.")
    for fact in facts:
        clawmem("remember", fact)
    clawmem("heartbeat")
    for words in (("retract", "the production database"), ("supersede", "the production database", "It is MySQL 8.")):
        result = clawmem(*words)
        assert result.code == 1 and "Near in meaning: fact_" in result.err and facts[1] in result.err
    result = clawmem("forget", "the production database", "--yes")
    assert result.code == 1 and facts[1] in result.err
    assert stored(clawmem) == sorted(facts)


def test_what_replaced_a_fact_of_another_stays(clawmem: Command) -> None:
    clawmem("remember", "My sister's dog is called Rex.")
    clawmem("supersede", "My sister's dog is called Rex.", "My sister's dog is called Max.")
    clawmem("remember", "I have a dog called Bello.")
    assert clawmem("forget", "my dog", "--yes").code == 0
    assert stored(clawmem) == ["My sister's dog is called Max."]
