"""Extraction by a model: it reads the unread events in batches, within its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.attribution.speaker import said_by_user
from clawmem.learning.by_model.answers import DroppedFact, ParsedAnswer, parse_answer
from clawmem.learning.by_model.extraction import RULES, Extraction, ledger_paths
from clawmem.learning.by_model.known import Surroundings
from clawmem.learning.by_model.pieces import MAX_PIECES, EventPiece, batch_size, is_readable, split_events
from clawmem.learning.by_model.rejections import refused_candidate
from clawmem.learning.by_model.schema import ACCEPTED, CATEGORIES, SCHEMA
from clawmem.learning.by_model.task import ReadingTask, doubtful_rows, instructions, task_data
from clawmem.learning.by_model.telemetry import (
    APPLYING,
    JUDGING,
    is_worth_recording,
    model_runs,
    reading_event,
    total_cents,
)
from clawmem.learning.reconciling.candidate import LearningCandidate
from clawmem.llm.budget import Account, amount
from clawmem.llm.choice import Model
from clawmem.llm.client import Message, check_model, prices_of
from clawmem.llm.loop import CheckedAnswer, LateAnswer, LateForTheRun, ask, prompt_tokens
from clawmem.llm.prompts import prompt
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.cursor import CURSOR_PATH, events_after, parse_cursor
from clawmem.model.records.event import Event, parse_events, people_in
from clawmem.vault.state.reading_state import MOST_SET_ASIDE, EventProgress, ReadingState, read_reading_state
from clawmem.vault.vault import Vault

_END = "List their facts. JSON only."
# The tokens of one fact in an answer, and those that the facts of one event take on average, for sizing questions.
_FACT_TOKENS, _EVENT_TOKENS = 130, 160
# A model without any success that fails on this many single events is unusable; the events are not to blame.
_MAX_FAILURES = 2
# In how many runs a question about one event alone may fail before the event is set aside.
_CHANCES = 2
_UNREAD = EventProgress()


def read_by_model(
    vault: Vault, caller: Caller, model: Model, dry_run: bool = False, days: Collection[str] | None = None
) -> Extraction:
    """Let the model read the unread events of these days, or of all days.

    Events that it does not reach wait for the next run, which continues where this one ended.
    """
    events = _unread(vault, days)
    readable = [event for event in events if is_readable(event)]
    silent: dict[str, tuple[Proposition, ...]] = {event.id: () for event in events if not is_readable(event)}
    if not readable:
        return Extraction(model.name, False, silent)
    kept = read_reading_state(vault)
    if dry_run:
        waiting = [event for event in readable if not kept.events.get(event.id, _UNREAD).done]
        surroundings = Surroundings(vault, caller.agent)
        return Extraction(model.name, False, notices=(_dry_run_notice(model, waiting, vault.catalog, surroundings),))
    runs = model_runs(vault.read, day_of(stamp(caller.now)))
    reader = _ReadingRun(model, total_cents(runs), vault.catalog, kept, Surroundings(vault, caller.agent))
    reader.today = stamp(caller.now)[:10]
    user = vault.settings.words("user.name")
    problem = reader.read([said_by_user(event, user) for event in readable])
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
    partly = {} if by_rules else {key: tuple(value) for key, value in reader.partly_read().items()}
    found = read if by_rules else {**silent, **read, **partly}
    outcome = RULES if by_rules else problem.code if problem else "done"
    notices = list(reader.notices())
    if by_rules and problem:
        notices.append(f"{problem.message} The rules read the rest, as llm.fallback says.")
    account = reader.account
    event = None
    readings = [one for one in runs if one.get("task") not in (JUDGING, APPLYING)]
    if account is not None and is_worth_recording(account.spent, outcome, readings):
        event = reading_event(
            caller, model.name, account.spent, account.prices is not None, outcome,
            len(read), reader.dropped, reader.unmapped,
        )  # fmt: skip
    return Extraction(
        model.name, by_rules, found, event, None if by_rules else problem, dict(reader.dropped), tuple(notices),
        frozenset(partly), reader.continued, reader.progress(by_rules), tuple(reader.rejected),
    )  # fmt: skip


class _ReadingRun:
    """The state of one run: propositions found, events done, dropped facts and cost."""

    def __init__(
        self, model: Model, earlier_today: float, catalog: Catalog, kept: ReadingState, surroundings: Surroundings
    ) -> None:
        self.model = model
        self.account: Account | None = None
        self.today = ""
        self.dropped: Counter[str] = Counter()
        self.rejected: list[LearningCandidate] = []
        self.unmapped: Counter[str] = Counter()
        self.continued = frozenset(key for key, one in kept.events.items() if one.told and not one.done)
        self._earlier = earlier_today
        self._catalog = catalog
        self._kept = kept
        self._surroundings = surroundings
        self._events = dict(kept.events)
        self._others: dict[str, EventProgress] = {}
        self._most = max(1, min(MAX_PIECES, model.limits.tokens // _EVENT_TOKENS))
        self._batch = self._next_batch = min(kept.batch or self._most, self._most)
        self._found: dict[str, list[Proposition]] = {}
        self._complete: list[str] = []
        self._failing: list[str] = []
        self._suspicious: list[str] = []
        self._waiting: list[EventPiece] = []
        self._answered = False

    def read(self, events: Sequence[Event]) -> ClawmemError | None:
        """Ask about all events. Return the error that stopped the run early, or None."""
        ids = {event.id for event in events}
        self._others = {key: one for key, one in self._events.items() if key not in ids}
        self._events = {key: one for key, one in self._events.items() if key in ids}
        self._complete += [key for key, one in self._events.items() if one.done]
        # Events that failed alone come last, so that they do not take the time of the others.
        left = sorted((event for event in events if event.id not in self._complete), key=self._failures)
        waiting = list(split_events(left, people_in(events), {key: one.offset for key, one in self._events.items()}))
        self._waiting = waiting
        self._suspicious = list(dict.fromkeys(piece.event.id for piece in waiting if piece.orders))
        if not waiting:
            return None
        try:
            check_model(self.model)
            self.account = Account(self.model.limits, prices_of(self.model), self._earlier)
            self._ask_all(waiting, self.account)
        except (BudgetSpent, ModelFailed) as problem:
            return problem
        return self._to_try_again()

    def complete(self) -> dict[str, list[Proposition]]:
        """Return the propositions of each event that was read completely or set aside."""
        return {key: self._found.get(key, []) for key in [*self._complete, *self._set_aside()]}

    def partly_read(self) -> dict[str, list[Proposition]]:
        """Return the propositions so far of each event that was not read completely."""
        read = self.complete()
        return {key: found for key, found in self._found.items() if key not in read and found}

    def progress(self, by_rules: bool) -> ReadingState:
        """Return the state for the next run. Events that were read after an event that still waits count as done."""
        if not self._answered and len(self._failing) >= _MAX_FAILURES:
            return self._kept._replace(batch=self._next_batch)  # the model is unusable; the events are not to blame
        read = self.complete()
        waits = not by_rules and (self._waiting or self._to_try_again() is not None)
        if not waits:
            return ReadingState(self._next_batch, self._others, self._all_set_aside())
        events = {key: one for key, one in self._events.items() if key not in read}
        events.update({key: EventProgress(done=True) for key in self._complete})
        return ReadingState(self._next_batch, {**self._others, **events}, self._all_set_aside())

    def _all_set_aside(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._kept.set_aside, *self._set_aside())))[-MOST_SET_ASIDE:]

    def notices(self) -> list[str]:
        """Return the notices of the run."""
        notices = []
        read = self.complete()
        if self.account is not None and self.account.prices is None and self.account.spent.calls:
            limits, spent = self.account.limits, self.account.spent
            notices.append(
                f"The price of {self.model.name} is not known, so costs are not counted. The run took"
                f" {counted(spent.calls, 'call')}, {spent.prompt_tokens + spent.answer_tokens:,} tokens; at most "
                f"{limits.unpriced_calls} calls in one run and {limits.tokens:,} tokens in one answer (llm.max_tokens)."
            )
        if self.dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common())
            notices.append(f"{sum(self.dropped.values())} of the model's facts were dropped: {reasons}.")
        if aside := self._set_aside():
            notices.append(f"The model gave no usable answer for {', '.join(aside[:5])} twice; set aside.")
        tried = [key for key in self._suspicious if key in read]
        if tried:
            notices.append(f"{', '.join(tried[:5])} contains instructions to a model: read as data, and not trusted.")
        return notices

    def _ask_all(self, waiting: list[EventPiece], account: Account) -> None:
        while waiting:
            shown = waiting[: self._question(waiting)]
            task = self._task(shown, account)
            asked = extraction_messages(task, self._catalog, self.today)
            try:
                answer = ask(self.model, account, asked, SCHEMA, divisible=len(shown) > 1, accepted=ACCEPTED)
            except (LateAnswer, LateForTheRun) as late:
                self._late(shown, late, first=account.spent.calls == 1)
                waiting[:] = [one for one in waiting if one.event.id not in self._failing]
                continue
            if answer.value is not None:
                done = self._take(answer, task, account)
                waiting[: len(shown)] = [piece for piece, read in zip(shown, done, strict=True) if not read]
            elif len(shown) > 1:
                self._ask_less(shown, lasting=answer.cut)
            else:
                self._failed_alone(shown[0], self._unusable(answer))
                waiting[:] = [one for one in waiting if one.event.id not in self._failing]

    def _task(self, shown: Sequence[EventPiece], account: Account) -> ReadingTask:
        """Return the task for the next question. The model is told what it found in these pieces before, and of other
        events it is shown what this run has found."""
        ids = {one.event.id for one in shown}
        told = [words for key in dict.fromkeys(one.event.id for one in shown) for words in self._of(key).told]
        found = [one for key, each in self._found.items() if key not in ids for one in each]
        room = account.limits.facts - account.spent.facts
        most = max(1, min(room, account.limits.tokens // _FACT_TOKENS))
        task = self._surroundings.task(shown, (), found, told, most)
        # A provider that refuses an event would refuse every question that shows it.
        return task._replace(before=tuple(one for one in task.before if not self._failures(one)))

    def _question(self, waiting: Sequence[EventPiece]) -> int:
        """Return the size of the next batch. A piece that failed alone is asked about alone."""
        count = min(batch_size(waiting), self._batch)
        failed = next((n for n, one in enumerate(waiting[:count]) if self._failures(one.event)), count)
        return max(1, failed)

    def _ask_less(self, shown: Sequence[EventPiece], lasting: bool) -> None:
        """Halve the batch from now on. If `lasting` is true, the next run starts with that size."""
        self._batch = max(1, len(shown) // 2)
        if lasting:
            self._next_batch = self._batch

    def _late(self, shown: Sequence[EventPiece], late: LateAnswer | LateForTheRun, first: bool) -> None:
        """Ask about less from now on. Raise the error if the run has no time left or the model is unusable."""
        self._ask_less(shown, lasting=True)
        # A question that had only the rest of the run's time does not blame the event.
        if len(shown) == 1 and (first or isinstance(late, LateAnswer)):
            self._failed_alone(shown[0], late)
        if isinstance(late, LateForTheRun):
            raise late

    def _failed_alone(self, piece: EventPiece, problem: ClawmemError) -> None:
        key = piece.event.id
        self._failing.append(key)
        self._events[key] = self._of(key)._replace(failed=self._of(key).failed + 1)
        if len(self._failing) >= _MAX_FAILURES and not self._answered:
            raise problem

    def _set_aside(self) -> list[str]:
        """The events on which the model failed in two runs, alone, while it answered about others."""
        return [key for key in self._failing if self._answered and self._of(key).failed >= _CHANCES]

    def _to_try_again(self) -> ModelFailed | None:
        again = [key for key in self._failing if key not in self._set_aside()]
        if not again:
            return None
        return ModelFailed(
            f"The model {self.model.name} gives no usable answer on {', '.join(again[:5])}.",
            "The next run asks once more, and then sets it aside." if self._answered
            else "Nothing was lost: the events wait. A model that follows instructions better may help, or "
            "`llm.output`.",
        )  # fmt: skip

    def _unusable(self, answer: CheckedAnswer) -> ModelFailed:
        return ModelFailed(
            f"The model {self.model.name} gave no usable answer. {answer.problem}",
            "Nothing was lost: the events wait. Try a more capable model, or change `llm.output`.",
        )

    def _take(self, answer: CheckedAnswer, task: ReadingTask, account: Account) -> list[bool]:
        """Take in what an answer says; return whether each piece was read to its end.

        A piece is asked about again if the answer names it under `more`, or if the answer may have left facts out
        without saying so, because it was cut or has as many facts as there was room for.
        """
        self._answered = True
        shown = task.shown
        read = parse_answer(answer.value, task, self._catalog)
        late: ClawmemError | None = None
        try:
            read = self._asked_again(read, task, account)
        except (BudgetSpent, ModelFailed) as problem:
            late = problem
        self._note(read, task)
        new = [
            [one for one in found if one.statement not in self._of(piece.event.id).told]
            for piece, found in zip(shown, read.by_piece, strict=True)
        ]
        room = account.limits.facts - account.spent.facts
        given = len(answer.value["facts"])
        capped = answer.cut or given >= room or (given >= task.most and not read.more)
        more = capped and (any(new) or len(shown) > 1)
        if capped:
            self._ask_less(shown, lasting=True)
        elif not read.more:
            self._batch = self._next_batch = min(self._most, self._batch * 2)
        done: list[bool] = []
        left: set[str] = set()
        for number, (piece, found) in enumerate(zip(shown, new, strict=True)):
            named = (number in read.more and bool(found)) or (late is not None and _is_doubted(read, number))
            whole = self._found_in(piece, found, account) and not more and not named and piece.event.id not in left
            if whole:
                self._read_to_end(piece)
            else:
                left.add(piece.event.id)
            done.append(whole)
        if isinstance(late, BudgetSpent):
            raise late
        return done

    def _note(self, read: ParsedAnswer, task: ReadingTask) -> None:
        self.dropped.update(read.dropped)
        self.unmapped.update(read.unmapped)
        self.rejected += [refused_candidate(one, task) for one in read.rejected]

    def _asked_again(self, read: ParsedAnswer, task: ReadingTask, account: Account) -> ParsedAnswer:
        """Ask once more about doubtful facts, except about texts with orders to a model. Return both answers as one."""
        doubtful = [one for one in read.doubtful if one.number is None or not task.shown[one.number].orders]
        if not doubtful or not account.limits.retries or task.shown[0].orders:
            return read
        asked = doubtful_messages(task, doubtful, self._catalog, self.today)
        answer = ask(self.model, account, asked, SCHEMA, accepted=ACCEPTED)
        if answer.value is None:
            return read
        second = parse_answer(answer.value, task, self._catalog, affirmed=range(len(task.shown)))
        return _joined(read, second, doubtful)

    def _found_in(self, piece: EventPiece, found: Sequence[Proposition], account: Account) -> bool:
        """Add as many facts as the run may still find. Return whether that was all of them."""
        taken = found[: account.limits.facts - account.spent.facts]
        account.add_facts(len(taken))
        key = piece.event.id
        self._found.setdefault(key, []).extend(taken)
        if taken:
            told = self._of(key).told
            self._events[key] = self._of(key)._replace(told=(*told, *(one.statement for one in taken)))
        return len(taken) == len(found)

    def _read_to_end(self, piece: EventPiece) -> None:
        key = piece.event.id
        if piece.last:
            self._complete.append(key)
        self._events[key] = self._of(key)._replace(offset=piece.start + len(piece.text), told=(), failed=0)

    def _of(self, key: str) -> EventProgress:
        return self._events.get(key, _UNREAD)

    def _failures(self, event: Event) -> int:
        return self._of(event.id).failed


def extraction_messages(task: ReadingTask, catalog: Catalog, today: str) -> list[Message]:
    """The question about some pieces: how to read in one message, and what to read and what is known, as data, in
    another."""
    how = instructions(catalog, CATEGORIES, task.most)
    return [{"role": "system", "content": how}, {"role": "user", "content": f"{task_data(task, today)}\n{_END}"}]


def doubtful_messages(
    task: ReadingTask, doubtful: Sequence[DroppedFact], catalog: Catalog, today: str
) -> list[Message]:
    """The second question, about facts of an answer that were not accepted."""
    how = extraction_messages(task, catalog, today)[0]
    label = [task.label(one.number) if one.number is not None else one.detail for one in doubtful]
    rows = [(name, one.statement, one.quote, one.says) for name, one in zip(label, doubtful, strict=True)]
    asked = prompt("doubtful").format(doubtful=doubtful_rows(rows))
    return [how, {"role": "user", "content": f"{task_data(task, today)}\n{asked}"}]


def _joined(first: ParsedAnswer, second: ParsedAnswer, doubtful: Sequence[DroppedFact]) -> ParsedAnswer:
    """Return a first answer with what a second one says about its doubtful facts. What that leaves out is dropped."""
    by_piece = []
    fresh: list[list[Proposition]] = []
    for before, found in zip(first.by_piece, second.by_piece, strict=True):
        new = [one for one in found if all(one.statement != known.statement for known in before)]
        by_piece.append((*before, *new))
        fresh.append(list(new))
    left = [one for one in first.rejected if one not in doubtful]
    for one in doubtful:
        solved = fresh if one.number is None else [fresh[one.number]]
        good = next((each for each in solved if each), None)
        if good is None:
            left.append(one)
        else:
            good.pop(0)
    unmapped = Counter(first.unmapped) + Counter(second.unmapped)
    return first._replace(by_piece=tuple(by_piece), rejected=tuple(left), unmapped=unmapped)


def _is_doubted(read: ParsedAnswer, number: int) -> bool:
    return any(one.number in (number, None) for one in read.doubtful)


def _unread(vault: Vault, days: Collection[str] | None) -> list[Event]:
    cursor = parse_cursor(vault.read(CURSOR_PATH))
    fresh: list[Event] = []
    for name in ledger_paths(vault, days):
        fresh += events_after(parse_events(vault.read(name) or b"", name), cursor.days.get(PurePosixPath(name).stem))
    return fresh


def _dry_run_notice(model: Model, events: Sequence[Event], catalog: Catalog, surroundings: Surroundings) -> str:
    """Return the notice of a dry run: how many events wait, and what the first call can cost."""
    account = Account(model.limits, prices_of(model))
    waiting = list(split_events(events, {event.speaker for event in events if event.speaker}))
    first = waiting[: batch_size(waiting)]
    asked = extraction_messages(surroundings.task(first, most=1), catalog, "") if first else []
    most = account.highest_cost(prompt_tokens(asked))
    price = f"the first call can cost {amount(most)}" if most is not None else "its price is not known"
    wait = "waits" if len(events) == 1 else "wait"
    return f"A dry run calls no model: {counted(len(events), 'event')} {wait} for {model.name}; {price}."
