"""One queue of work that needs judgement: the next task for a model or an agent, and what becomes of an answer.

Unread messages come first. Then, in the order of QUEUE: texts to digest, facts to promote and to place, days to tell,
cold facts to join. The same answer twice changes nothing: a task that was answered is no longer there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, InvalidInput, ModelFailed, NotFound
from clawmem.index.tables.exact_tokens import exact_counter
from clawmem.learning.apply import ApplyResult, Reader, apply_reading, digest_of
from clawmem.learning.by_model.answers import answer_in
from clawmem.learning.by_model.extraction import ledger_paths
from clawmem.learning.learn import learn
from clawmem.learning.pending import DEFAULT_TOKENS, held_with_others, pending, waiting_count
from clawmem.learning.promotion.promote import apply_promotion, promotion_tasks
from clawmem.learning.synthesize import apply_narrating, narrating_tasks
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.tasks import ModelTask, answer_by_model, open_account
from clawmem.model.language.text import counted, one_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.model_run import runs_in
from clawmem.vault.state.reading_state import MOST_APPLIED, keep_reading_state, read_reading_state
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault
from clawmem.work.condense import apply_condensing, condensing_tasks
from clawmem.work.digestion.digest import apply_digestion, digestion_tasks

_HINT = "`clawmem learn pending` shows what waits."
READ = "read"


class QueueKind(NamedTuple):
    """A kind of task beside reading: its name, what it is for, its tasks that wait, and what applies an answer.

    `apply` gets the key of a task and the answer to it. It returns what it did as lines, or None if no such task waits.
    """

    name: str
    says: str
    tasks: Callable[[Vault, Caller], Iterable[ModelTask]]
    apply: Callable[[Vault, Caller, str, Mapping[str, Any]], list[str] | None]


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


class QueueCounts(NamedTuple):
    """How many messages wait for a reader, how many other tasks by kind, and what the readers did so far: by the name
    of each, the `events` read, the `facts` found, the `tokens` used, and the day of the `last` run."""

    unread: int
    tasks: Mapping[str, int]
    readers: Mapping[str, Mapping[str, Any]]


class QueueRun(NamedTuple):
    """What a program did with the queue: the answers it gave, what it spent, and why it stopped early, or None."""

    answers: int
    calls: int
    tokens: int
    cents: float
    problem: ClawmemError | None = None


def _digest(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> list[str] | None:
    done = apply_digestion(vault, caller, key, answer)
    if done is None:
        return None
    for problem in done.problems:
        raise problem
    counts = ((one.item.title, one.item.counts) for one in done.sources)
    return [
        f"digested {title}: {', '.join(f'{number} {name}' for name, number in rows.items())}" for title, rows in counts
    ]


def _promote(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> list[str] | None:
    done = apply_promotion(vault, caller, key, answer)
    if done is None:
        return None
    kept = [f"promoted {one.candidate.fact.id} {one.candidate.fact.fact}  [{one.reason}]" for one in done.kept]
    left = len(done.verdicts) - len(done.kept)
    return [*kept, f"judged {counted(len(done.verdicts), 'fact')} of {done.on}: {left} not promoted", *done.notices]


def _narrate(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> list[str] | None:
    done = apply_narrating(vault, caller, key, answer)
    return None if done is None else [*(f"wrote {page}" for page in done.pages), *done.notices]


def _condense(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> list[str] | None:
    done = apply_condensing(vault, caller, key, answer)
    if done is None:
        return None
    joined = [f"joined {counted(len(done.archived), 'fact')}: {one.fact.fact}" for one in done.facts]
    return joined or ["joined nothing; these facts are not asked about again"]


QUEUE = (
    QueueKind("digest", "texts to digest", lambda vault, caller: digestion_tasks(vault), _digest),
    QueueKind("promote", "days of facts to judge and place",
              lambda vault, caller: [one[1] for one in promotion_tasks(vault, caller).values()], _promote),
    QueueKind("narrate", "days to tell",
              lambda vault, caller: [one[1] for one in narrating_tasks(vault, caller).values()], _narrate),
    QueueKind("condense", "groups of cold facts to join",
              lambda vault, caller: condensing_tasks(vault, caller.now), _condense),
)  # fmt: skip


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
        elsewhere = held_with_others(vault, caller.agent)
        found = pending(vault, caller, limit_tokens, session, set_aside, skip=elsewhere)
        if found.text or session or set_aside or kind:
            return QueueTask(found.key, READ, found.text, found.tokens, found.events, found.known, found.waiting)
    count, others = exact_counter(), [(one.name, task) for one in QUEUE if kind in (None, one.name)
                                      for task in _waiting(vault, caller, one)]  # fmt: skip
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
    kind = next((one for one in QUEUE if one.name == name), None)
    if kind is None:
        by = caller.agent or "agent"
        return QueueAnswer(READ, apply_reading(vault, caller, answer, digest_of(text), Reader(by, f"learn/{by}")))
    if digest_of(text) in read_reading_state(vault).applied:
        return QueueAnswer(name, lines=("nothing changed: this answer was applied before",))
    lines = kind.apply(vault, caller, key, answer)
    if lines is None:
        raise NotFound(f"No task {one_line(key)[:40]} waits; it may have been answered before.", _HINT)
    _keep_applied(vault, key, digest_of(text))
    return QueueAnswer(name, lines=tuple(lines))


def _keep_applied(vault: Vault, *names: str) -> None:
    state = read_reading_state(vault)
    keep_reading_state(vault, state._replace(applied=(*state.applied, *names)[-MOST_APPLIED:]))


def _waiting(vault: Vault, caller: Caller, kind: QueueKind) -> list[ModelTask]:
    """Return the tasks of a kind, without those that were answered and left no trace: there was nothing to tell."""
    answered = frozenset(read_reading_state(vault).applied)
    return [one for one in kind.tasks(vault, caller) if one.key not in answered]


def queue_counts(vault: Vault, caller: Caller) -> QueueCounts:
    """Return what waits, and what which reader has read so far."""
    readers: dict[str, dict[str, Any]] = {}
    for path in ledger_paths(vault, None):
        for run in runs_in(vault.read(path) or b"", path):
            if not isinstance(run.get("events"), int):
                continue
            row = readers.setdefault(str(run.get("model")), {"events": 0, "facts": 0, "tokens": 0, "last": ""})
            row["events"] += run["events"]
            row["facts"] += int(run.get("facts", 0))
            row["tokens"] += int(run.get("prompt_tokens", 0)) + int(run.get("answer_tokens", 0))
            row["last"] = path.removeprefix("ledger/").removesuffix(".jsonl")
    tasks = {one.name: len(_waiting(vault, caller, one)) for one in QUEUE}
    return QueueCounts(waiting_count(vault), tasks, readers)


def run_queue(
    vault: Vault, caller: Caller, model: Model, calls: int = 20, tokens: int = 100_000, kinds: Iterable[str] = ()
) -> QueueRun:
    """Let a model or a program answer the tasks of the queue, messages first, within a number of calls and of tokens.

    `kinds` are the names of the kinds of tasks; none means all. What it does not reach waits. Nothing is lost if it is
    killed: each answer is a commit of its own.
    """
    wanted = frozenset(kinds) or frozenset((READ, *(one.name for one in QUEUE)))
    model = _within(model, calls, tokens)
    answers = used = spent_tokens = 0
    spent_cents, problem = 0.0, None
    if READ in wanted:
        learned = learn(vault, caller, model=model)
        run, problem = learned.extraction.run or {}, learned.extraction.problem
        used, spent_cents = int(run.get("calls", 0)), float(run.get("cents", 0.0))
        spent_tokens = int(run.get("prompt_tokens", 0)) + int(run.get("answer_tokens", 0))
        answers = used
    day = caller.now.strftime("%Y-%m-%d")
    account: Account | None = None
    try:
        for kind in (one for one in QUEUE if one.name in wanted and problem is None):
            for task in _waiting(vault, caller, kind):
                if account is None:
                    left = _within(model, calls - used, tokens - spent_tokens)
                    account = open_account(left, Spent(cents=spent_on(vault, day)))
                kind.apply(vault, caller, task.key, answer_by_model(model, account, task))
                _keep_applied(vault, task.key)
                answers += 1
    except (BudgetSpent, ModelFailed, InvalidInput) as stopped:
        problem = stopped
    if account is not None:
        record_spending(vault, day, account.spent.cents)
        used += account.spent.calls
        spent_tokens += account.spent.prompt_tokens + account.spent.answer_tokens
        spent_cents += account.spent.cents
    return QueueRun(answers, used, spent_tokens, spent_cents, problem)


def _within(model: Model, calls: int, tokens: int) -> Model:
    return model._replace(limits=model.limits._replace(most_calls=max(0, calls), most_tokens=max(0, tokens)))
