"""Reduce a text to claims by a language model, in the validation loop and within the budget."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from clawmem.errors import ModelFailed
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt
from clawmem.model.digestion.claims import ChosenSentence
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import one_line
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_CLAIM = {
    "type": "object",
    "properties": {"claim": _TEXT, "quote": _TEXT},
    "required": ["claim", "quote"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"claims": {"type": "array", "items": _CLAIM}},
    "required": ["claims"],
    "additionalProperties": False,
}


def choose_by_model(vault: Vault, model: Model, text: str, most: int, now: datetime) -> list[ChosenSentence]:
    """Return the claims that a model finds in a text; one whose quote is not in the text is dropped.

    Raise ModelFailed or BudgetSpent. What the calls cost is recorded in any case."""
    day = stamp(now)[:10]
    check_model(model)
    account = Account(model.limits, prices_of(model), Spent(cents=spent_on(vault, day)))
    messages = [
        {"role": "system", "content": prompt("digest").replace("{most}", str(most))},
        {"role": "user", "content": f"<text>\n{text}\n</text>"},
    ]
    try:
        answer = ask(model, account, messages, SCHEMA)
    finally:
        record_spending(vault, day, account.spent.cents)
    if answer.value is None:
        raise ModelFailed(f"The model {model.name} gave no usable answer. {answer.problem}", "It is tried again later.")
    found = []
    for one in answer.value["claims"][:most]:
        quoted = _quoted(one["quote"], text)
        if quoted and one_line(one["claim"]):
            found.append(ChosenSentence(one_line(one["claim"]), *quoted.span(), 0.0))
    return found


def _quoted(quote: str, text: str) -> re.Match[str] | None:
    """Find a quote in a text, whose lines may be broken where the quote has a space."""
    words = [re.escape(word) for word in quote.split()]
    return re.search(r"\s+".join(words), text) if words else None
