"""The order of a list by SQL is that of the rule in Python, for any facts, filter, policy, moment and limit."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter, all_passing
from clawmem.index.tables.fact_marks import plain_importances
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import STATUSES, Fact
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import SCORE_POLICY, TIERS
from clawmem.model.records.accesses import ACCESSES_PATH, Accesses, render_accesses
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.entity import items_path
from clawmem.model.search.ranking import ordered
from clawmem.serving.browse import list_facts
from clawmem.serving.recall.recall import features_of
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.state.journal import add_accesses, count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command

PLACES = ("areas/people/ana", "projects/boat", "@finance/projects/budget")
POLICIES = ("recency", "importance", "score")


def _moment(chance: random.Random) -> str:
    # Near the limits of the tiers, to the second, and anywhere.
    days = chance.choice((7, 8, 10, 11, 14, 15, 30, 31, 45, 46, 60, 61, chance.uniform(-2, 100)))
    return stamp(NOW - timedelta(days=days, seconds=chance.choice((-1, 0, 1))))


def _fact(chance: random.Random, number: int) -> Fact:
    day = _moment(chance)[:10]
    return Fact(
        f"fact_{number:08x}",
        f"The item {number} is here.",
        chance.choice(("fact", "lesson", "plan")),
        _moment(chance),
        "conversation",
        chance.choice((*STATUSES, *["active"] * 6)),
        chance.choice((0, 0, 1, 3, 10, 11, 20, 21)),
        chance.choice((None, None, _moment(chance))),
        valid_from=chance.choice((None, None, "2025-01-01", "2027-01-01")),
        valid_to=chance.choice((None, None, None, day, "2026-11-21", "2027-03", "2026-11-21T09:30:00Z")),
        importance=chance.choice((None, 0.0, 0.39, 0.4, 0.5, 0.79, 0.8, 1.0)),
        trust=chance.choice(("user", "agent", "external")),
        tags=("sea",) if chance.random() < 0.3 else (),
    )


def _fill(vault: Vault, chance: random.Random) -> list[str]:
    facts: dict[str, list[Fact]] = {place: [] for place in PLACES}
    for number in range(240):
        facts[chance.choice(PLACES)].append(_fact(chance, number))
    ids = [fact.id for each in facts.values() for fact in each]
    raised = {fact_id: Accesses(chance.randrange(1, 25), _moment(chance), 0.79) for fact_id in chance.sample(ids, 40)}
    writes = {items_path(place): render_items(each) for place, each in facts.items()}
    with transaction(vault, NOW, "test") as started:
        started.commit([Change("test", {**writes, ACCESSES_PATH: render_accesses(raised)}, trailers("test"))])
    return ids


def _expected(
    vault: Vault, index: Index, caller: Caller, wanted: FactFilter, policy: str, tier: str | None, status: str | None
) -> list[tuple[str, str]]:
    counted = count_accesses(unfolded_accesses(vault))
    bases = plain_importances(index) if policy == SCORE_POLICY else {}
    placed = [(add_accesses(fact, counted), entity) for fact, entity in all_passing(index, wanted)]
    features = (
        features_of(fact, entity, caller.now, caller.agent, wanted.as_of, policy=policy, base=bases.get(fact.id))
        for fact, entity in placed
        if status in (None, fact.status)
    )
    return [(feature.id, feature.tier) for feature in ordered(features) if tier in (None, feature.tier)]


@pytest.mark.parametrize("policy", POLICIES)
def test_any_list_is_that_of_the_rule(vault: Vault, caller: Caller, clawmem: Command, policy: str) -> None:
    assert clawmem("config", "set", "tiers.policy", policy).code == 0
    chance = random.Random(policy)
    ids = _fill(vault, chance)
    for turn in range(16):
        if turn == 8:
            for fact_id in chance.choices(ids, k=30):
                assert record_access(vault, _moment(chance), [fact_id]) is None
        asked = caller._replace(agent=chance.choice((None, "finance")))
        wanted = FactFilter(
            owners=("", "finance") if asked.agent else ("",),
            entity=chance.choice((None, None, "projects/boat")),
            category=chance.choice((None, None, "lesson")),
            tag=chance.choice((None, None, "sea")),
            as_of=chance.choice((None, None, "2026-11-01", "2026-11-21T09:29:59Z")),
            superseded=chance.random() < 0.4,
            since=chance.choice((None, None, "2026-10-01")),
        )
        tier, status = chance.choice((None, *TIERS)), chance.choice((None, None, *STATUSES))
        limit = chance.choice((None, 1, 7, 50))
        fresh = Vault(vault.root, vault.git.environment)
        listed = list_facts(fresh, asked, wanted, limit, tier, status)
        index = open_index(fresh)
        expected = _expected(fresh, index, asked, wanted, policy, tier, status)
        index.close()
        assert [(placed.fact.id, heat) for placed, heat in listed.facts] == expected[:limit], (turn, wanted)
        assert listed.total == len(expected), (turn, wanted)


def test_a_person_sees_fifty_and_how_many_more(clawmem: Command) -> None:
    lines = "\n".join(f'{{"fact": "The boat {number} is old.", "entity": "projects/boat"}}' for number in range(52))
    assert clawmem("remember", "--jsonl", "-", given=lines + "\n").code == 0
    listed = clawmem("list")
    assert (len(listed.out.splitlines()), "... and 2 more; `--limit N` or `--all`" in listed.err) == (50, True)
    assert len(clawmem("list", "--all").out.splitlines()) == 52
    assert (len(clawmem("list", "-n", "51").out.splitlines()), len(clawmem("list", "--json").data["facts"])) == (51, 52)
