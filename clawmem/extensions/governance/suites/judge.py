"""The judge of `llm-rubric`: a model that grades an output by a rubric and quotes what decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clawmem.errors import BudgetSpent, ModelFailed
from clawmem.extensions.governance.suites.graders import Grade, Judge, not_judged
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import normal
from clawmem.model.records.caller import Caller
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault

_MOST = 40_000
_SCHEMA = {
    "type": "object",
    "required": ["pass", "score", "quote", "reason"],
    "properties": {
        "pass": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "quote": {"type": "string"},
        "reason": {"type": "string"},
    },
}


@contextmanager
def judging(vault: Vault, caller: Caller, model: Model | None) -> Iterator[Judge]:
    """Yield the judge for one run, with one budget. Without a model nothing is judged. What it costs counts for the
    day. Where the model fails or the budget is spent, the rest is not judged."""
    if model is None:
        yield not_judged
        return
    day = day_of(stamp(caller.now))
    check_model(model)
    account = Account(model.limits, prices_of(model), Spent(cents=spent_on(vault, day)))
    try:
        yield lambda rubric, output: _judged(model, account, rubric, output)
    finally:
        record_spending(vault, day, account.spent.cents)


def _judged(model: Model, account: Account, rubric: str, output: str) -> Grade:
    shown = output[:_MOST].replace("</output>", "</ output>")
    text = f"Rubric: {rubric}\n<output>\n{shown}\n</output>\nJSON only."
    messages = [{"role": "system", "content": prompt("rubric")}, {"role": "user", "content": text}]
    try:
        answer = ask(model, account, messages, _SCHEMA)
    except (BudgetSpent, ModelFailed) as problem:
        return Grade(None, 0.0, f"not judged: {problem.message}")
    if answer.value is None:
        return Grade(None, 0.0, f"not judged: {answer.problem}")
    result = answer.value
    quoted = normal(result["quote"])
    if quoted not in normal(output) or (result["pass"] and not quoted):
        return Grade(None, 0.0, "not judged: what the model quotes is not in the output")
    return Grade(result["pass"], float(result["score"]), result["reason"])
