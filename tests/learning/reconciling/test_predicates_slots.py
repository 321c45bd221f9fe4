"""Which value replaces the current value of a single-valued relation, and which is kept beside it: a true fact is never
replaced by a vaguer one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clawmem.learning.reconciling.reconcile import (
    ADD,
    NOOP,
    RETRACT,
    UPDATE,
    ReconcileDecision,
    as_additional,
    drop_unfit_predicate,
    mark_change,
    reconcile,
)
from clawmem.learning.rules.rules import statements as extract
from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.event import Event

CATALOG = catalog_from_mapping(
    yaml.safe_load((Path(__file__).parents[3] / "vault-template" / "predicates.yaml").read_text(encoding="utf-8"))
)
DAY = "2026-11-{:02}T10:00:00Z"


def told(text: str, day: int = 10) -> list[Proposition]:
    event = Event("ev_1", DAY.format(day), "user", text, speaker="Mia")
    return [drop_unfit_predicate(mark_change(proposition, text)) for proposition in extract(event, CATALOG, ())]


def decided(*texts: str) -> tuple[list[str], ReconcileDecision]:
    """Return the current facts after some texts, each said one day after the other, by statement, and the last
    decision."""
    facts: dict[str, Fact] = {}
    decision = ReconcileDecision(ADD, (), "")
    for day, text in enumerate(texts, 10):
        for proposition in told(text, day):
            decision = reconcile(proposition, list(facts.values()), CATALOG)
            if decision.outcome == NOOP:
                continue
            for name in decision.targets:
                facts[name] = facts[name]._replace(status="superseded")
            proposition = as_additional(proposition) if decision.beside else proposition
            name = f"fact_{len(facts):08x}"
            facts[name] = Fact(
                name,
                proposition.statement,
                proposition.category,
                DAY.format(day),
                "events",
                subject=proposition.subject,
                predicate=proposition.predicate,
                object=proposition.object,
                relation_phrase=proposition.relation_phrase,
                valid_from=proposition.valid_from,
                metadata={"said_at": DAY.format(day)},
                source_event="ev_1",
            )
    return [fact.fact for fact in facts.values() if fact.is_current], decision


@pytest.mark.parametrize(
    "more",
    [
        "I live in a flat.",
        "I live on the third floor.",
        "I live in a small apartment with a balcony.",
        "I live in the city centre.",
        "I live in hope that things get better.",
        "I live in Norway.",
        "I live at Storgata 5.",
        "I also live in Bergen part of the year.",
        "We moved into a new house last week.",
        "I live in Oslo, my ex lives in Paris.",
    ],
)
def test_what_is_vaguer_or_besides_leaves_the_home_alone(more: str) -> None:
    standing, _ = decided("I live in Oslo.", more)
    assert "Mia lives in Oslo." in standing


@pytest.mark.parametrize(
    "more",
    [
        "I also work at Tesco on Saturdays.",
        "I work part-time at Tesco too.",
        "I work at a startup.",
        "I work at the London office.",
    ],
)
def test_what_is_vaguer_or_besides_leaves_the_employer_alone(more: str) -> None:
    standing, decision = decided("I work at Google.", more)
    assert "Mia works at Google." in standing
    assert decision.outcome == ADD


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("I live in Oslo.", "I live in Bergen.", ["Mia lives in Bergen."]),
        ("I live in a flat.", "I moved to Bergen.", ["Mia moved to Bergen."]),
        ("I live in Oslo.", "I live in Sweden now.", ["Mia lives in Sweden."]),
        ("I live in England.", "I live in Leeds, England.", ["Mia lives in Leeds, England."]),
        ("I work at Google.", "Now I also work at Tesco.", ["Mia works at Google.", "Mia works at Tesco."]),
        ("I live in Oslo.", "I also moved to Bergen.", ["Mia moved to Bergen."]),
        ("I work at a startup.", "I work at Apple now.", ["Mia works at Apple."]),
        ("I work at Google.", "I work at a school now.", ["Mia works at a school."]),
        ("I'm a nurse.", "I work as a teacher.", ["Mia works as a teacher."]),
    ],
)
def test_a_correction_wins(first: str, then: str, left: list[str]) -> None:
    assert decided(first, then)[0] == left


def test_what_was_kept_beside_ends_by_itself() -> None:
    standing, decision = decided("I work at Google.", "I also work at Tesco.", "I no longer work at Tesco.")
    assert decision.outcome == RETRACT
    assert standing == ["Mia works at Google.", "Mia no longer works at Tesco."]


@pytest.mark.parametrize(
    ("first", "then", "news"),
    [
        ("I live in Oslo.", "I no longer live in Oslo, I moved to Bergen last week.", "moved to Bergen"),
        ("I work at Boots.", "I no longer work at Boots, I started working at Lloyds Pharmacy this week.", "Lloyds"),
    ],
)
def test_the_ending_does_not_stand_against_what_comes_after_it(first: str, then: str, news: str) -> None:
    standing, decision = decided(first, then)
    assert decision.outcome == UPDATE
    assert any(news in text for text in standing)
    assert first.replace("I live", "Mia lives").replace("I work", "Mia works") not in standing


@pytest.mark.parametrize("denial", ["I'm not vegetarian on Sundays.", "I'm not vegetarian when I travel."])
def test_a_denial_for_certain_times_leaves_the_rule(denial: str) -> None:
    standing, _ = decided("I'm vegetarian.", denial)
    assert "Mia is vegetarian." in standing


@pytest.mark.parametrize(
    ("first", "denial"),
    [
        ("I am allergic to nuts.", "Turns out I'm not allergic to nuts after all."),
        ("I'm married to Tom.", "I'm not married to Tom."),
        ("I'm vegetarian.", "I'm not vegetarian any more."),
    ],
)
def test_a_plain_denial_ends_it(first: str, denial: str) -> None:
    standing, decision = decided(first, denial)
    assert decision.outcome == RETRACT
    assert len(standing) == 1
    assert " not " in standing[0]


@pytest.mark.parametrize(
    "more", ["My birthday is next week.", "My birthday is on a Friday this year.", "My phone number is private."]
)
def test_what_is_said_of_a_value_is_none(more: str) -> None:
    assert told(more) == []


@pytest.mark.parametrize(
    ("predicate", "value", "kept"),
    [
        ("birthday", "soon", None),
        ("birthday", "May 3", "birthday"),
        ("phone", "private", None),
        ("email", "a@b.c", "email"),
    ],
)
def test_a_value_has_the_form_of_its_predicate(predicate: str, value: str, kept: str | None) -> None:
    proposition = Proposition(f"Mia's {predicate} is {value}.", "ev_1", (0, 1), "x", "Mia", predicate, value)
    assert drop_unfit_predicate(proposition).predicate == kept


@pytest.mark.parametrize("text", ["My birthday is the 5th of May.", "My birthday is 5 May."])
def test_a_birthday_has_a_day(text: str) -> None:
    assert told(text)[0].predicate == "birthday"


@pytest.mark.parametrize(
    ("text", "anew"),
    [
        ("I work at Apple now.", True),
        ("Now I work at Apple.", True),
        ("I've joined Apple as a developer.", True),
        ("I work at Apple.", False),
    ],
)
def test_words_beside_a_clause_tell_of_a_change_too(text: str, anew: bool) -> None:
    assert [proposition.anew for proposition in told(text)] == [anew]
