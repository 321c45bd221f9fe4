"""The record of changed premises follows from the facts alone, however it is brought about."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.lifecycle.premises import (
    CHANGED,
    REVIEW_BY,
    PremiseChange,
    confirmed,
    doubt_reason,
    doubt_words,
    in_doubt,
    premise_changes,
    premise_links,
    recomputed,
)
from tests.conftest import examples

TODAY = "2026-11-23"
_KINDS = st.sampled_from(("depends_on", "derived_from", "relates_to", "depends_on"))


def _fact(number: int, links: tuple[FactLink, ...] = (), **more: Any) -> Fact:
    return Fact(
        f"fact_{number:08x}", f"Statement {number}.", "fact", "2026-01-01T00:00:00Z", "user", links=links
    )._replace(**more)


@st.composite
def _graphs(draw: st.DrawFn) -> dict[str, Fact]:
    size = draw(st.integers(2, 9))
    facts = {}
    for number in range(size):
        targets = draw(st.lists(st.integers(0, size - 1), max_size=3))
        links = tuple(FactLink(draw(_KINDS), f"fact_{target:08x}") for target in targets)
        facts[f"fact_{number:08x}"] = _fact(number, links)
    return facts


def _all(facts: dict[str, Fact]) -> dict[str, Fact]:
    return {**facts, **recomputed(list(facts), facts.get, TODAY)}


def _affected(facts: dict[str, Fact], changed: str) -> set[str]:
    reached, level = {changed}, {changed}
    while level:
        level = {
            fact.id
            for fact in facts.values()
            if fact.superseded_by in level or any(target in level for target, _ in premise_links(fact))
        } - reached
        reached |= level
    return reached


_ACTS = st.sampled_from(("retract", "restore", "supersede", "confirm"))
_STEPS = st.lists(st.tuples(_ACTS, st.integers(0, 8)), max_size=8)


@examples(30, 150)
@given(_graphs(), _STEPS)
def test_a_record_kept_step_by_step_is_that_of_all(facts: dict[str, Fact], steps: list[tuple[str, int]]) -> None:
    facts = _all(facts)
    for act, number in steps:
        ids = sorted(facts)
        fact = facts[ids[number % len(ids)]]
        other = ids[(number + 1) % len(ids)]
        if act == "retract":
            facts[fact.id] = fact._replace(status=RETRACTED, superseded_by=None)
        elif act == "restore":
            facts[fact.id] = fact._replace(status=ACTIVE, superseded_by=None)
        elif act == "supersede" and facts[other].is_current and other != fact.id:
            facts[fact.id] = fact._replace(status=SUPERSEDED, superseded_by=other)
        elif act == "confirm":
            facts[fact.id] = confirmed(fact, TODAY)
        facts = {**facts, **recomputed(_affected(facts, fact.id), facts.get, TODAY)}
        assert facts == _all(facts)
        bare = {
            other_fact.id: other_fact._replace(
                metadata={k: v for k, v in (other_fact.metadata or {}).items() if k != CHANGED} or None
            )
            for other_fact in facts.values()
        }
        assert _all(bare) == facts


def test_a_confirmation_holds_for_the_change_that_was_confirmed() -> None:
    premise, new = _fact(1, status=SUPERSEDED, superseded_by="fact_00000002"), _fact(2)
    facts = {fact.id: fact for fact in (premise, new, _fact(3, (FactLink("depends_on", premise.id),)))}
    facts = _all(facts)
    resting = facts["fact_00000003"]
    assert premise_changes(resting) == (PremiseChange(premise.id, "superseded", new.id),)
    assert doubt_words(resting) == f"premise changed: now {new.id}"
    assert doubt_reason(resting) == f"it rests on {premise.id}, which was superseded by {new.id}"
    facts[resting.id] = confirmed(resting, TODAY)
    assert not in_doubt(_all(facts)[resting.id])
    facts[new.id] = new._replace(status=RETRACTED)
    assert premise_changes(_all(facts)[resting.id]) == (PremiseChange(premise.id, "superseded"),)


def test_a_confirmed_doubt_of_a_premise_stays_confirmed() -> None:
    gone, premise = _fact(1, status=RETRACTED), _fact(2, (FactLink("depends_on", "fact_00000001"),))
    facts = _all({fact.id: fact for fact in (gone, premise, _fact(3, (FactLink("depends_on", premise.id),)))})
    resting = facts["fact_00000003"]
    assert premise_changes(resting) == (PremiseChange(premise.id, "in doubt"),)
    facts[resting.id] = confirmed(resting, TODAY)
    assert not in_doubt(_all(facts)[resting.id])


def test_what_happened_to_a_premise_itself_goes_before_its_doubt() -> None:
    gone = _fact(1, status=RETRACTED)
    premise = _fact(2, (FactLink("depends_on", gone.id),), details={REVIEW_BY: "2026-11-01"})
    facts = {fact.id: fact for fact in (gone, premise, _fact(3, (FactLink("depends_on", premise.id),)))}
    assert premise_changes(_all(facts)["fact_00000003"]) == (PremiseChange(premise.id, "stale"),)


def test_a_confirmation_removes_only_a_day_for_review_that_has_passed() -> None:
    for day, left in (("2026-11-22", None), ("2026-11-23", {REVIEW_BY: "2026-11-23"})):
        assert confirmed(_fact(1, details={REVIEW_BY: day}), TODAY).details == left


def test_a_malformed_record_counts_as_none() -> None:
    for other in ("x", 3, [3], [{"premise": 1, "why": "stale"}], [{"premise": "fact_1"}], {"premise": "fact_1"}):
        assert premise_changes(_fact(1, metadata={CHANGED: other})) == ()
        assert not in_doubt(_fact(1, metadata={CHANGED: other}))
