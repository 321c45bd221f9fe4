"""The words of a person for a fact: by its kind, in another spelling, or for a part of it; never two at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from clawmem.errors import AmbiguousId, NotFound
from clawmem.memory.facts.forget import forget
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def stored(clawmem: Command) -> list[str]:
    """Return the current statements."""
    return sorted(fact["fact"] for fact in clawmem("list", "--json").data["facts"])


def keep(vault: Vault, caller: Caller, facts: Iterable[str]) -> None:
    """Remember facts, in one go."""
    remember(vault, [draft_from_record({"fact": fact}, caller.now) for fact in facts], caller)


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (("Nadia is employed by Brightwell.", "Nadia plays the cello."), "Nadia's job"),
        (("Dana is 34 years old.", "Dana is tall."), "how old Dana is"),
        (("I live in Porto.", "My sister lives in Lyon."), "where I live"),
        (("Rosa drives a Volvo.", "Rosa owns a bicycle."), "her car"),
        (("I go jogging at six.", "I read novels at night."), "my exercise habit"),
        (("I have a beagle.", "I have a cat."), "my dog"),
        (("I have a beagle.", "I have a cat."), "I no longer have a dog"),
        (("Ich wohne in Hanau.", "Ich habe einen Garten."), "where I live"),
        (("I live in Hanau.", "I have a garden."), "mein Wohnort"),
        (("Dana lives in Oslo.", "Dana is tall."), "Dana's address"),
        (("José Muñoz pays the rent.", "Josefa Muniz pays the power."), "Jose Munoz"),
        (("Vera's number is +49 151 2345678.", "Udo's number is +49 151 2345679."), "0151-2345678"),
        (("My mother died in 2019.", "My father lives in Cork."), "the death of my mom"),
    ],
)
def test_words_name_a_fact_by_what_it_says(vault: Vault, caller: Caller, facts: tuple[str, str], says: str) -> None:
    keep(vault, caller, facts)
    found, _ = forget(vault, says, caller, dry_run=True)
    assert [placed.fact.fact for placed in found.facts] == [facts[0]]
    assert retract(vault, says, caller).facts[0].fact.fact == facts[0]


@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("Алексей работает в банке.", "Aleksei"),
        ("タナカさんは東京に住んでいます。", "Tanaka"),
        ("Γιάννης Παπαδόπουλος repairs the boiler.", "Yannis Papadopoulos"),
    ],
)
def test_a_name_in_another_script_is_forgotten(clawmem: Command, fact: str, says: str) -> None:
    clawmem("remember", fact)
    clawmem("remember", "Марина работает в школе.")
    assert clawmem("forget", says, "--yes").code == 0
    assert stored(clawmem) == ["Марина работает в школе."]


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (("Dana is tall.", "I have a boat."), "Dana's address"),
        (("Dana is tall.", "I have a boat."), "how old Dana is"),
        (("Nadia works at Brightwell.", "Nadia has a job at Kestrel."), "Nadia's profession"),
        (("The monday call is short.", "I have a boat."), "the tuesday call"),
        (("My red bicycle is in the shed.", "I have a boat."), "my blue bicycle"),
        (("I have a cat.", "I have a boat."), "my dog"),
        (("My sister's dog is Rex.", "I have a boat."), "my puppy"),
        (("Ylva Storm works at the mill.", "Ylva Storm sings."), "Ylva's profession"),
        (("Nadia works at Brightwell.", "Omar likes tea."), "my job"),
    ],
)
def test_what_fits_nothing_or_several_changes_nothing(
    vault: Vault, caller: Caller, facts: tuple[str, str], says: str
) -> None:
    keep(vault, caller, facts)
    for act in (forget, retract):
        with pytest.raises((NotFound, AmbiguousId)) as refused:
            act(vault, says, caller)
        if "job" in facts[1]:
            assert all(f"({fact})" in refused.value.hint for fact in facts)


def test_a_part_of_a_sentence_changes_and_the_rest_stays(clawmem: Command) -> None:
    clawmem("remember", "Lena works at Fjord and lives in Bergen.")
    assert clawmem("supersede", "where Lena lives", "Lena lives in Stavanger.").code == 0
    assert stored(clawmem) == ["Lena lives in Stavanger.", "Lena works at Fjord."]
    assert clawmem("doctor").code == 0
    assert clawmem("undo").code == 0
    assert stored(clawmem) == ["Lena works at Fjord and lives in Bergen."]
    assert clawmem("retract", "where Lena lives").code == 0
    assert stored(clawmem) == ["Lena works at Fjord."]
    assert clawmem("undo").code == 0
    whole = "Lena works at Fjord and lives in Tromsø."
    assert clawmem("supersede", "where Lena lives", whole).code == 0
    assert stored(clawmem) == [whole]
    assert clawmem("forget", whole, "--yes").code == 0
    assert stored(clawmem) == []


@pytest.mark.parametrize("options", [("--yes",), ("--everywhere", "--yes")])
def test_a_part_of_a_sentence_is_forgotten_and_the_rest_stays(
    clawmem: Command, vault_root: Path, options: tuple[str, ...]
) -> None:
    clawmem("remember", "Lena works at Fjord and lives in Bergen.")
    result = clawmem("forget", "Lena's address", *options)
    assert result.code == 0, result.err
    assert stored(clawmem) == ["Lena works at Fjord."]
    assert clawmem("doctor").code == 0
    if "--everywhere" in options:
        assert "Bergen" not in (vault_root / "life/areas/general/items.json").read_text()


def test_all_of_a_kind_and_what_it_replaced_goes(clawmem: Command) -> None:
    for fact in ("Wim has a Garmin watch.", "Wim has a printer.", "Wim hates mushrooms.", "Ute has a laptop."):
        clawmem("remember", fact)
    clawmem("supersede", "Wim has a printer", "Wim has a scanner.")
    shown = clawmem("forget", "everything about Wim's devices", "--yes")
    assert shown.out.count("fact_") == 3
    assert stored(clawmem) == ["Ute has a laptop.", "Wim hates mushrooms."]


def test_another_spelling_that_is_left_is_named(clawmem: Command) -> None:
    clawmem("remember", "José pays the rent.")
    clawmem("remember", "Jose has the keys.")
    clawmem("remember", "Josef has a boat.")
    assert "and left: José\n" in clawmem("forget", "Jose", "--yes").err


@pytest.mark.parametrize("words", ["that I am allergic to penicillin", "my penicillin allergy"])
def test_the_last_thing_of_a_list_goes_alone(clawmem: Command, words: str) -> None:
    clawmem("remember", "I am allergic to peanuts and penicillin.")
    assert clawmem("forget", words, "--yes").code == 0
    assert [fact["fact"] for fact in clawmem("list", "--json").data["facts"]] == ["I am allergic to peanuts."]
