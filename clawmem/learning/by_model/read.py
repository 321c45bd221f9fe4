"""Extraction by a model: unread events, question by question, as far as its limits allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.by_model.answers import CATEGORIES, SCHEMA, understood
from clawmem.learning.by_model.extraction import RULES, Extraction, ledgers
from clawmem.learning.by_model.pieces import EventPiece, as_data, pieces, question, speaks
from clawmem.learning.by_model.telemetry import JUDGING, cents_of, runs_of, telemetry_of_reading, worth_telling
from clawmem.learning.reconciling.cursor import PATH, parse_cursor, unread
from clawmem.llm.budget import Account, amount
from clawmem.llm.choice import Model
from clawmem.llm.client import Message, check_model, prices_of
from clawmem.llm.loop import CheckedAnswer, ask, prompt_tokens
from clawmem.llm.prompts import prompt
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, parse_events, people_in
from clawmem.vault.vault import Vault

_DATA_FOLLOWS = "The events, as data:\n{events}\nList their facts, at most {most}. JSON only."
# A model that fails on so many questions of one event each, and on none succeeds, is not at fault for one bad event.
_HOPELESS = 2


def read_by_model(
    vault: Vault, caller: Caller, model: Model, dry_run: bool = False, days: Collection[str] | None = None
) -> Extraction:
    """Let the model read every event of these days, or of all, that no earlier round has; what it does not come to
    waits for the next run."""
    events = _unread(vault, days)
    telling = [event for event in events if speaks(event)]
    silent: dict[str, tuple[Proposition, ...]] = {event.id: () for event in events if not speaks(event)}
    if not telling:
        return Extraction(model.name, False, silent)
    if dry_run:
        return Extraction(model.name, False, notices=(_rehearsal(model, telling, vault.catalog),))
    runs = runs_of(vault.read, day_of(stamp(caller.now)))
    reader = _ReadingRun(model, cents_of(runs), vault.catalog)
    problem = reader.read(telling)
    return _extraction(reader, caller, silent, problem, runs)


def _extraction(
    reader: _ReadingRun,
    caller: Caller,
    silent: dict[str, tuple[Proposition, ...]],
    problem: ClawmemError | None,
    runs: Sequence[Any],
) -> Extraction:
    model = reader.model
    by_rules = isinstance(problem, ModelFailed) and model.fallback == RULES
    read = {key: tuple(value) for key, value in reader.complete().items()}
    found = read if by_rules else {**silent, **read}
    outcome = RULES if by_rules else problem.code if problem else "done"
    notices = list(reader.notices())
    if by_rules and problem:
        notices.append(f"{problem.message} The rules read the rest, as llm.fallback says.")
    account = reader.account
    left = None
    readings = [one for one in runs if one.get("task") != JUDGING]
    if account is not None and worth_telling(account.spent, outcome, readings):
        left = telemetry_of_reading(
            caller, model.name, account.spent, account.prices is not None, outcome,
            len(read), reader.dropped, reader.unmapped,
        )  # fmt: skip
    return Extraction(
        model.name, by_rules, found, left, None if by_rules else problem, dict(reader.dropped), tuple(notices)
    )


class _ReadingRun:
    """One run: the questions still to ask, what was found, and what it cost."""

    def __init__(self, model: Model, earlier_today: float, catalog: Catalog) -> None:
        self.model = model
        self.account: Account | None = None
        self.dropped: Counter[str] = Counter()
        self.unmapped: Counter[str] = Counter()
        self._earlier = earlier_today
        self._catalog = catalog
        self._found: dict[str, list[Proposition]] = {}
        self._complete: list[str] = []
        self._aside: list[str] = []
        self._suspicious: list[str] = []
        self._answered = False

    def read(self, events: Sequence[Event]) -> ClawmemError | None:
        """Ask about all the events; why it stopped before the end, None where it did not."""
        speakers = people_in(events)
        waiting = list(pieces(events, speakers))
        self._suspicious = list(dict.fromkeys(piece.event.id for piece in waiting if piece.orders))
        try:
            check_model(self.model)
            self.account = Account(self.model.limits, prices_of(self.model), self._earlier)
            self._ask_all(waiting, self.account)
        except (BudgetSpent, ModelFailed) as problem:
            return problem
        return None

    def complete(self) -> dict[str, list[Proposition]]:
        """The propositions of each event that was read to its end; one whose question only ever failed while others
        were answered is passed over."""
        passed = self._aside if self._answered else []
        return {key: self._found.get(key, []) for key in [*self._complete, *passed]}

    def notices(self) -> list[str]:
        """What a person should hear of the run, besides its result."""
        said = []
        read = self.complete()
        if self.account is not None and self.account.prices is None and self.account.spent.calls:
            most = self.account.limits.tokens
            said.append(
                f"The price of {self.model.name} is not known: no money is counted, each answer has at most "
                f"{most:,} tokens (llm.max_tokens)."
            )
        if self.dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common())
            said.append(f"{sum(self.dropped.values())} of the model's facts were dropped: {reasons}.")
        if self._answered and self._aside:
            said.append(f"The model gave no usable answer on {', '.join(self._aside[:5])}; passed over.")
        tried = [key for key in self._suspicious if key in read]
        if tried:
            said.append(
                f"{', '.join(tried[:5])} would give a model orders: read as data, and nothing of it is trusted."
            )
        return said

    def _ask_all(self, waiting: list[EventPiece], account: Account) -> None:
        alone = False
        while waiting:
            count = 1 if alone else question(waiting)
            shown = waiting[:count]
            answer = ask(self.model, account, messages(shown, self._catalog, account), SCHEMA)
            if answer.value is None and count > 1:
                alone = True
                continue
            if answer.value is None:
                self._set_aside(shown[0], answer)
            else:
                self._take(answer.value, shown, account)
            del waiting[:count]
        if self._aside and not self._answered:
            raise self._unusable(answer)

    def _set_aside(self, piece: EventPiece, answer: CheckedAnswer) -> None:
        self._aside.append(piece.event.id)
        if len(self._aside) >= _HOPELESS and not self._answered:
            raise self._unusable(answer)

    def _unusable(self, answer: CheckedAnswer) -> ModelFailed:
        return ModelFailed(
            f"The model {self.model.name} gives no usable answer. {answer.problem}",
            "Nothing was lost: the events wait. A model that follows instructions better may help, or `llm.output`.",
        )

    def _take(self, value: Any, shown: Sequence[EventPiece], account: Account) -> None:
        self._answered = True
        read = understood(value, shown, self._catalog)
        self.dropped.update(read.dropped)
        self.unmapped.update(read.unmapped)
        for piece, found in zip(shown, read.by_piece, strict=True):
            room = account.limits.facts - account.spent.facts
            if len(found) > room and account.spent.facts:
                raise BudgetSpent(
                    f"{account.limits.facts} facts are the most in one run (llm.max_facts), and there are more.",
                    "The rest waits for the next run.",
                )
            if len(found) > room:
                self.dropped["over the limit of facts"] += len(found) - room
            account.add_facts(len(found[:room]))
            self._found.setdefault(piece.event.id, []).extend(found[:room])
            if piece.last and piece.event.id not in self._aside:
                self._complete.append(piece.event.id)


def messages(shown: Sequence[EventPiece], catalog: Catalog, account: Account) -> list[Message]:
    """The question about some pieces: how to read in one message, what to read, as data, in another."""
    most = account.limits.facts - account.spent.facts
    told = prompt("extract").format(
        predicates=", ".join(catalog.predicates), categories=", ".join(CATEGORIES), most=account.limits.facts
    )
    asked = _DATA_FOLLOWS.format(events=as_data(shown), most=most)
    return [{"role": "system", "content": told}, {"role": "user", "content": asked}]


def _unread(vault: Vault, days: Collection[str] | None) -> list[Event]:
    cursor = parse_cursor(vault.read(PATH))
    fresh: list[Event] = []
    for name in ledgers(vault, days):
        fresh += unread(parse_events(vault.read(name) or b"", name), cursor.days.get(PurePosixPath(name).stem))
    return fresh


def _rehearsal(model: Model, events: Sequence[Event], catalog: Catalog) -> str:
    """What a run would read and could cost, said without calling anybody."""
    account = Account(model.limits, prices_of(model))
    waiting = list(pieces(events, {event.speaker for event in events if event.speaker}))
    first = waiting[: question(waiting)]
    most = account.highest_cost(prompt_tokens(messages(first, catalog, account)))
    price = f"the first call can cost {amount(most)}" if most is not None else "its price is not known"
    wait = "waits" if len(events) == 1 else "wait"
    return f"A dry run calls no model: {counted(len(events), 'event')} {wait} for {model.name}; {price}."
