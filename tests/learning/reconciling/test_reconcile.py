"""Reconciling: the right fact is retired, and no bystander."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clawmem.learning.reconciling.reconcile import (
    ADD,
    MERGE,
    NOOP,
    RETRACT,
    UPDATE,
    given_up,
    reconcile,
    reconcile_named,
    with_rule_replaced,
)
from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.proposals.para import FactChange, Proposition

CATALOG = catalog_from_mapping(
    yaml.safe_load((Path(__file__).parents[3] / "vault-template" / "predicates.yaml").read_text(encoding="utf-8"))
)


def fact(name: str, subject: str, predicate: str, value: str, valid_from: str | None = None, said: str = "") -> Fact:
    words = f"{subject} {predicate.replace('_', ' ')} {value}."
    return Fact(
        f"fact_{name}",
        words,
        "fact",
        "2024-01-01T00:00:00Z",
        "events",
        subject=subject,
        predicate=predicate,
        object=value,
        valid_from=valid_from,
        metadata={"said_at": said} if said else None,
    )


def news(subject: str, predicate: str | None, value: str, **more: object) -> Proposition:
    words = f"{subject} {predicate or 'did'} {value}, it was told."
    fields: dict[str, object] = {"subject": subject, "predicate": predicate, "object": value, **more}
    return Proposition(words, "ev_1", (0, 1), "x")._replace(**fields)  # type: ignore[arg-type]


HOME = fact("00000001", "Dana", "lives_in", "Leeds", "2023-01-01")
JOB = fact("00000002", "Dana", "works_at", "Corvid Labs")
OTHER_HOME = fact("00000003", "Lee", "lives_in", "Leeds")
TEA = fact("00000004", "Dana", "likes", "tea")
ALLERGY = fact("00000005", "Dana", "allergic_to", "peanuts")
BORN = fact("00000006", "Dana", "born_in", "Oslo")
ALL = (HOME, JOB, OTHER_HOME, TEA, ALLERGY, BORN)

CASES = [
    (news("Dana", "lives_in", "Porto"), UPDATE, [HOME]),
    (news("dana", "lives_in", "Porto", valid_from="2024-02-01"), UPDATE, [HOME]),
    (news("Dana", "works_at", "Ravensburger"), UPDATE, [JOB]),
    (news("Dana", "lives_in", "leeds"), NOOP, [HOME]),
    (news("Dana", "lives_in", "Porto", valid_from="2020-05-01"), NOOP, [HOME]),
    (news("Dana", "likes", "coffee"), ADD, []),
    (news("Dana", "likes", "tea"), NOOP, [TEA]),
    (news("Dana", "likes", "tea with milk"), MERGE, [TEA]),
    (news("Dana", "likes", "teaching"), ADD, []),
    (news("Dana", "allergic_to", "peanuts", ended=True), RETRACT, [ALLERGY]),
    (news("Dana", "allergic_to", "cats", ended=True), ADD, []),
    (news("Dana", "works_at", "Corvid Labs", ended=True), RETRACT, [JOB]),
    (news("Dana", "works_at", "Another Place", ended=True), ADD, []),
    (news("Lee", "works_at", "Corvid Labs", ended=True), ADD, []),
    (news("Ana", "lives_in", "Porto"), ADD, []),
    (news("Dana", "born_in", "Bergen"), ADD, []),
    (news("Dana", None, "Porto"), ADD, []),
    (news("Dana", "uses", "Postgres", former="MySQL"), ADD, []),
]


@pytest.mark.parametrize(("proposition", "outcome", "targets"), CASES)
def test_only_the_fact_that_is_meant_is_touched(proposition: Proposition, outcome: str, targets: list[Fact]) -> None:
    decision = reconcile(proposition, ALL, CATALOG)
    assert (decision.outcome, decision.targets) == (outcome, tuple(target.id for target in targets))
    assert decision.reason


def test_a_value_named_as_replaced_is_retired_among_many() -> None:
    mysql, redis = fact("0000000a", "Dana", "uses", "MySQL"), fact("0000000b", "Dana", "uses", "Redis")
    decision = reconcile(news("Dana", "uses", "Postgres", former="MySQL"), (mysql, redis), CATALOG)
    assert (decision.outcome, decision.targets) == (UPDATE, (mysql.id,))


def test_a_fact_named_by_its_id_may_be_changed_whatever_its_subject() -> None:
    proposition = news("Dana", "likes", "coffee", source_text="fact_00000003 is wrong, I like coffee")
    decision = reconcile(proposition, ALL, CATALOG)
    assert (decision.outcome, decision.targets) == (UPDATE, (OTHER_HOME.id,))


def test_what_was_said_earlier_never_replaces_what_was_said_later() -> None:
    later = fact("0000000c", "Dana", "lives_in", "Leeds", said="2024-03-01T00:00:00Z")
    old = news("Dana", "lives_in", "Porto", said_at="2024-01-01T00:00:00Z")
    new = news("Dana", "lives_in", "Porto", said_at="2024-04-01T00:00:00Z")
    assert reconcile(old, (later,), CATALOG).outcome == NOOP
    assert reconcile(new, (later,), CATALOG).outcome == UPDATE


def test_facts_that_no_longer_stand_are_left_alone() -> None:
    gone = HOME._replace(status=SUPERSEDED)
    assert reconcile(news("Dana", "lives_in", "Porto"), (gone,), CATALOG).outcome == ADD


def test_an_unchanging_value_that_differs_is_a_contradiction() -> None:
    assert reconcile(news("Dana", "born_in", "Bergen"), ALL, CATALOG).contradicts == (BORN.id,)


def test_what_ended_and_begins_again_is_no_repetition() -> None:
    gone = HOME._replace(id="fact_00000009", fact="Dana no longer uses Notion.", predicate="uses", object="Notion")
    decision = reconcile(news("Dana", "uses", "Notion"), [gone], CATALOG)
    assert (decision.outcome, decision.targets) == (UPDATE, (gone.id,))


def test_the_end_of_a_part_is_not_the_end_of_the_whole() -> None:
    laptop = fact("0000000a", "Dana", "owns", "a laptop")
    assert reconcile(news("Dana", "owns", "old laptop bag", ended=True), [laptop], CATALOG).outcome == ADD
    assert reconcile(news("Dana", "owns", "old laptop", ended=True), [laptop], CATALOG).targets == (laptop.id,)


def test_a_preference_turned_round_replaces_the_one_before() -> None:
    before = fact("0000000b", "Dana", "prefers", "dogs to cats")
    other = fact("0000000c", "Dana", "prefers", "mice to dogs")
    decision = reconcile(news("Dana", "prefers", "cats to dogs", former="dogs"), [before, other], CATALOG)
    assert (decision.outcome, decision.targets) == (UPDATE, (before.id,))


SON = fact("0000000d", "Dana", "child", "Max")._replace(relation_phrase="has a son")
DAUGHTER = fact("0000000e", "Dana", "child", "Ida")._replace(relation_phrase="has a daughter")
MARC = news("Dana", "child", "Marc", relation_phrase="has a son", corrects=True)


def test_a_correction_replaces_the_one_value_that_can_have_been_wrong() -> None:
    decision = reconcile(MARC, (SON, DAUGHTER), CATALOG)
    assert (decision.outcome, decision.targets, decision.never) == (UPDATE, (SON.id,), True)
    decision = reconcile(news("Dana", "born_in", "Bergen", corrects=True), ALL, CATALOG)
    assert (decision.outcome, decision.targets, decision.never) == (UPDATE, (BORN.id,), True)


@pytest.mark.parametrize(
    ("proposition", "known"),
    [
        (MARC._replace(corrects=False), (SON, DAUGHTER)),
        (MARC, (SON, SON._replace(id="fact_0000000f", object="Ben"))),
        (MARC, (DAUGHTER,)),
        (MARC, (SON._replace(subject="Lee"),)),
        (MARC._replace(relation_phrase="has"), (SON._replace(relation_phrase="has"),)),
        (news("Dana", "allergic_to", "cats", corrects=True), ALL),
    ],
)
def test_a_correction_of_many_values_replaces_none(proposition: Proposition, known: tuple[Fact, ...]) -> None:
    decision = reconcile(proposition, known, CATALOG)
    assert (decision.outcome, decision.targets, decision.contradicts) == (ADD, (), ())


def told(words: str, predicate: str | None = None, value: str | None = None) -> Proposition:
    return Proposition(words, "ev_1", (0, 1), "x", subject="Dana", predicate=predicate, object=value)


def known(words: str, predicate: str | None = None, value: str | None = None) -> Fact:
    return fact("00000009", "Dana", predicate or "", value or "")._replace(
        fact=words, predicate=predicate, object=value
    )


@pytest.mark.parametrize(
    ("predicate", "old", "new", "outcome"),
    [
        ("prefers", "simple, minimal tools", "simple, minimal tools to keep the app small", MERGE),
        ("prefers", "simple, minimal tools to keep the app small", "simple, minimal tools", NOOP),
        ("decided", "on two servers", "on three servers in Oslo", ADD),
        ("likes", "tea", "green tea", ADD),
    ],
)
def test_the_richer_telling_takes_in_the_poorer(predicate: str, old: str, new: str, outcome: str) -> None:
    decision = reconcile(
        told(f"Dana {predicate} {new}.", predicate, new), [known(f"Dana {predicate} {old}.", predicate, old)], CATALOG
    )
    assert decision.outcome == outcome


TURIN = fact("1", "Ada", "lives_in", "Turin")
DOG = fact("2", "Ada", "pet", "Rex")
OTHER = fact("3", "Bo", "drinks", "tea")


@pytest.mark.parametrize(
    ("changes", "outcome", "targets"),
    [
        ([("fact_1", "replace")], UPDATE, ("fact_1",)),
        ([("fact_1", "end")], RETRACT, ("fact_1",)),
        ([("fact_1", "refine")], MERGE, ("fact_1",)),
        ([("fact_1", "same"), ("fact_2", "same")], NOOP, ("fact_1",)),
        ([("fact_1", "replace"), ("fact_2", "end")], UPDATE, ("fact_1", "fact_2")),
        ([("fact_1", "replace"), ("fact_2", "same")], UPDATE, ("fact_1",)),
        ([("fact_1", "same"), ("fact_1", "refine")], MERGE, ("fact_1",)),
        ([("fact_1", "same"), ("fact_1", "end")], RETRACT, ("fact_1",)),
        ([("fact_3", "replace")], None, ()),
        ([("fact_9", "replace")], None, ()),
    ],
)
def test_named_facts_are_changed_as_the_proposition_says(
    changes: list[tuple[str, str]], outcome: str | None, targets: tuple[str, ...]
) -> None:
    made = news("Ada", "lives_in", "Padua", changes=tuple(FactChange(*change) for change in changes))
    known = {fact.id: fact for fact in (TURIN, DOG, OTHER)}
    decision = reconcile_named(made, known, lambda fact: False)
    assert (decision and decision.outcome, decision.targets if decision else ()) == (outcome, targets)


def test_a_named_fact_of_the_same_entity_may_be_changed_and_one_of_a_better_source_may_not() -> None:
    change = (FactChange("fact_3", "end"),)
    tea = news("the team", "likes", "tea", changes=change)
    decision = reconcile_named(tea, {"fact_3": OTHER}, lambda fact: fact.id == "fact_3")
    assert decision is not None
    assert decision.outcome == RETRACT
    by_agent = news("Bo", "drinks", "tea", changes=change, trust="agent")
    assert reconcile_named(by_agent, {"fact_3": OTHER}, lambda fact: True) is None
    by_tool = by_agent._replace(trust="tool")
    assert reconcile_named(by_tool, {"fact_3": OTHER}, lambda fact: True) is not None, "a person decides about it"


def test_what_one_person_hands_to_another_is_replaced_where_both_are_named() -> None:
    change = (FactChange("fact_3", "replace"),)
    proposition = news("Ada", "looks_after", "the kettle", changes=change)
    handed = proposition._replace(statement="Ada looks after the kettle now, in Bo's place.")
    alone = proposition._replace(statement="Ada looks after the kettle now.")
    decision = reconcile_named(handed, {"fact_3": OTHER}, lambda fact: False)
    assert decision is not None
    assert (decision.outcome, decision.targets) == (UPDATE, ("fact_3",))
    assert reconcile_named(alone, {"fact_3": OTHER}, lambda fact: False) is None


def test_a_statement_in_the_words_of_a_fact_neither_replaces_nor_ends_it() -> None:
    for how, outcome in (("replace", NOOP), ("end", None)):
        made = news("Ada", "lives_in", "Turin", changes=(FactChange("fact_1", how),))._replace(statement=TURIN.fact)
        decision = reconcile_named(made, {"fact_1": TURIN}, lambda fact: False)
        assert (decision and decision.outcome) == outcome


@pytest.mark.parametrize(
    ("order", "rule", "replaced"),
    [
        ("use yarn here instead of pnpm, the host only has yarn.", "In Petalpost use pnpm, never npm.", True),
        ("use tabs rather than spaces.", "The team uses spaces.", True),
        ("nimm yarn statt pnpm.", "Petalpost nutzt pnpm.", True),
        ("use yarn instead of npm.", "In Petalpost use pnpm, never npm.", False),
        ("use yarn instead of npm.", "Never use npm.", False),
        ("use yarn instead of pnpm.", "Pnpm 9 breaks on the host.", False),
        ("use tabs instead of spaces.", "Use spaces in YAML.", False),
        ("use the new template instead of pnpm.", "Use pnpm-workspace.yaml.", False),
        ("write to Ann instead of pnpm.", "Use pnpm.", False),
    ],
)
def test_an_order_replaces_the_rule_to_use_what_it_gives_up(order: str, rule: str, replaced: bool) -> None:
    made = Proposition(f"The user wants this rule to be followed: {order}", "ev_1", (0, 1), "x")
    known = {"fact_1": Fact("fact_1", rule, "fact", "2024-01-01T00:00:00Z", "events")}
    former = given_up(made)
    changed = with_rule_replaced(made, former, known) if former else made
    assert changed.changes == ((FactChange("fact_1", "replace"),) if replaced else ())
    assert with_rule_replaced(made, former or "", {**known, "fact_2": known["fact_1"]}).changes == ()
