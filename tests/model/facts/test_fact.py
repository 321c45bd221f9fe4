"""The importance of what must not fade is the same for what is typed and what is learned."""

from __future__ import annotations

import pytest

from clawmem.model.facts.fact import vital_importance
from clawmem.model.proposals.para import Proposition, learned_fact
from clawmem.model.records.event import Event


@pytest.mark.parametrize(
    ("words", "importance"),
    [
        ("Jane is allergic to peanuts.", 0.9),
        ("Ben can't eat gluten.", 0.9),
        ("Ada carries an EpiPen.", 0.9),
        ("My blood type is O negative.", 0.9),
        ("Jane was diagnosed with lupus.", 0.9),
        ("Always answer in metric units.", 0.85),
        ("Don't push to main without asking.", 0.85),
        ("Ada was born in 1985.", 0.8),
        ("Ada's pronouns are she and her.", 0.8),
        ("Jane lives in Oslo.", None),
        ("The webshop never sleeps.", None),
        ("The name tag is blue.", None),
    ],
)
def test_what_is_vital(words: str, importance: float | None) -> None:
    assert vital_importance(words, "fact") == importance


def test_a_category_counts_like_the_words() -> None:
    assert vital_importance("Ada takes her pills at noon.", "health") == 0.9


@pytest.mark.parametrize(("trust", "importance"), [("user", 0.9), ("tool", 0.5)])
def test_what_is_learned_has_at_least_the_importance_of_what_is_typed(trust: str, importance: float) -> None:
    event = Event("evt_1", "2026-11-21T09:30:00Z", "user", "Jane is allergic to peanuts.")
    proposition = Proposition(event.text, event.id, (0, len(event.text)), event.text, importance=0.5, trust=trust)
    assert (
        learned_fact(proposition, event, "fact_1a2b3c4d", event.timestamp, "heartbeat/model").importance == importance
    )
