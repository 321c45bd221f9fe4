"""The answer to a question as text: a model writes it from what was found, and each sentence cites its facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed, Refused
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import CitedSentence, ask_grounded
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.pages.tokens import said_on
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, display_speaker
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault

PARTS = ("answer",)
MOST_SHOWN = 40
_LONGEST_TEXT = 1000


class Narrative(NamedTuple):
    """The sentences of the answer with the ids that they cite, what was dropped, and why there is no answer."""

    sentences: tuple[CitedSentence, ...] = ()
    notices: tuple[str, ...] = ()
    problem: ClawmemError | None = None

    @property
    def text(self) -> str:
        """Return the answer with the ids in brackets after each sentence."""
        return " ".join(f"{sentence.text} [{', '.join(sentence.cites)}]" for sentence in self.sentences)

    @property
    def cites(self) -> tuple[str, ...]:
        """Return the ids that the answer cites, each once."""
        return tuple(dict.fromkeys(cite for sentence in self.sentences for cite in sentence.cites))


def check_model_set(model: Model | None) -> Model:
    """Return the model. Raise Refused if none is set."""
    if model is None:
        raise Refused("No model is set, and only a model can write an answer.", "Set one with `config set llm.model`.")
    return model


def narrate(
    vault: Vault, caller: Caller, model: Model, question: str, facts: Iterable[PlacedFact], events: Sequence[Event] = ()
) -> Narrative:
    """Let the model answer a question from facts and events. What it costs counts for the day.

    Facts and events with a credential, and facts in quarantine, are not shown. A failure of the model is the `problem`
    of the result.
    """
    shown = _records(facts, events)
    if not shown:
        return Narrative()
    day = day_of(stamp(caller.now))
    account = None
    try:
        check_model(model)
        account = Account(model.limits, prices_of(model), Spent(cents=spent_on(vault, day)))
        text = ask_grounded(model, account, "answer", PARTS, f"The question: {question}", shown)
    except (BudgetSpent, ModelFailed) as problem:
        return Narrative(problem=problem)
    finally:
        if account is not None:
            record_spending(vault, day, account.spent.cents)
    return Narrative(text.sentences, text.notices)


def facts_named(vault: Vault, ids: Sequence[str]) -> list[PlacedFact]:
    """Return the facts with these ids, in their order."""
    found = run_query(vault, lambda index: by_ids(index, ids))
    return [found[identifier] for identifier in ids if identifier in found]


def _records(facts: Iterable[PlacedFact], events: Sequence[Event]) -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for placed in facts:
        if quarantine_rule(placed.fact) is None:
            day = said_on(placed.fact) or day_of(placed.fact.timestamp)
            found[placed.fact.id] = {
                "fact": placed.fact.fact,
                "about": placed.entity,
                "day": day,
                "until": placed.fact.valid_to,
            }
    for event in events:
        text = event.text[:_LONGEST_TEXT]
        found[event.id] = {"said": text, "by": display_speaker(event), "day": day_of(event.timestamp)}
    safe = {
        key: record
        for key, record in found.items()
        if find_secret(str(record.get("fact") or record.get("said"))) is None
    }
    return dict(list(safe.items())[:MOST_SHOWN])
