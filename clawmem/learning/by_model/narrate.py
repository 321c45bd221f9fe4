"""Let a model write the narrative of days from their facts: what happened, was decided, was learned, and is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.attribution.orders import is_prompt_injection
from clawmem.learning.by_model.telemetry import is_worth_recording, model_runs, narrating_event, spent_in
from clawmem.learning.synthesize import DayNarratives
from clawmem.llm.choice import Model
from clawmem.llm.grounded import GroundedText, answer_schema, data_lines, grounded
from clawmem.llm.prompts import prompt
from clawmem.llm.tasks import ModelTask, answer_by_model, open_account
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.pages.day_page import DayFact, DayNarrative, facts_checksum, narrative_line
from clawmem.model.records.caller import Caller
from clawmem.model.safety.secrets.find import find_secret

PARTS = ("happened", "decided", "learned", "open")
NARRATING = "narrative"
MOST_FACTS = 100


def narrate_days(
    caller: Caller,
    model: Model,
    days: Mapping[str, tuple[Sequence[DayFact], Sequence[DayFact]]],
    read: Callable[[str], bytes | None],
) -> DayNarratives:
    """Return the narratives of days from their stated and their withdrawn facts. The caller must not hold the lock.

    `read` reads a vault file by path. After a failure the other days have no narrative.
    """
    runs = model_runs(read, day_of(stamp(caller.now)))
    told: dict[str, DayNarrative] = {}
    notices: list[str] = []
    problem: ClawmemError | None = None
    account = None
    dropped = 0
    try:
        account = open_account(model, spent_in(runs))
        for day, (stated, withdrawn) in sorted(days.items()):
            shown = _records(stated, withdrawn)
            if not shown:
                continue
            done = grounded(answer_by_model(model, account, _task(day, shown)), PARTS, shown)
            told[day] = _narrative(done, stated, withdrawn)
            notices += [f"narrative of {day}: {one}" for one in done.notices]
            dropped += done.dropped
    except (BudgetSpent, ModelFailed) as failed:
        kind = BudgetSpent if isinstance(failed, BudgetSpent) else ModelFailed
        problem = kind(failed.message, "The pages have the lists without a narrative.")
    outcome = problem.code if problem else "done"
    event = None
    if account and is_worth_recording(account.spent, outcome, [one for one in runs if one.get("task") == NARRATING]):
        reasons = {"without a source": dropped} if dropped else {}
        priced = account.prices is not None
        event = narrating_event(caller, model.name, account.spent, priced, outcome, len(told), reasons)
    return DayNarratives(told, event, tuple(notices), problem)


def narrating_task(day: str, stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> ModelTask | None:
    """Return the task to write the narrative of a day, or None if nothing may be shown."""
    shown = _records(stated, withdrawn)
    return _task(day, shown) if shown else None


def narrative_by_agent(
    day: str, answer: Mapping[str, Any], stated: Sequence[DayFact], withdrawn: Sequence[DayFact]
) -> DayNarratives:
    """Return the narrative of a day from the calling agent's answer."""
    done = grounded(answer, PARTS, _records(stated, withdrawn))
    return DayNarratives({day: _narrative(done, stated, withdrawn)}, None, done.notices)


def _task(day: str, shown: Mapping[str, Mapping[str, Any]]) -> ModelTask:
    return ModelTask("narrate", prompt("narrate"), data_lines(f"The facts of {day}:", shown), answer_schema(PARTS))


def _narrative(done: GroundedText, stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> DayNarrative:
    lines = tuple(narrative_line(one.part, one.text, one.cites) for one in done.sentences)
    return DayNarrative(lines, facts_checksum(stated, withdrawn))


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
