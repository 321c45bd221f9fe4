"""The shelves against a plain reading of all facts: the same tiers, the same order, the same numbers."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.index.search.by_tier import ALWAYS, PAST, ReaderScope
from clawmem.model.facts.fact import ACTIVE, importance_of
from clawmem.model.lifecycle.tiers import ALWAYS_HOT, TIERS, last_access, policy_tier
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import owner_of
from clawmem.model.search.ranking import ordered
from clawmem.serving.context.tiers import current_tiers, first_of_tier, tiers_by
from clawmem.serving.recall.recall import features_of
from clawmem.vault.state.journal import AccessCount, add_accesses
from clawmem.vault.vault import Vault
from tests.serving.invented import AGENT, NOW, Invented, accessed, indexed, invent

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
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(seed=st.integers(0, 10**9))
@pytest.mark.few(3)
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
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
