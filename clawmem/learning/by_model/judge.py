"""Let a model judge which facts of a day are worth keeping for thirty days, in batches, within its limits.

The rules judge the facts that the model does not reach.
"""

from __future__ import annotations

import json
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
from clawmem.llm.client import Message, check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted, normal, one_line
from clawmem.model.proposals.promotion import PromotionScore, ScoredFact, para_class
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.model.safety.secrets.find import find_secret

MAX_FACTS = 20
MAX_BATCH_CHARACTERS = 8000
MAX_REASON_CHARACTERS = 160
_DATA_FOLLOWS = "The facts of {on}, as data:\n{facts}\nJudge each of them. JSON only."
_BY_RULES = "The rules judged the rest."
_JUDGEMENT = {"fact": {"type": "string"}, "worth": {"type": "number"}, "reason": {"type": "string"}}
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
                "properties": _JUDGEMENT,
            },
        }
    },
}
Key = tuple[str, str]


class ModelJudgements(NamedTuple):
    """A model's judgements by `key_of`. The rules judge candidates that are missing here.

    `telemetry` is the event that records the run, `problem` the reason why the model judged only a part.
    """

    model: str | None = None
    judgements: Mapping[Key, PromotionScore] = {}
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
    return ModelJudgements(model.name, run.judgements, event, None if by_rules else problem, tuple(notices))


def _may_be_shown(fact: Fact) -> bool:
    """Return whether a fact may be sent to a model: it has no credential and no injected instructions."""
    return find_secret(fact.fact) is None and not is_prompt_injection(fact.fact)


class _JudgingRun:
    """The state of one run: judgements, dropped answers and cost."""

    def __init__(self, model: Model, earlier_today: Spent, on: str) -> None:
        self.account: Account | None = None
        self.judgements: dict[Key, PromotionScore] = {}
        self.dropped: Counter[str] = Counter()
        self._model = model
        self._earlier = earlier_today
        self._on = on

    def judge(self, candidates: Sequence[ScoredFact]) -> ClawmemError | None:
        """Ask about all candidates. Return the error that stopped the run early, or None."""
        waiting = list(candidates)
        try:
            check_model(self._model)
            self.account = Account(self._model.limits, prices_of(self._model), self._earlier)
            while waiting:
                shown = waiting[: _batch_size(waiting)]
                self._ask(shown, self.account)
                del waiting[: len(shown)]
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

    def _ask(self, shown: Sequence[ScoredFact], account: Account) -> None:
        answer = ask(self._model, account, judgement_messages(shown, self._on), SCHEMA)
        if answer.value is None:
            raise ModelFailed(f"The model {self._model.name} gave no usable answer. {answer.problem}")
        for one in answer.value["judgements"]:
            self._take(one, shown)

    def _take(self, judged: Mapping[str, Any], shown: Sequence[ScoredFact]) -> None:
        labels = {f"f{number}": one for number, one in enumerate(shown, 1)}
        one = labels.get(judged["fact"].strip())
        if one is None:
            self.dropped["about no such fact"] += 1
        elif not 0 <= judged["worth"] <= 1:
            self.dropped["with a worth that is not 0 to 1"] += 1
        elif key_of(one.fact, one.entity) in self.judgements:
            self.dropped["given twice"] += 1
        else:
            self.judgements[key_of(one.fact, one.entity)] = self._judgement(judged)

    def _judgement(self, judged: Mapping[str, Any]) -> PromotionScore:
        reason = one_line(judged["reason"])[:MAX_REASON_CHARACTERS].rstrip(" .")
        shown = reason if reason.isprintable() and find_secret(reason) is None else ""
        return PromotionScore(round(float(judged["worth"]), 3), (f"{self._model.name}: {shown or 'no reason given'}",))


def judgement_messages(shown: Sequence[ScoredFact], on: str) -> list[Message]:
    """Return the messages for a batch: the instructions, then the candidates as data."""
    asked = _DATA_FOLLOWS.format(on=on, facts=render_candidates(shown))
    return [{"role": "system", "content": prompt("promote")}, {"role": "user", "content": asked}]


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
