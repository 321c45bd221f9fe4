"""A model answers the tasks of the queue, one after the other, within its limits; or one short question, as a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, InvalidInput, ModelFailed
from clawmem.learning.apply import ApplyResult, Reader, apply_reading, digest_of
from clawmem.learning.by_model.task import ACCEPTED, SCHEMA, instructions, is_readable, task_data
from clawmem.learning.by_model.telemetry import (
    Extraction,
    add_event,
    is_worth_recording,
    model_runs,
    reading_event,
    spent_in,
    trial_event,
)
from clawmem.learning.learn import LearnResult, learn_from
from clawmem.learning.pending import MOST_EVENTS, PendingTask, pending
from clawmem.learning.unread import Readers, after_cursor, reader_of, waiting_count
from clawmem.llm.budget import Account, Prices, Spent, amount
from clawmem.llm.choice import Model, choose_model, further_readers, more_presets, prompt
from clawmem.llm.client import Message, check_model, prices_of
from clawmem.llm.loop import CheckedAnswer, LateAnswer, LateForTheRun, ask, prompt_tokens
from clawmem.llm.presets import PRESETS
from clawmem.memory.health.configure import PRESET, check_accepted, check_person, write_values
from clawmem.memory.writing import writing
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.progress import OnProgress
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.event import model_run
from clawmem.model.settings.settings import BY_KEY, COMMAND, is_command
from clawmem.vault.state.local_settings import local_settings_file
from clawmem.vault.state.reading_state import MOST_SET_ASIDE, EventProgress, keep_reading_state, read_reading_state
from clawmem.vault.state.spending import UseMeter
from clawmem.vault.vault import Vault

_END = "JSON only."
# The tokens of one fact in an answer, and those that the facts of one event take on average, for sizing questions.
_FACT_TOKENS, _EVENT_TOKENS = 70, 80
_TASK_TOKENS = 6_000
# A model without any success that fails on this many single events is unusable; the events are not to blame.
_MAX_FAILURES = 2
# In how many runs a question about one event alone may fail before the event is set aside.
_CHANCES = 2
_UNREAD = EventProgress()
MORE = "llm.more_presets"


def read_by_model(
    vault: Vault, caller: Caller, model: Model, dry_run: bool = False, report: OnProgress | None = None
) -> LearnResult:
    """Let the model answer tasks about unread events until none waits or a limit is reached.

    Events that it does not reach wait for the next run. Each answer is one commit.
    """
    if dry_run:
        return LearnResult(0, (), (), None, model.name, (_dry_run_notice(vault, caller, model),))
    rest: list[LearnResult] = []
    failures: list[ClawmemError] = []
    for other in further_readers(model, vault.settings, vault.environment):
        further = _ReadingRun(vault, caller, other, reader_of(other.harness, with_none=False))
        problem = further.read()
        rest.append(further.result(problem, []))
        failures += [problem] if problem else []
    run = _ReadingRun(vault, caller, model, reader_of(model.harness))
    problem = run.read()
    if not waiting_count(vault) and (silent := [event for event in after_cursor(vault) if not is_readable(event)]):
        # What no model is shown counts as read, too.
        unseen = Extraction(model.name, {event.id: () for event in silent})
        days = {day_of(event.timestamp) for event in silent}
        rest.append(learn_from(vault, caller, unseen, False, days, report))
    result = run.result(problem, rest)
    return result._replace(extraction=result.extraction._replace(others=tuple(failures)))


class _ReadingRun:
    """The state of one run: what was learned, which events failed alone, and the cost."""

    def __init__(self, vault: Vault, caller: Caller, model: Model, reads: Readers) -> None:
        self._vault = vault
        self._caller = caller
        self._model = model
        self._runs = model_runs(vault.read, day_of(stamp(caller.now)))
        self._account: Account | None = None
        self._recorded = Spent()
        self._most = max(1, min(MOST_EVENTS, model.limits.tokens // _EVENT_TOKENS))
        self._batch = min(read_reading_state(vault).batch or self._most, self._most)
        self._failing: list[str] = []
        self._reads = reads
        self._answered = False
        self._done: list[LearnResult] = []
        self._dropped: Counter[str] = Counter()
        self._suspicious: list[str] = []

    def read(self) -> ClawmemError | None:
        """Answer all tasks. Return the error that stopped the run early, or None."""
        task = self._next()
        if not task.text:
            return None
        try:
            check_model(self._model)
            self._account = Account(self._model.limits, prices_of(self._model), spent_in(self._runs))
            while task.text:
                self._ask(task, self._account)
                task = self._next()
        except (BudgetSpent, ModelFailed) as problem:
            return problem
        return self._to_try_again()

    def result(self, problem: ClawmemError | None, rest: list[LearnResult]) -> LearnResult:
        """Return what all answers taught as one result, with the cost of the run."""
        outcome = problem.code if problem else "done"
        account, commit = self._account, None
        self._keep_failures()
        readings = [run for run in self._runs if "task" not in run]
        spent = self._since_recorded()
        if account and problem and is_worth_recording(spent, outcome, [*readings, *self._own_runs()]):
            priced = account.prices is not None
            event = reading_event(self._caller, self._model.name, spent, priced, outcome, 0, self._dropped)
            with writing(self._vault, self._caller, "learn") as work:
                change = Change(
                    subject_line("learn", "ledger", f"the model stopped ({outcome})"), {}, trailers("learn")
                )
                commit = work.commit([add_event(change, event, work.read)])[-1]
        items = [*self._done, *rest]
        notices = list(self._notices())
        total = None
        if account is not None and account.spent.calls:
            events = sum(result.events for result in self._done)
            total = reading_event(
                self._caller, self._model.name, account.spent, account.prices is not None, outcome, events,
                self._dropped
            )  # fmt: skip
        read = Extraction(
            self._model.name, dict.fromkeys(map(str, range(bool(self._done))), ()), total, problem,
            dict(self._dropped)
        )  # fmt: skip
        commits = [result.commit for result in items if result.commit]
        return LearnResult(
            sum(result.events for result in items),
            tuple(candidate for result in items for candidate in result.candidates),
            tuple(sorted({entity for result in items for entity in result.entities})),
            commits[-1] if commits else commit,
            read.extractor,
            tuple(dict.fromkeys((*(notice for result in items for notice in result.notices), *notices))),
            tuple(proposal for result in items for proposal in result.proposals),
            read,
        )

    def _own_runs(self) -> list[Mapping[str, Any]]:
        return [result.extraction.run for result in self._done if result.extraction.run]

    def _next(self) -> PendingTask:
        """Return the next task, with as few events as the last answers ask for."""
        limits, spent = self._model.limits, self._account.spent if self._account else Spent()
        most = max(1, min(limits.facts - spent.facts, limits.tokens // _FACT_TOKENS))
        size = _TASK_TOKENS
        while True:
            try:
                return pending(
                    self._vault, self._caller, size, None, False, self._batch, most, self._failing, self._reads
                )
            except InvalidInput:
                size *= 2  # one long event

    def _ask(self, task: PendingTask, account: Account) -> None:
        assert task.reading is not None
        self._suspicious += [piece.event.id for piece in task.reading.shown if piece.orders]
        system = instructions(self._vault.catalog)
        data = f"{task_data(task.reading, stamp(self._caller.now)[:10])}\n{_END}"
        asked: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": data}]
        alone = len(task.events) == 1
        try:
            answer = ask(self._model, account, asked, SCHEMA, divisible=not alone, accepted=ACCEPTED)
        except (LateAnswer, LateForTheRun) as late:
            first = account.spent.calls == 1
            self._ask_less(task, lasting=True)
            # A question that had only the rest of the run's time does not blame the event.
            if alone and (first or isinstance(late, LateAnswer)):
                self._failed_alone(task, late)
            if isinstance(late, LateForTheRun):
                raise
            return
        if answer.value is not None:
            self._take(answer, task, account)
        elif not alone:
            self._ask_less(task, lasting=answer.cut)
        else:
            self._failed_alone(task, self._unusable(answer))

    def _take(self, answer: CheckedAnswer, task: PendingTask, account: Account) -> None:
        """Apply an answer, and ask once more about doubtful facts.

        An answer that was cut, or has as many facts as there was room for, may have left facts out without saying so.
        """
        self._answered = True
        assert task.reading is not None
        room = account.limits.facts - account.spent.facts
        number = len(answer.value["facts"])
        capped = answer.cut or number >= room or (number >= task.reading.most and not answer.value.get("more"))
        result = self._apply(answer.value, task.key, account, room, capped)
        if capped:
            self._ask_less(task, lasting=True)
        elif not answer.value.get("more"):
            self._batch = min(self._most, self._batch * 2)
            self._keep_batch()
        if result.follow_up and account.limits.retries:
            again = ask(
                self._model, account, [{"role": "user", "content": result.follow_up}], SCHEMA, accepted=ACCEPTED
            )
            key = result.follow_up.split('"', 2)[1]
            value = again.value if again.value is not None else {"facts": []}
            self._apply(value, key, account, account.limits.facts - account.spent.facts, False)

    def _apply(self, value: Mapping[str, Any], key: str, account: Account, room: int, cut: bool) -> ApplyResult:
        name = self._model.name
        reader = Reader(
            name, f"heartbeat/{name}", self._since_recorded(), account.prices is not None, max(0, room), cut
        )
        # The same words answer another task, or the same task in another run.
        digest = digest_of(f"{key} {self._caller.now} {account.spent.calls} {value}")
        result = apply_reading(self._vault, self._caller, {**value, "task": key}, digest, reader)
        self._recorded = account.spent
        account.add_facts(result.facts)
        self._dropped.update(result.learned.extraction.dropped)
        self._done.append(result.learned)
        return result

    def _since_recorded(self) -> Spent:
        """Return what was spent since the last answer was applied."""
        if self._account is None:
            return Spent()
        return self._account.spent.since(self._recorded)

    def _ask_less(self, task: PendingTask, lasting: bool) -> None:
        """Halve the batch from now on. If `lasting` is true, the next run starts with that size."""
        self._batch = max(1, len(task.events) // 2)
        if lasting:
            self._keep_batch()

    def _keep_batch(self) -> None:
        keep_reading_state(self._vault, read_reading_state(self._vault)._replace(batch=self._batch))

    def _failed_alone(self, task: PendingTask, problem: ClawmemError) -> None:
        assert task.reading is not None
        self._failing.append(task.reading.shown[0].event.id)
        if len(self._failing) >= _MAX_FAILURES and not self._answered:
            raise problem

    def _keep_failures(self) -> None:
        """Count the failures of single events; those that failed in two runs, while others had answers, are set aside.

        A model that never answered is unusable: the events are not to blame.
        """
        if not self._failing or not self._answered:
            return
        state = read_reading_state(self._vault)
        events = dict(state.events)
        for key in self._failing:
            before = events.get(key, _UNREAD)
            events[key] = before._replace(failed=before.failed + 1)
        aside = [key for key in self._failing if events[key].failed >= _CHANCES]
        kept = tuple(dict.fromkeys((*state.set_aside, *aside)))[-MOST_SET_ASIDE:]
        keep_reading_state(self._vault, state._replace(events=events, set_aside=kept))

    def _to_try_again(self) -> ModelFailed | None:
        state = read_reading_state(self._vault)
        again = [
            key for key in self._failing
            if not self._answered or state.events.get(key, _UNREAD).failed + 1 < _CHANCES
        ]  # fmt: skip
        if not again:
            return None
        return ModelFailed(
            f"The model {self._model.name} gives no usable answer on {', '.join(again[:5])}.",
            "The next run asks once more, and then sets it aside." if self._answered
            else "Nothing was lost: the events wait. A model that follows instructions better may help, or "
            "`llm.output`."
        )  # fmt: skip

    def _unusable(self, answer: CheckedAnswer) -> ModelFailed:
        return ModelFailed(
            f"The model {self._model.name} gave no usable answer. {answer.problem}",
            "Nothing was lost: the events wait. Try a more capable model, or change `llm.output`.",
        )

    def _notices(self) -> list[str]:
        notices = []
        account = self._account
        if account is not None and account.prices is None and account.spent.calls:
            limits, spent = account.limits, account.spent
            notices.append(
                f"The price of {self._model.name} is not known, so costs are not counted. The run took"
                f" {counted(spent.calls, 'call')}, {spent.prompt_tokens + spent.answer_tokens:,} tokens; at most "
                f"{limits.daily_calls} calls in one day (llm.daily_calls) and {limits.tokens:,} tokens in one answer"
                " (llm.max_tokens)."
            )
        if self._dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self._dropped.most_common())
            notices.append(f"{sum(self._dropped.values())} of the model's facts were dropped: {reasons}.")
        aside = [key for key in self._failing if key in read_reading_state(self._vault).set_aside]
        if aside:
            notices.append(f"The model gave no usable answer for {', '.join(aside[:5])} twice; set aside.")
        tried = [key for key in dict.fromkeys(self._suspicious) if key not in self._failing]
        if tried:
            notices.append(
                f"{', '.join(tried[:5])} contains instructions to a model: read without them, and not trusted."
            )
        return notices


def _dry_run_notice(vault: Vault, caller: Caller, model: Model) -> str:
    """Return the notice of a dry run: how many events wait, and what the first call can cost."""
    account = Account(model.limits, prices_of(model))
    task = pending(vault, caller, 100_000, keep=False)
    asked = [{"role": "user", "content": task.text}]
    most = account.highest_cost(prompt_tokens(asked))
    price = f"the first call can cost {amount(most)}" if most is not None else "its price is not known"
    wait = "waits" if task.waiting == 1 else "wait"
    return f"A dry run calls no model: {counted(task.waiting, 'event')} {wait} for {model.name}; {price}."


class TriedReader(NamedTuple):
    """The settings of this machine before, if the program answered and is set now; else why it cannot read."""

    former: Mapping[str, Any] = {}
    problem: ClawmemError | None = None


def preset_of(harness: str) -> str | None:
    """Return the preset that runs the program of a harness, or None if it has none without tools and sessions."""
    return next((name for name, preset in PRESETS.items() if preset.harness == harness), None)


def try_reader(vault: Vault, caller: Caller, preset: str) -> TriedReader:
    """Ask the program of a preset one short question, and make it the model of this machine if it answers. Where the
    program of another harness is that, it reads the sessions held with it beside that.

    Raise NotPermitted for an agent, and Refused if the vault was not accepted on this machine."""
    check_person(caller, PRESET)
    check_accepted(vault)
    wanted = {PRESET: preset, "llm.model": COMMAND, "llm.command": ""}
    model = choose_model(vault.settings._replace(values={**vault.settings.values, **wanted}), vault.environment)
    assert model is not None
    meter = UseMeter(vault, stamp(caller.now)[:10])
    problem = try_model(vault, caller, model._replace(meter=meter)).problem
    if problem is not None:
        return TriedReader(problem=problem)
    settings, main = vault.settings, PRESETS.get(vault.settings.words(PRESET))
    by_program = is_command(settings.words("llm.model")) and not settings.words("llm.command")
    if by_program and main and main.harness and main is not PRESETS[preset]:
        wanted = {MORE: ", ".join(dict.fromkeys((*more_presets(settings), preset)))}
    former = write_values(local_settings_file(vault), wanted, settings.number("lock.wait_seconds"))
    return TriedReader({key: former.get(key, BY_KEY[key].default) for key in wanted})


def restore_reader(vault: Vault, harness: str, former: Mapping[str, Any]) -> None:
    """Put the settings of this machine back as they were before `try_reader`; the programs of other harnesses stay."""
    settings, preset = vault.settings, preset_of(harness)
    left = [name for name in more_presets(settings) if name != preset]
    if settings.words(PRESET) != preset and MORE in former:
        values: Mapping[str, Any] = {MORE: ", ".join(left)}
    elif settings.words(PRESET) == preset and left:
        values = {PRESET: left[0], MORE: ", ".join(left[1:])}
    else:
        values = {key: former.get(key, BY_KEY[key].default) for key in (PRESET, "llm.model", "llm.command")}
    write_values(local_settings_file(vault), values, settings.number("lock.wait_seconds"))


TRIAL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["works"],
    "properties": {"works": {"type": "boolean"}},
}


class TrialResult(NamedTuple):
    """What a model did with one short question.

    `reachable` says whether any answer came, `json` whether it was as asked. `prices` is None if they are not known.
    `run` is the record of the run, None if nothing was called. `problem` is why the model cannot be used, or None.
    """

    model: str
    reachable: bool
    json: bool
    prices: Prices | None
    run: Mapping[str, Any] | None
    problem: ClawmemError | None
    commit: str | None
    notices: tuple[str, ...] = ()


def try_model(vault: Vault, caller: Caller, model: Model) -> TrialResult:
    """Ask the model once. Its cost counts towards the day's limit: a call that cost something leaves an event."""
    model = model._replace(limits=model.limits._replace(retries=0))
    runs = model_runs(vault.read, day_of(stamp(caller.now)))
    account = Account(model.limits, None, spent_in(runs))
    reachable = False
    problem: ClawmemError | None = None
    try:
        check_model(model)
        account.prices = prices_of(model)
        answer = ask(model, account, [{"role": "user", "content": prompt("trial")}], TRIAL_SCHEMA)
        reachable = True
        if answer.value is None:
            problem = ModelFailed(
                f"The model {model.name} answered, but not with the JSON that was asked for. {answer.problem}",
                "Try another model, or change `llm.output`.",
            )
    except (BudgetSpent, ModelFailed) as failure:
        problem = _only_tried(failure)
    event = trial_event(
        caller, model.name, account.spent, account.prices is not None, problem.code if problem else "done"
    )
    commit: str | None = None
    notices: tuple[str, ...] = ()
    if account.spent.prompt_tokens or account.spent.cents:
        with writing(vault, caller, "llm") as work:
            subject = subject_line("llm", "test", model.name)
            commit = work.commit([add_event(Change(subject, {}, trailers("llm")), event, work.read)])[-1]
            notices = tuple(work.notices)
    run = model_run(event) if account.spent.calls else None
    return TrialResult(model.name, reachable, problem is None, account.prices, run, problem, commit, notices)


def _only_tried(failure: BudgetSpent | ModelFailed) -> ClawmemError:
    """Return the failure without advice about events, as none was read."""
    about_events = "the events" in failure.hint or "next run" in failure.hint
    kind = BudgetSpent if isinstance(failure, BudgetSpent) else ModelFailed
    return kind(failure.message, "" if about_events else failure.hint)
