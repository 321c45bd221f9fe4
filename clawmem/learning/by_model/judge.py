"""Let a model judge which facts of a day are worth keeping for thirty days, in batches, within its limits.

The rules judge the facts that the model does not reach.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.attribution.orders import is_prompt_injection
from clawmem.learning.by_model.extraction import RULES
from clawmem.learning.by_model.telemetry import (
    JUDGING,
    is_worth_recording,
    judging_event,
    model_run,
    model_runs,
    spent_in,
)
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.prompts import prompt
from clawmem.llm.tasks import ModelTask, answer_by_model, open_account
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted, normal, one_line
from clawmem.model.proposals.promotion import PromotionScore, ScoredFact, para_class
from clawmem.model.proposals.proposition import EntityHint
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.model.safety.secrets.find import find_secret

MAX_FACTS = 20
MAX_BATCH_CHARACTERS = 8000
MAX_REASON_CHARACTERS = 160
_BY_RULES = "The rules judged the rest."
_JUDGEMENT = {"fact": {"type": "string"}, "worth": {"type": "number"}, "reason": {"type": "string"}}
_PLACE = re.compile(r"(?P<kind>person|company|project|area|resource):\s*(?P<title>\S.{0,79})")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["judgements"],
    "properties": {
        "judgements": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": list(_JUDGEMENT),
                "properties": {**_JUDGEMENT, "at": {"type": "string"}},
            },
        }
    },
}
Key = tuple[str, str]


class ModelJudgements(NamedTuple):
    """A model's judgements by `key_of`, and the places of facts that belong elsewhere. The rules judge candidates that
    are missing here.

    `telemetry` is the event that records the run, `problem` the reason why the model judged only a part.
    """

    model: str | None = None
    judgements: Mapping[Key, PromotionScore] = {}
    places: Mapping[Key, EntityHint] = {}
    telemetry: Event | None = None
    problem: ClawmemError | None = None
    notices: tuple[str, ...] = ()

    @property
    def judge(self) -> str:
        """Return the name of the judge: the model or `rules`."""
        return self.model if self.model and self.judgements else RULES

    @property
    def run(self) -> Mapping[str, Any] | None:
        """Return the record of the model run, or None if no model was called."""
        return model_run(self.telemetry) if self.telemetry else None

    def of(self, fact: Fact, entity: str, judged: PromotionScore) -> PromotionScore:
        """Return the model's score instead of the rules' score `judged`, but keep the refusal of the rules."""
        found = self.judgements.get(key_of(fact, entity))
        return found._replace(refusal=judged.refusal) if found else judged


NO_JUDGEMENTS = ModelJudgements()


def key_of(fact: Fact, entity: str) -> Key:
    """Return the key of a judgement: the entity and the normalised statement."""
    return entity, normal(fact.fact)


def judge_by_model(
    caller: Caller, model: Model, candidates: Sequence[ScoredFact], on: str, worth: float,
    read: Callable[[str], bytes | None],
) -> ModelJudgements:  # fmt: skip
    """Ask the model about the candidates, best first. The caller must not hold the lock.

    `worth` is the score from which a fact counts as worth keeping. `read` reads a vault file by path.
    """
    shown = [one for one in candidates if _may_be_shown(one.fact)]
    if not shown:
        return NO_JUDGEMENTS
    runs = model_runs(read, day_of(stamp(caller.now)))
    run = _JudgingRun(model, spent_in(runs), on)
    problem = run.judge(shown)
    by_rules = isinstance(problem, ModelFailed) and model.fallback == RULES
    outcome = RULES if by_rules else problem.code if problem else "done"
    notices = run.notices(len(candidates))
    if by_rules and problem:
        notices.append(f"{problem.message} The rules judged the rest, as llm.fallback says.")
    run.count_facts(worth)
    event, account = None, run.account
    if account and is_worth_recording(account.spent, outcome, [one for one in runs if one.get("task") == JUDGING]):
        event = judging_event(
            caller, model.name, account.spent, account.prices is not None, outcome, len(run.judgements), run.dropped
        )
    problem = None if by_rules else problem
    return ModelJudgements(model.name, run.judgements, run.places, event, problem, tuple(notices))


def judging_tasks(candidates: Sequence[ScoredFact], on: str) -> dict[str, tuple[ModelTask, list[ScoredFact]]]:
    """Return the tasks to judge the candidates of a day, by their ids, each with what it shows."""
    waiting, found = [one for one in candidates if _may_be_shown(one.fact)], {}
    while waiting:
        shown = waiting[: _batch_size(waiting)]
        task = judging_task(shown, on)
        found[task.key] = (task, shown)
        del waiting[: len(shown)]
    return found


def judged_by_agent(name: str, answer: Mapping[str, Any], shown: Sequence[ScoredFact]) -> ModelJudgements:
    """Return the judgements of the calling agent's answer."""
    found = _Judgements(name)
    for one in answer["judgements"]:
        found.take(one, shown)
    words = [f"{count} {reason}" for reason, count in found.dropped.items()]
    notices = (f"Judgements of {name} dropped: {', '.join(words)}.",) if words else ()
    return ModelJudgements(name, found.judgements, found.places, notices=notices)


