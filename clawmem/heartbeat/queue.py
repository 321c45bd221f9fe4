"""One queue of work that needs judgement: the next task for a model or an agent, and what becomes of an answer.

Unread messages come first. Then, in the order of `queue_kinds`: texts to digest, facts to promote and to place, days
to tell, cold facts to join. The same answer twice changes nothing: a task that was answered is no longer there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import starmap
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, InvalidInput, ModelFailed, NotFound
from clawmem.extension import answer_of
from clawmem.heartbeat.reports import replacement_line
from clawmem.index.tables.background import exact_counter
from clawmem.learning.apply import ApplyResult, Reader, apply_reading, digest_of
from clawmem.learning.by_model.answers import answer_in
from clawmem.learning.by_model.telemetry import (
    add_event,
    answering_event,
    is_worth_recording,
    model_run,
    model_runs,
    spent_in,
)
from clawmem.learning.pending import DEFAULT_TOKENS, pending
from clawmem.learning.promote import PromoteResult, apply_promotion, promotion_tasks
from clawmem.learning.synthesize import apply_narrating, narrating_tasks
from clawmem.learning.unread import reader_of
from clawmem.llm.budget import Account
from clawmem.llm.choice import Model
from clawmem.llm.presets import ModelTask, UnusableAnswer, answer_by_model, open_account
from clawmem.memory.writing import writing
from clawmem.model.harness import HARNESSES
from clawmem.model.language.text import counted, one_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.state.reading_state import MOST_APPLIED, keep_reading_state, read_reading_state
from clawmem.vault.state.spending import spent_on
from clawmem.vault.vault import Vault

_HINT = "`clawmem learn pending` shows what waits."
READ, PROMOTE = "read", "promote"


class QueueKind(NamedTuple):
    """A kind of task beside reading: its name, what it is for, its tasks that wait, and what applies an answer.

    `apply` gets the key of a task and the answer to it. It returns what it did, or None if no such task waits, and
    `lines` says what that is.
    """

    name: str
    says: str
    tasks: Callable[[Vault, Caller], Iterable[ModelTask]]
    apply: Callable[..., Any]
    lines: Callable[[Any], list[str]]


class QueueTask(NamedTuple):
    """The next task: its id and kind, its text, the number of its tokens, the labels of the messages in it and the
    number of known facts, and how many messages and other tasks wait, with this one. `text` is empty if nothing waits.
    """

    key: str = ""
    kind: str = ""
    text: str = ""
    tokens: int = 0
    events: tuple[str, ...] = ()
    known: int = 0
    waiting: int = 0
    others: int = 0


class QueueAnswer(NamedTuple):
    """What became of an answer: of one about messages `learned`, of another the `lines` that say what was done."""

    kind: str
    learned: ApplyResult | None = None
    lines: tuple[str, ...] = ()


class QueueRun(NamedTuple):
    """What a program did with the queue: the answers it gave, what it spent, why it stopped early, or None, what its
    answers did by the kind of task, the records of the runs, notices and commits."""

    answers: int = 0
    calls: int = 0
    tokens: int = 0
    cents: float = 0.0
    problem: ClawmemError | None = None
    results: Mapping[str, tuple[Any, ...]] = MappingProxyType({})
    records: tuple[Mapping[str, Any], ...] = ()
    notices: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()

    def of(self, kind: str) -> tuple[Any, ...]:
        """Return what the answers to tasks of a kind did."""
        return self.results.get(kind, ())


_SCORE = re.compile(r"^its score is [\d.]+, (?:and|just below the) ([\d.]+) (?:is )?needed$")
_MOST_REASONS = 3


def _promoted(result: PromoteResult) -> list[str]:
    kept = [
        f"promoted {verdict.candidate.fact.id} {verdict.candidate.fact.fact}  [{verdict.reason}]"
        for verdict in result.kept
    ]
    kept += [f"waits for a person as {proposal.id}: {proposal.says}" for proposal in result.proposals]
    kept += starmap(replacement_line, result.replaced)
    left = [verdict for verdict in result.verdicts if not verdict.promoted]
    reasons = Counter(_SCORE.sub(r"the score is below \1", verdict.reason) for verdict in left)
    why = "; ".join(f"{number}: {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
    return [
        *kept,
        f"judged {counted(len(result.verdicts), 'fact')} of {result.on}: {len(left)} not promoted"
        + (f" ({why})" if why else ""),
        *result.notices,
    ]


def promotion(*days: str) -> QueueKind:
    """Return the kind of the tasks to judge and place the facts of these days, or of the last ones."""
    return QueueKind(
        PROMOTE,
        "days of facts to judge and place",
        lambda vault, caller: [promotion_task[1] for promotion_task in promotion_tasks(vault, caller, days).values()],
        partial(apply_promotion, days=days),
        _promoted,
    )


def narration(*days: str) -> QueueKind:
    """Return the kind of the tasks to tell these days, or the last ones."""
    return QueueKind(
        "narrate",
        "days to tell",
        lambda vault, caller: [narrating_task[1] for narrating_task in narrating_tasks(vault, caller, days).values()],
        partial(apply_narrating, days=days),
        lambda other: [*(f"wrote {page}" for page in other.pages), *other.notices],
    )


def kinds_about(subject: str) -> tuple[QueueKind, ...]:
    """Return the kind of the tasks of an extension about a subject; none where the extension is not here."""
    kind = answer_of(subject)
    return () if kind is None else (kind(),)


def queue_kinds() -> tuple[QueueKind, ...]:
    """Return the kinds of tasks in the order in which they are given out."""
    return (*kinds_about("digestion"), promotion(), narration(), *kinds_about("condensation"))


def next_task(
    vault: Vault,
    caller: Caller,
    limit_tokens: int = DEFAULT_TOKENS,
    session: str | None = None,
    set_aside: bool = False,
    kind: str | None = None,
) -> QueueTask:
    """Return the next task of at most `limit_tokens`, of one `kind` or of any.

    With `session` or `set_aside` it is about messages only, as `pending` says. Raise InvalidInput if the only task of
    the next message does not fit.
    """
    if kind in (None, READ):
        found = pending(vault, caller, limit_tokens, session, set_aside, reads=reader_of(caller.agent), by_caller=True)
        if found.text or session or set_aside or kind:
            return QueueTask(found.key, READ, found.text, found.tokens, found.events, found.known, found.waiting)
    count, others = exact_counter(), [(each.name, task) for each in queue_kinds()
                                      if kind in (None, each.name)
                                      for task in _waiting(vault, caller, each, caller.agent)]  # fmt: skip
    for name, task in others:
        size = count(task.text)
        if size <= limit_tokens:
            return QueueTask(task.key, name, task.text, size, others=len(others))
    if others:
        least = min(count(task.text) for _, task in others)
        raise InvalidInput(f"The smallest task has {least:,} tokens; the limit is {limit_tokens:,}.",
                           f"Give at least `--limit-tokens {least}`.")  # fmt: skip
    return QueueTask()


def apply_task(vault: Vault, caller: Caller, text: str) -> QueueAnswer:
    """Apply the calling agent's answer to a task. The same answer may be applied twice, and answers come in any order.

    Raise InvalidInput if the text is no answer, NotFound if it names no task or event that waits, and Refused if all of
    its events are read.
    """
    answer = answer_in(text)
    key = str(answer.get("task", ""))
    name = key.partition("-")[0]
    kind = next((kind for kind in queue_kinds() if kind.name == name), None)
    if kind is None:
        by = caller.agent or "agent"
        return QueueAnswer(READ, apply_reading(vault, caller, answer, digest_of(text), Reader(by, f"learn/{by}")))
    if digest_of(text) in read_reading_state(vault).applied:
        return QueueAnswer(name, lines=("nothing changed: this answer was applied before",))
    result = kind.apply(vault, caller, key, answer)
    if result is None:
        raise NotFound(f"No task {one_line(key)[:40]} waits; it may have been answered before.", _HINT)
    _keep_applied(vault, key, digest_of(text))
    for problem in getattr(result, "problems", ()):
        raise problem
    return QueueAnswer(name, lines=tuple(kind.lines(result)))


def _keep_applied(vault: Vault, *names: str) -> None:
    state = read_reading_state(vault)
    keep_reading_state(vault, state._replace(applied=(*state.applied, *names)[-MOST_APPLIED:]))


def _waiting(
    vault: Vault, caller: Caller, kind: QueueKind, harness: str | None, further: bool = False
) -> list[ModelTask]:
    """Return the tasks of a kind for the reader of a harness, `further` ones only about its own sessions, without those
    that were answered and left no trace: there was nothing to tell."""
    answered = frozenset(read_reading_state(vault).applied)
    found = [task for task in kind.tasks(vault, caller) if task.key not in answered]
    if harness not in HARNESSES:
        return found
    return [task for task in found if task.held_with == harness or not (further or task.held_with in HARNESSES)]


def answer_tasks(
    vault: Vault, caller: Caller, model: Model, kinds: Iterable[QueueKind], further: bool = False
) -> QueueRun:
    """Let a model answer the tasks of some kinds, within its limits, and record in the ledger what that cost. A
    `further` reader gets only those about the sessions held with its harness.

    A task whose answer cannot be used waits, and the next one is asked; after another failure all others wait.
    """
    day = caller.now.strftime("%Y-%m-%d")
    results: dict[str, tuple[Any, ...]] = {}
    account: Account | None = None
    problem: ClawmemError | None = None
    earlier = model_runs(vault.read, day)
    try:
        for kind in kinds:
            for task in _waiting(vault, caller, kind, model.harness, further):
                if account is None:
                    before = spent_in(earlier)
                    account = open_account(model, before._replace(cents=before.cents + spent_on(vault, day)))
                try:
                    answer = answer_by_model(model, account, task)
                except UnusableAnswer as unusable:
                    problem = problem or unusable
                    continue
                act = partial(kind.apply, judge=model.name) if kind.name == PROMOTE else kind.apply
                result = act(vault, caller, task.key, answer)
                _keep_applied(vault, task.key)
                results[kind.name] = (*results.get(kind.name, ()), *([result] if result else []))
    except (BudgetSpent, ModelFailed) as stopped:
        problem = stopped
    if account is None:
        return QueueRun(problem=problem)
    return _recorded(vault, caller, model, account, results, problem, earlier)


def _recorded(
    vault: Vault,
    caller: Caller,
    model: Model,
    account: Account,
    results: Mapping[str, tuple[Any, ...]],
    problem: ClawmemError | None,
    earlier: Sequence[Mapping[str, Any]],
) -> QueueRun:
    """Return the run, with its record in the ledger where it cost or did anything new."""
    spent, priced, answers = account.spent, account.prices is not None, sum(map(len, results.values()))
    outcome = problem.code if problem else "done"
    event = answering_event(
        caller, model.name, spent, priced, outcome,
        {kind: len(result) for kind, result in results.items()},
    )  # fmt: skip
    commits = [other.commit for result in results.values() for other in result if getattr(other, "commit", None)]
    commits += [other for items in results.values() for result in items for other in getattr(result, "commits", ())]
    if is_worth_recording(spent, outcome, [record for record in earlier if "answers" in record]):
        with writing(vault, caller, "learn") as work:
            text = subject_line("learn", "ledger", f"the model answered {counted(answers, 'task')}")
            commits += work.commit([add_event(Change(text, {}, trailers("learn")), event, work.read)])
    notices = [other for items in results.values() for result in items for other in getattr(result, "notices", ())]
    if not priced and spent.calls:
        notices.append(
            f"The price of {model.name} is not known, so costs are not counted. Each answer has at most "
            f"{account.limits.tokens:,} tokens (llm.max_tokens)."
        )
    records = tuple(filter(None, (model_run(event),))) if spent.calls else ()
    return QueueRun(
        answers, spent.calls, spent.tokens, spent.cents, problem, results, records,
        tuple(dict.fromkeys(notices)), tuple(dict.fromkeys(commits)),
    )  # fmt: skip
