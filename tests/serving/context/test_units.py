"""Conflicts: values that contradict each other at the same time, also if one is only stated in words."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from clawmem.index.search.by_tier import ALWAYS, PAST, ReaderScope
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import ACTIVE, importance_of
from clawmem.model.lifecycle.tiers import ALWAYS_HOT, TIERS, last_access, policy_tier
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import owner_of
from clawmem.model.search.ranking import ordered
from clawmem.serving.context.context import context
from clawmem.serving.context.units import current_tiers, first_of_tier, tiers_by
from clawmem.serving.recall.recall import features_of
from clawmem.vault.state.journal import AccessCount, add_accesses
from clawmem.vault.vault import Vault
from tests.conftest import examples
from tests.serving.invented import AGENT, NOW, Invented, accessed, indexed, invent

_AGAINST = "! In conflict with the line above"


def _keep(vault: Vault, caller: Caller, text: str, **more: object) -> str:
    return remember(vault, [draft_from_record({"fact": text, **more}, caller.now)], caller).facts[0].fact.id


def _lives(vault: Vault, caller: Caller, text: str, place: str | None, **more: object) -> str:
    return _keep(vault, caller, text, subject="Jane", predicate="lives_in", object=place, **more)


@pytest.mark.parametrize(
    ("text", "place", "against"),
    [
        ("Jane lives in Rome.", None, True),
        ("Jane lives in Paris now.", None, False),
        ("Jane lives in Parisot.", None, True),
        ("Jane moved.", "paris", False),
    ],
)
def test_a_value_that_is_only_said_in_words(
    vault: Vault, caller: Caller, text: str, place: str | None, against: bool
) -> None:
    _lives(vault, caller, "Jane lives in Paris.", "Paris")
    _lives(vault, caller, text, place)
    assert context(vault, caller, 1000).text.count(_AGAINST) == (1 if against else 0)


@pytest.mark.parametrize("place", ["a flat", "Norway"])
def test_what_may_be_true_at_once_is_no_conflict(vault: Vault, caller: Caller, place: str) -> None:
    _lives(vault, caller, "Jane lives in Oslo.", "Oslo")
    _lives(vault, caller, f"Jane lives in {place}.", place)
    assert _AGAINST not in context(vault, caller, 1000).text


def test_a_rival_from_outside_is_told_as_such(vault: Vault, caller: Caller) -> None:
    _lives(vault, caller, "Jane lives in Bergen.", "Bergen", source="web:example.org")
    _lives(vault, caller, "Jane lives in Oslo.", "Oslo")
    (line,) = [
        other_line for other_line in context(vault, caller, 1000).text.splitlines() if other_line.startswith(_AGAINST)
    ]
    assert "Jane lives in Bergen." in line
    assert line.endswith(", from outside, unverified)")


def test_two_values_in_words(vault: Vault, caller: Caller) -> None:
    _lives(vault, caller, "Jane lives in Paris.", None)
    assert _AGAINST not in context(vault, caller, 1000).text
    _lives(vault, caller, "Jane lives in Rome.", None)
    assert context(vault, caller, 1000).text.count(_AGAINST) == 1


def test_what_supersede_left_without_an_object(vault: Vault, caller: Caller) -> None:
    old = _lives(vault, caller, "Jane lives in Oslo.", "Oslo")
    supersede(vault, old, draft_from_record({"fact": "Jane lives in Rome."}, caller.now), caller)
    assert _AGAINST not in context(vault, caller, 1000).text
    _lives(vault, caller, "Jane lives in Paris.", "Paris")
    assert context(vault, caller, 1000).text.count(_AGAINST) == 1


@pytest.mark.parametrize("linked", [True, False])
def test_what_is_over_contradicts_nothing_that_holds(vault: Vault, caller: Caller, linked: bool) -> None:
    name = _lives(vault, caller, "Jane lives in Oslo.", "Oslo", valid_to="2020-01-01")
    other = _lives(vault, caller, "Jane lives in Paris.", "Paris")
    if linked:
        link(vault, name, "contradicts", other, caller)
    text = context(vault, caller, 1000).text
    assert "Oslo" in text
    assert _AGAINST not in text
    assert context(vault, caller, 1000, as_of="2019-01-01").text.count(_AGAINST) == 1


def test_plain_words_that_contradict_each_other_are_marked(vault: Vault, caller: Caller) -> None:
    for text in ("Ben Ott runs the shop; his extension is 412.", "Ben's extension is 421.", "Ben is tall."):
        _keep(vault, caller, text, entity="areas/people/ben-ott")
    text = context(vault, caller, 1000).text
    assert text.count(_AGAINST) == 1
    assert "Ben is tall. (2026-11-21)\n!" not in text


def test_a_city_and_a_state_are_no_conflict(vault: Vault, caller: Caller) -> None:
    for place in ("California", "Los Angeles"):
        _keep(vault, caller, f"Jane is from {place}.", subject="Jane", predicate="from", object=place)
    assert _AGAINST not in context(vault, caller, 1000).text


ALL = 10**9


def _plainly(invented: Invented, reader: ReaderScope, counted: dict[str, AccessCount]) -> dict[str, list[str]]:
    features, always = [], set()
    for entity, fact in invented.facts:
        seen = (owner_of(entity) or "") in reader.owners and reader.entity in (None, entity)
        if not seen or fact.status != ACTIVE or quarantine_rule(fact):
            continue
        agent = reader.owners[0] or None
        features.append(features_of(add_accesses(fact, counted), entity, reader.now, agent))
        always |= {fact.id} if importance_of(fact) >= ALWAYS_HOT else set()
    found: dict[str, list[str]] = defaultdict(list)
    for other_features in ordered(features):
        found[PAST if other_features.over else ALWAYS if other_features.id in always else other_features.tier].append(
            other_features.id
        )
    return found


@pytest.mark.parametrize("entity", [None, "areas/people/jane", "@finance/projects/budget", "projects/none"])
@pytest.mark.parametrize("agent", [None, AGENT])
@examples(10, 40, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 10**9))
@pytest.mark.few(2)
def test_shelves_are_what_reading_everything_gives(
    vault: Vault, agent: str | None, entity: str | None, seed: int
) -> None:
    invented = invent(seed)
    index = indexed(vault, invented)
    reader = ReaderScope((agent, "") if agent else ("",), NOW, entity)
    for counted in ({}, accessed(seed, invented)):
        on, plain = current_tiers(index, reader, counted), _plainly(invented, reader, counted)
        for shelf in (ALWAYS, *TIERS, PAST):
            assert [candidate.id for candidate in first_of_tier(on, shelf, ALL)] == plain[shelf]
            assert on.totals[shelf] == len(plain[shelf])
            few = [candidate.id for candidate in first_of_tier(on, shelf, 40)]
            assert few == plain[shelf][: len(few)]
            assert sum(candidate.tokens for candidate in first_of_tier(on, shelf, 40)) >= 40 or few == plain[shelf]
    index.close()


@pytest.mark.parametrize("policy", ["importance", "score"])
@examples(5, 15, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 10**9))
def test_a_policy_puts_each_fact_on_its_shelf(vault: Vault, policy: str, seed: int) -> None:
    invented = invent(seed)
    counted = accessed(seed, invented)
    reader = ReaderScope(("",), NOW)
    index = indexed(vault, invented)
    on, by_recency = tiers_by(index, reader, counted, policy), current_tiers(index, reader, counted)
    shelves = {shelf: [candidate.id for candidate in first_of_tier(on, shelf, ALL)] for shelf in (ALWAYS, *TIERS, PAST)}
    index.close()
    facts = {fact.id: add_accesses(fact, counted) for _, fact in invented.facts}
    for shelf in TIERS:
        for fact in (facts[fact_id] for fact_id in shelves[shelf]):
            pair = (importance_of(fact), fact.access_count, last_access(fact), NOW)
            assert policy_tier(policy, *pair) == shelf
    assert sum(on.totals.values()) == sum(by_recency.totals.values())
    assert {shelf: len(found) for shelf, found in shelves.items() if found} == dict(on.totals)