def _may_be_shown(fact: Fact) -> bool:
    """Return whether a fact may be sent to a model: it has no credential and no injected instructions."""
    return find_secret(fact.fact) is None and not is_prompt_injection(fact.fact)


class _Judgements:
    """What a reader judged: the scores, the places of facts that belong elsewhere, and what was dropped."""

    def __init__(self, name: str) -> None:
        self.judgements: dict[Key, PromotionScore] = {}
        self.places: dict[Key, EntityHint] = {}
        self.dropped: Counter[str] = Counter()
        self._name = name

    def take(self, judged: Mapping[str, Any], shown: Sequence[ScoredFact]) -> None:
        """Take in one judgement about what was shown."""
        labels = {f"f{number}": one for number, one in enumerate(shown, 1)}
        one = labels.get(judged["fact"].strip())
        if one is None:
            self.dropped["about no such fact"] += 1
        elif not 0 <= judged["worth"] <= 1:
            self.dropped["with a worth that is not 0 to 1"] += 1
        elif key_of(one.fact, one.entity) in self.judgements:
            self.dropped["given twice"] += 1
        else:
            key = key_of(one.fact, one.entity)
            self.judgements[key] = self._judgement(judged)
            place = _PLACE.fullmatch(one_line(judged.get("at") or ""))
            if place:
                self.places[key] = EntityHint(place["kind"], place["title"], "asked")

    def _judgement(self, judged: Mapping[str, Any]) -> PromotionScore:
        reason = one_line(judged["reason"])[:MAX_REASON_CHARACTERS].rstrip(" .")
        shown = reason if reason.isprintable() and find_secret(reason) is None else ""
        return PromotionScore(round(float(judged["worth"]), 3), (f"{self._name}: {shown or 'no reason given'}",))


class _JudgingRun(_Judgements):
    """The state of one run of a model, with its cost."""

    def __init__(self, model: Model, earlier_today: Spent, on: str) -> None:
        super().__init__(model.name)
        self.account: Account | None = None
        self._model = model
        self._earlier = earlier_today
        self._on = on

    def judge(self, candidates: Sequence[ScoredFact]) -> ClawmemError | None:
        """Ask about all candidates. Return the error that stopped the run early, or None."""
        try:
            self.account = open_account(self._model, self._earlier)
            for task, shown in judging_tasks(candidates, self._on).values():
                for one in answer_by_model(self._model, self.account, task)["judgements"]:
                    self.take(one, shown)
        except (BudgetSpent, ModelFailed) as problem:
            kind = BudgetSpent if isinstance(problem, BudgetSpent) else ModelFailed
            # Unlike extraction, nothing waits for the next run here.
            advice = "" if "wait" in problem.hint else f" {problem.hint}"
            return kind(problem.message, f"{_BY_RULES}{advice}".strip())
        return None

    def count_facts(self, worth: float) -> None:
        """Record in the account how many facts reach the score `worth`."""
        if self.account:
            self.account.add_facts(sum(1 for one in self.judgements.values() if one.score >= worth))

    def notices(self, candidates: int) -> list[str]:
        """Return the notices of the run."""
        notices = []
        account = self.account
        if account is not None and account.prices is None and account.spent.calls:
            notices.append(
                f"The price of {self._model.name} is not known, so costs are not counted. Each answer has at most "
                f"{account.limits.tokens:,} tokens (llm.max_tokens)."
            )
        missing = candidates - len(self.judgements)
        if self.judgements and missing:
            notices.append(
                f"{self._model.name} did not judge {counted(missing, 'fact')} of {candidates}; the rules did."
            )
        if self.dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common())
            notices.append(f"{counted(sum(self.dropped.values()), 'judgement')} of the model dropped: {reasons}.")
        return notices


def judging_task(shown: Sequence[ScoredFact], on: str) -> ModelTask:
    """Return the task to judge a batch of candidates."""
    return ModelTask("promote", prompt("promote"), f"The facts of {on}:\n{render_candidates(shown)}", SCHEMA)


def render_candidates(shown: Sequence[ScoredFact]) -> str:
    """Return the candidates as JSON lines labelled f1, f2, ... No text can close the `<facts>` element."""
    lines = []
    for number, one in enumerate(shown, 1):
        record = {
            "id": f"f{number}",
            "fact": one.fact.fact,
            "about": f"{para_class(one.entity)} {one.entity}",
            "category": one.fact.category,
            "from": one.fact.trust or "user",
            "true_from": one.fact.valid_from,
            "true_until": one.fact.valid_to,
        }
        present = {key: value for key, value in record.items() if value}
        lines.append(json.dumps(present, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e"))
    return "<facts>\n" + "\n".join(lines) + "\n</facts>"


def _batch_size(waiting: Sequence[ScoredFact]) -> int:
    size = 0
    for number, one in enumerate(waiting[:MAX_FACTS]):
        size += len(one.fact.fact)
        if number and size > MAX_BATCH_CHARACTERS:
            return number
    return min(len(waiting), MAX_FACTS)
