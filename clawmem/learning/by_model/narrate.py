"""Tasks to write the narrative of a day from its facts: what happened, was decided, was learned, and is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.learning.attribution.orders import is_prompt_injection
from clawmem.llm.loop import answer_schema, data_lines, grounded
from clawmem.llm.prompts import prompt
from clawmem.llm.tasks import ModelTask
from clawmem.model.facts.fact import Fact
from clawmem.model.pages.day_page import DayFact, DayNarrative, facts_checksum, narrative_line
from clawmem.model.safety.secrets.find import find_secret

PARTS = ("happened", "decided", "learned", "open")
MOST_FACTS = 100


def narrating_task(day: str, stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> ModelTask | None:
    """Return the task to write the narrative of a day, or None if nothing may be shown."""
    shown = _records(stated, withdrawn)
    data = data_lines(f"The facts of {day}:", shown)
    return ModelTask("narrate", prompt("narrate"), data, answer_schema(PARTS)) if shown else None


def narrative_of_answer(
    answer: Mapping[str, Any], stated: Sequence[DayFact], withdrawn: Sequence[DayFact]
) -> tuple[DayNarrative, tuple[str, ...]]:
    """Return the narrative of a day from an answer, and notices of what was left out."""
    found = grounded(answer, PARTS, _records(stated, withdrawn))
    lines = tuple(narrative_line(one.part, one.text, one.cites) for one in found.sentences)
    return DayNarrative(lines, facts_checksum(stated, withdrawn)), found.notices


def _records(stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> dict[str, Mapping[str, Any]]:
    """Return what the model is shown of the facts, by id."""
    gone = {one.fact.id for one in withdrawn}
    rows = [*withdrawn, *(one for one in stated if one.fact.id not in gone)][:MOST_FACTS]
    return {
        one.fact.id: _record(one, "withdrawn" if one.fact.id in gone else "") for one in rows if _may_be_shown(one.fact)
    }


def _record(one: DayFact, status: str) -> Mapping[str, Any]:
    fact = one.fact
    return {
        "fact": fact.fact,
        "about": one.entity,
        "category": fact.category,
        "from": fact.trust or "user",
        "status": status,
        "before": " / ".join(one.before),
        "true_from": fact.valid_from,
        "true_until": fact.valid_to,
    }


def _may_be_shown(fact: Fact) -> bool:
    return find_secret(fact.fact) is None and not is_prompt_injection(fact.fact)
