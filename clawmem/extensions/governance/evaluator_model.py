"""Judge criteria with a language model, in the validation loop and within the budget.

The model has to quote the work. A quote that is not in the work word for word decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from clawmem.errors import BudgetSpent, ModelFailed
from clawmem.extensions.governance.criterion import (
    JUDGED,
    MET,
    REFUTED,
    UNDECIDED,
    Criterion,
    CriterionResult,
    shortened,
)
from clawmem.extensions.governance.evaluator_rules import Work, all_files, text_of_file
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt, prompt_version
from clawmem.model.language.dates import stamp
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault

# Characters of the work that one question shows, and of one file.
_MOST_SHOWN, _MOST_OF_FILE = 40_000, 12_000
_SHORTEST_QUOTE = 8
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "result": {"enum": [MET, REFUTED, UNDECIDED]},
        "quote": {"type": "string", "maxLength": 2000},
        "why": {"type": "string", "maxLength": 1000},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["result", "quote", "why", "confidence"],
    "additionalProperties": False,
}


def judge(
    vault: Vault, model: Model, work: Work, criteria: Sequence[Criterion], now: datetime
) -> list[CriterionResult]:
    """Return what the model finds for each criterion. A failure or a spent budget leaves the rest undecided.

    What the calls cost is recorded in any case. Raise InvalidInput if the model cannot be used as it is set."""
    day = stamp(now)[:10]
    check_model(model)
    account = Account(model.limits, prices_of(model), Spent(cents=spent_on(vault, day)))
    evaluator = f"{model.name} {prompt_version('evaluate')}"
    found: list[CriterionResult] = []
    problem = ""
    for criterion in criteria:
        before = account.spent
        value: dict[str, Any] = {}
        if not problem:
            try:
                value, problem_of_answer = _ask(model, account, criterion.check, shown_work(work, criterion.check))
            except (ModelFailed, BudgetSpent) as failure:
                problem = problem_of_answer = failure.message
            finally:
                record_spending(vault, day, account.spent.cents - before.cents)
        cost = (account.spent.cents - before.cents, account.spent.milliseconds - before.milliseconds)
        if value:
            found.append(_checked(criterion, value, work, evaluator)._replace(cents=cost[0], milliseconds=cost[1]))
        else:
            text = shortened(f"The model gave no usable answer: {problem or problem_of_answer}")
            found.append(CriterionResult(criterion.text, JUDGED, UNDECIDED, text, 0.0, evaluator, *cost))
    return found


def shown_work(work: Work, criterion: str) -> str:
    """Return the files of the work for a question: those that the criterion names first, then small ones.

    Each begins with a line that has its path. Of a long file, the beginning is shown."""
    assert work.folder is not None
    words = set(re.findall(r"[\w.-]{2,}\w", criterion.casefold()))  # without the full stop of a sentence
    ranked = []
    for path in all_files(work):
        name = path.relative_to(work.folder).as_posix()
        near = sum(word in name.casefold() for word in words)
        ranked.append((-near, path.stat().st_size, name, path))
    parts, left = [], _MOST_SHOWN
    for _, size, name, path in sorted(ranked):
        if left <= 0 or size == 0:
            continue
        text = text_of_file(path)
        if text is not None:
            shown = text[: min(_MOST_OF_FILE, left)]
            parts.append(f"--- {name}\n{shown}")
            left -= len(shown)
    return "\n".join(parts)


def _ask(model: Model, account: Account, criterion: str, shown: str) -> tuple[dict[str, Any], str]:
    messages = [
        {"role": "system", "content": prompt("evaluate")},
        {"role": "user", "content": f"<criterion>\n{criterion}\n</criterion>\n<work>\n{shown}\n</work>"},
    ]
    answer = ask(model, account, messages, SCHEMA)
    return answer.value or {}, answer.problem


def _checked(criterion: Criterion, value: dict[str, Any], work: Work, evaluator: str) -> CriterionResult:
    """Return the result of an answer: undecided unless its quote is in a file of the work word for word."""
    quote, why = value["quote"].strip(), value["why"].strip()
    if value["result"] == UNDECIDED:
        return CriterionResult(criterion.text, JUDGED, UNDECIDED, shortened(why), 0.0, evaluator)
    place = _place_of(work, quote) if len(quote) >= _SHORTEST_QUOTE else None
    if place is None:
        text = shortened(f"The quoted evidence is not in the work: {quote}")
        return CriterionResult(criterion.text, JUDGED, UNDECIDED, text, 0.0, evaluator)
    evidence = shortened(f"{place}: {quote} ({why})")
    return CriterionResult(criterion.text, JUDGED, value["result"], evidence, value["confidence"], evaluator)


def _place_of(work: Work, quote: str) -> str | None:
    """Return the path of the file that contains the quote, or None."""
    for path in all_files(work):
        text = text_of_file(path)
        if text is not None and quote in text:
            return path.relative_to(work.folder or path).as_posix()
    return None
