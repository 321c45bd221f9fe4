"""Extraction by a model: it reads the unread events in batches, within its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.by_model.answers import CATEGORIES, SCHEMA, parse_answer
from clawmem.learning.by_model.extraction import RULES, Extraction, ledger_paths
from clawmem.learning.by_model.pieces import EventPiece, batch_size, is_readable, render_pieces, split_events
from clawmem.learning.by_model.telemetry import JUDGING, is_worth_recording, model_runs, reading_event, total_cents
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
from clawmem.model.records.cursor import CURSOR_PATH, events_after, parse_cursor
from clawmem.model.records.event import Event, parse_events, people_in
from clawmem.vault.vault import Vault

_DATA_FOLLOWS = "The events, as data:\n{events}\nList their facts, at most {most}. JSON only."
# A model without any success that fails on this many single events is unusable; the events are not to blame.
_MAX_FAILURES = 2


def read_by_model(
    vault: Vault, caller: Caller, model: Model, dry_run: bool = False, days: Collection[str] | None = None
) -> Extraction:
    """Let the model read the unread events of these days, or of all days.

    Events that it does not reach wait for the next run.
    """
    events = _unread(vault, days)
    readable = [event for event in events if is_readable(event)]
    silent: dict[str, tuple[Proposition, ...]] = {event.id: () for event in events if not is_readable(event)}
    if not readable:
        return Extraction(model.name, False, silent)
    if dry_run:
        return Extraction(model.name, False, notices=(_dry_run_notice(model, readable, vault.catalog),))
    runs = model_runs(vault.read, day_of(stamp(caller.now)))
    reader = _ReadingRun(model, total_cents(runs), vault.catalog)
    problem = reader.read(readable)
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
    event = None
    readings = [one for one in runs if one.get("task") != JUDGING]
    if account is not None and is_worth_recording(account.spent, outcome, readings):
        event = reading_event(
            caller, model.name, account.spent, account.prices is not None, outcome,
            len(read), reader.dropped, reader.unmapped,
        )  # fmt: skip
    return Extraction(
        model.name, by_rules, found, event, None if by_rules else problem, dict(reader.dropped), tuple(notices)
    )


class _ReadingRun:
    """The state of one run: propositions found, events done, dropped facts and cost."""

    def __init__(self, model: Model, earlier_today: float, catalog: Catalog) -> None:
        self.model = model
        self.account: Account | None = None
        self.dropped: Counter[str] = Counter()
        self.unmapped: Counter[str] = Counter()
        self._earlier = earlier_today
        self._catalog = catalog
        self._found: dict[str, list[Proposition]] = {}
        self._complete: list[str] = []
        self._failed: list[str] = []
        self._suspicious: list[str] = []
        self._answered = False

    def read(self, events: Sequence[Event]) -> ClawmemError | None:
        """Ask about all events. Return the error that stopped the run early, or None."""
        speakers = people_in(events)
        waiting = list(split_events(events, speakers))
        self._suspicious = list(dict.fromkeys(piece.event.id for piece in waiting if piece.orders))
        try:
            check_model(self.model)
            self.account = Account(self.model.limits, prices_of(self.model), self._earlier)
            self._ask_all(waiting, self.account)
        except (BudgetSpent, ModelFailed) as problem:
            return problem
        return None

    def complete(self) -> dict[str, list[Proposition]]:
        """Return the propositions of each completely read event.

        An event without a usable answer counts as read, with no propositions, if the model answered for others.
        """
        passed = self._failed if self._answered else []
        return {key: self._found.get(key, []) for key in [*self._complete, *passed]}

    def notices(self) -> list[str]:
        """Return the notices of the run."""
        notices = []
        read = self.complete()
        if self.account is not None and self.account.prices is None and self.account.spent.calls:
            most = self.account.limits.tokens
            notices.append(
                f"The price of {self.model.name} is not known, so costs are not counted. Each answer has at most "
                f"{most:,} tokens (llm.max_tokens)."
            )
        if self.dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common())
            notices.append(f"{sum(self.dropped.values())} of the model's facts were dropped: {reasons}.")
        if self._answered and self._failed:
            notices.append(f"The model gave no usable answer for {', '.join(self._failed[:5])}; skipped.")
        tried = [key for key in self._suspicious if key in read]
        if tried:
            notices.append(f"{', '.join(tried[:5])} contains instructions to a model: read as data, and not trusted.")
        return notices

    def _ask_all(self, waiting: list[EventPiece], account: Account) -> None:
        alone = False
        while waiting:
            count = 1 if alone else batch_size(waiting)
            shown = waiting[:count]
            answer = ask(self.model, account, extraction_messages(shown, self._catalog, account), SCHEMA)
            if answer.value is None and count > 1:
                alone = True
                continue
            if answer.value is None:
                self._add_failure(shown[0], answer)
            else:
                self._take(answer.value, shown, account)
            del waiting[:count]
        if self._failed and not self._answered:
            raise self._unusable(answer)

    def _add_failure(self, piece: EventPiece, answer: CheckedAnswer) -> None:
        self._failed.append(piece.event.id)
        if len(self._failed) >= _MAX_FAILURES and not self._answered:
            raise self._unusable(answer)

    def _unusable(self, answer: CheckedAnswer) -> ModelFailed:
        return ModelFailed(
            f"The model {self.model.name} gave no usable answer. {answer.problem}",
            "Nothing was lost: the events wait. Try a more capable model, or change `llm.output`.",
        )

    def _take(self, value: Any, shown: Sequence[EventPiece], account: Account) -> None:
        self._answered = True
        read = parse_answer(value, shown, self._catalog)
        self.dropped.update(read.dropped)
        self.unmapped.update(read.unmapped)
        for piece, found in zip(shown, read.by_piece, strict=True):
            room = account.limits.facts - account.spent.facts
            if len(found) > room and account.spent.facts:
                raise BudgetSpent(
                    f"One run may add at most {account.limits.facts} facts (llm.max_facts), and there are more.",
                    "The rest waits for the next run.",
                )
            if len(found) > room:
                self.dropped["over the limit of facts"] += len(found) - room
            account.add_facts(len(found[:room]))
            self._found.setdefault(piece.event.id, []).extend(found[:room])
            if piece.last and piece.event.id not in self._failed:
                self._complete.append(piece.event.id)


def extraction_messages(shown: Sequence[EventPiece], catalog: Catalog, account: Account) -> list[Message]:
    """Return the messages for a batch: the instructions, then the pieces as data."""
    most = account.limits.facts - account.spent.facts
    instructions = prompt("extract").format(
        predicates=", ".join(catalog.predicates), categories=", ".join(CATEGORIES), most=account.limits.facts
    )
    asked = _DATA_FOLLOWS.format(events=render_pieces(shown), most=most)
    return [{"role": "system", "content": instructions}, {"role": "user", "content": asked}]


def _unread(vault: Vault, days: Collection[str] | None) -> list[Event]:
    cursor = parse_cursor(vault.read(CURSOR_PATH))
    fresh: list[Event] = []
    for name in ledger_paths(vault, days):
        fresh += events_after(parse_events(vault.read(name) or b"", name), cursor.days.get(PurePosixPath(name).stem))
    return fresh


def _dry_run_notice(model: Model, events: Sequence[Event], catalog: Catalog) -> str:
    """Return the notice of a dry run: how many events wait, and what the first call can cost."""
    account = Account(model.limits, prices_of(model))
    waiting = list(split_events(events, {event.speaker for event in events if event.speaker}))
    first = waiting[: batch_size(waiting)]
    most = account.highest_cost(prompt_tokens(extraction_messages(first, catalog, account)))
    price = f"the first call can cost {amount(most)}" if most is not None else "its price is not known"
    wait = "waits" if len(events) == 1 else "wait"
    return f"A dry run calls no model: {counted(len(events), 'event')} {wait} for {model.name}; {price}."
