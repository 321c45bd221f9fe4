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
    lines = tuple(narrative_line(sentence.part, sentence.text, sentence.cites) for sentence in found.sentences)
    return DayNarrative(lines, facts_checksum(stated, withdrawn)), found.notices


def _records(stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> dict[str, Mapping[str, Any]]:
    """Return what the model is shown of the facts, by id."""
    gone = {day_fact.fact.id for day_fact in withdrawn}
    rows = [*withdrawn, *(day_fact for day_fact in stated if day_fact.fact.id not in gone)][:MOST_FACTS]
    return {
        row.fact.id: _record(row, "withdrawn" if row.fact.id in gone else "") for row in rows if _may_be_shown(row.fact)
    }


def _record(other_fact: DayFact, status: str) -> Mapping[str, Any]:
    fact = other_fact.fact
    return {
        "fact": fact.fact,
        "about": other_fact.entity,
        "category": fact.category,
        "from": fact.trust or "user",
        "status": status,
        "before": " / ".join(other_fact.before),
        "true_from": fact.valid_from,
        "true_until": fact.valid_to,
    }


def _may_be_shown(fact: Fact) -> bool:
    return find_secret(fact.fact) is None and not is_prompt_injection(fact.fact)
