"""Thirty days' worth, judged by a model: the candidates of a day, question by question, as far as its limits allow.

What it does not come to is judged by the rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.attribution.orders import commands_a_model
from clawmem.learning.by_model.extraction import RULES
from clawmem.learning.by_model.telemetry import JUDGING, cents_of, run_of, runs_of, telemetry_of_judging, worth_telling
from clawmem.llm.budget import Account
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

MOST_FACTS = 20
LONGEST_QUESTION = 8000
LONGEST_REASON = 160
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
    """How a model judged some candidates, each by `key_of`; what is not there is left to the rules.

    `telemetry` is the event the run leaves in the ledger, `problem` why the model did not judge everything.
    """

    model: str | None = None
    judgements: Mapping[Key, PromotionScore] = {}
    telemetry: Event | None = None
    problem: ClawmemError | None = None
    notices: tuple[str, ...] = ()

    @property
    def judge(self) -> str:
        """Who judged."""
        return self.model if self.model and self.judgements else RULES

    @property
    def run(self) -> Mapping[str, Any] | None:
        """What the run of the model cost, as its event says; None where nobody was called."""
        return run_of(self.telemetry) if self.telemetry else None

    def of(self, fact: Fact, entity: str, judged: PromotionScore) -> PromotionScore:
        """The model's judgement in place of the rules', which says all the same what cannot be promoted at all."""
        found = self.judgements.get(key_of(fact, entity))
        return found._replace(refusal=judged.refusal) if found else judged


JUDGED_BY_RULES = ModelJudgements()


def key_of(fact: Fact, entity: str) -> Key:
    """What a judgement is about: the same words in the same place."""
    return entity, normal(fact.fact)


def judge_by_model(
    caller: Caller, model: Model, candidates: Sequence[ScoredFact], on: str, worth: float,
    read: Callable[[str], bytes | None],
) -> ModelJudgements:  # fmt: skip
    """Ask the model about the candidates, the best first; no lock is held meanwhile."""
    shown = [one for one in candidates if _may_be_shown(one.fact)]
    if not shown:
        return JUDGED_BY_RULES
    runs = runs_of(read, day_of(stamp(caller.now)))
    bench = _JudgingRun(model, cents_of(runs), on)
    problem = bench.judge(shown)
    by_rules = isinstance(problem, ModelFailed) and model.fallback == RULES
    outcome = RULES if by_rules else problem.code if problem else "done"
    notices = bench.notices(len(candidates))
    if by_rules and problem:
        notices.append(f"{problem.message} The rules judged the rest, as llm.fallback says.")
    bench.found(worth)
    left, account = None, bench.account
    if account and worth_telling(account.spent, outcome, [one for one in runs if one.get("task") == JUDGING]):
        left = telemetry_of_judging(
            caller, model.name, account.spent, account.prices is not None, outcome, len(bench.judgements), bench.dropped
        )
    return ModelJudgements(model.name, bench.judgements, left, None if by_rules else problem, tuple(notices))


def _may_be_shown(fact: Fact) -> bool:
    """A credential is never shown to a model, and a text that would give it orders is left to the rules."""
    return find_secret(fact.fact) is None and not commands_a_model(fact.fact)


class _JudgingRun:
    """One run: what was judged so far, what did not stand, and what it cost."""

    def __init__(self, model: Model, earlier_today: float, on: str) -> None:
        self.account: Account | None = None
        self.judgements: dict[Key, PromotionScore] = {}
        self.dropped: Counter[str] = Counter()
        self._model = model
        self._earlier = earlier_today
        self._on = on

    def judge(self, candidates: Sequence[ScoredFact]) -> ClawmemError | None:
        """Ask about all of them; why it stopped before the end, None where it did not."""
        waiting = list(candidates)
        try:
            check_model(self._model)
            self.account = Account(self._model.limits, prices_of(self._model), self._earlier)
            while waiting:
                shown = waiting[: _question(waiting)]
                self._ask(shown, self.account)
                del waiting[: len(shown)]
        except (BudgetSpent, ModelFailed) as problem:
            kind = BudgetSpent if isinstance(problem, BudgetSpent) else ModelFailed
            # Nothing waits for the next run here, as it does where events are read.
            advice = "" if "wait" in problem.hint else f" {problem.hint}"
            return kind(problem.message, f"{_BY_RULES}{advice}".strip())
        return None

    def found(self, worth: float) -> None:
        """Enter how many were found worth it."""
        if self.account:
            self.account.add_facts(sum(1 for one in self.judgements.values() if one.score >= worth))

    def notices(self, candidates: int) -> list[str]:
        """What a person should hear of the run, besides its result."""
        said = []
        account = self.account
        if account is not None and account.prices is None and account.spent.calls:
            said.append(
                f"The price of {self._model.name} is not known: no money is counted, each answer has at most "
                f"{account.limits.tokens:,} tokens (llm.max_tokens)."
            )
        missing = candidates - len(self.judgements)
        if self.judgements and missing:
            said.append(f"{self._model.name} did not judge {counted(missing, 'fact')} of {candidates}: the rules did.")
        if self.dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common())
            said.append(f"{counted(sum(self.dropped.values()), 'judgement')} of the model's did not stand: {reasons}.")
        return said

    def _ask(self, shown: Sequence[ScoredFact], account: Account) -> None:
        answer = ask(self._model, account, messages(shown, self._on), SCHEMA)
        if answer.value is None:
            raise ModelFailed(f"The model {self._model.name} gives no usable answer. {answer.problem}")
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
        reason = one_line(judged["reason"])[:LONGEST_REASON].rstrip(" .")
        told = reason if reason.isprintable() and find_secret(reason) is None else ""
        return PromotionScore(round(float(judged["worth"]), 3), (f"{self._model.name}: {told or 'no reason given'}",))


def messages(shown: Sequence[ScoredFact], on: str) -> list[Message]:
    """The question about some candidates: how to judge in one message, what to judge, as data, in another."""
    asked = _DATA_FOLLOWS.format(on=on, facts=as_data(shown))
    return [{"role": "system", "content": prompt("promote")}, {"role": "user", "content": asked}]


def as_data(shown: Sequence[ScoredFact]) -> str:
    """The candidates as lines of JSON, labelled f1, f2...; no text in them can close the element they stand in."""
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
        told = {key: value for key, value in record.items() if value}
        lines.append(json.dumps(told, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e"))
    return "<facts>\n" + "\n".join(lines) + "\n</facts>"


def _question(waiting: Sequence[ScoredFact]) -> int:
    size = 0
    for number, one in enumerate(waiting[:MOST_FACTS]):
        size += len(one.fact.fact)
        if number and size > LONGEST_QUESTION:
            return number
    return min(len(waiting), MOST_FACTS)
