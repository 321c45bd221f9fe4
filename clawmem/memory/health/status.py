"""Status: show which vault this is and its content. Only the index may be updated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.errors import StorageFailed, Unreadable
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import broken_files, fact_counts, unreadable_notices
from clawmem.index.tables.contents import (
    DayEvents,
    event_rows,
    events_after,
    events_by_day,
    run_lines,
    summary_names,
    taught_events,
    unread_messages,
)
from clawmem.index.tables.fact_marks import stakes
from clawmem.index.tables.store import UNREADABLE, Index, index_path, open_store
from clawmem.llm.choice import missing_keys, missing_model_part, model_programs
from clawmem.memory.health.checks.tree import unfinished_git
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.fact import STATUSES
from clawmem.model.language.text import counted
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.proposal import is_candidate
from clawmem.model.proposals.quarantine import Signature, accepts
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, parse_cursor
from clawmem.model.records.event import (
    ledger_path,
    model_run,
    parse_events,
    runs_in,
    total_cents,
    total_tokens,
    unpriced_tokens,
)
from clawmem.model.records.layout import ACCESS
from clawmem.model.settings.local import SettingSuggestion, open_suggestions
from clawmem.model.settings.settings import is_command, model_names
from clawmem.vault.commit.pending import read_pending
from clawmem.vault.edits.hand_edits import check_edits
from clawmem.vault.git.acceptance import is_accepted
from clawmem.vault.git.git import personal_identity
from clawmem.vault.state.heartbeat_state import HeartbeatRun, read_last_run
from clawmem.vault.state.hook_marks import HookMark, read_marks
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.state.own_commits import read_acceptance
from clawmem.vault.state.reading_state import read_reading_state
from clawmem.vault.state.spending import UseMeter, spent_on
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import finish_scan, start_scan


class ReaderTotal(NamedTuple):
    """What a reader did so far: the messages it read, the facts it found, its tokens, its cost in cents, and when it
    read last."""

    messages: int = 0
    facts: int = 0
    tokens: int = 0
    cents: float = 0.0
    last: str = ""


class Reading(NamedTuple):
    """How many messages are kept, on how many of them a fact rests, how many no model has read, the day of the oldest
    of these, what each reader did, the one that read last at the end, and the calls and tokens of this machine today
    whose price is not known, with their limits."""

    kept: int = 0
    taught: int = 0
    unread: int = 0
    oldest: str = ""
    readers: Mapping[str, ReaderTotal] = {}
    calls_today: int = 0
    tokens_today: int = 0
    limits: tuple[int, int] = (0, 0)


class LearningState(NamedTuple):
    """The number of events that no heartbeat read yet; the last heartbeat of this machine, if any; the environment
    variables that must hold a model's key and do not, by the setting that names the model; why the events could not be
    counted, or None; the programs and models; what they still need on this machine, or None; what they cost today
    (UTC), in cents, with the tokens of runs whose price is not known; and what is read of what was said."""

    waiting: int = 0
    last: HeartbeatRun | None = None
    missing_keys: Mapping[str, str] = {}
    uncounted: str | None = None
    models: tuple[str, ...] = ()
    missing_part: str | None = None
    cents_today: float = 0.0
    unpriced_tokens_today: int = 0
    reading: Reading = Reading()


def learning_state(vault: Vault, index: Index, today: str) -> LearningState:
    """Return the state of learning. If the learning cursor is damaged, every event counts as one that waits. `today` is
    the day whose costs are counted; none if it is empty."""
    try:
        reached, problem = parse_cursor(vault.read(CURSOR_PATH)).days, None
    except Unreadable as damage:
        reached, problem = {}, damage.message
    settings = vault.settings
    runs, days = _runs_of(vault, today), events_by_day(index)
    return LearningState(
        _waiting_events(index, reached, days),
        read_last_run(vault),
        missing_keys(settings, vault.environment),
        problem,
        (*model_programs(settings), *(name for name in model_names(settings) if not is_command(name))),
        missing_model_part(settings, vault.environment),
        total_cents(runs) + _cents_without_event(vault, today),
        unpriced_tokens(runs),
        _reading(vault, index, today, days),
    )


def _reading(vault: Vault, index: Index, today: str, days: Mapping[str, DayEvents]) -> Reading:
    readers: dict[str, ReaderTotal] = {}
    for event in parse_events(run_lines(index), ""):
        run = model_run(event)
        if run is not None and isinstance(run.get("events"), int):
            before = readers.pop(name := str(run.get("model")), ReaderTotal())
            readers[name] = ReaderTotal(
                before.messages + run["events"],
                before.facts + int(run.get("facts", 0)),
                before.tokens + total_tokens([run]),
                before.cents + total_cents([run]),
                event.timestamp,
            )
    calls, tokens = UseMeter(vault, today).used() if today else (0, 0)
    limits = vault.settings.whole("llm.daily_calls"), vault.settings.whole("llm.daily_tokens")
    kept, unread = sum(day.spoken for day in days.values()), unread_messages(vault, index, days)
    return Reading(kept, taught_events(index), *unread, readers, calls, tokens, limits)


def _runs_of(vault: Vault, day: str) -> Sequence[Mapping[str, Any]]:
    if not day:
        return ()
    path = ledger_path(day)
    try:
        return runs_in(vault.read(path) or b"", path)
    except Unreadable:
        return ()  # reported with the file


def _cents_without_event(vault: Vault, day: str) -> float:
    """Return what suites and evaluations cost on a day: they leave no event of a run."""
    try:
        return spent_on(vault, day) if day else 0.0
    except StorageFailed:
        return 0.0  # the next call says so and is not made


def failure_sentences(run: HeartbeatRun) -> tuple[str, ...]:
    """Return one sentence for each failure of a heartbeat, with its step."""
    return tuple(
        f"{f'{failure.step}: ' if failure.step else ''}{failure.message} {failure.hint}".rstrip()
        for failure in dict.fromkeys(run.failed)
    )


def missing_key_sentence(setting: str, variable: str) -> str:
    """Return the sentence about a key that is not there."""
    return f"The environment variable {variable}, which should hold the key of {setting}, is not set."


def _waiting_events(index: Index, reached: Mapping[str, DayProgress], days: Mapping[str, DayEvents]) -> int:
    read = {day: progress for day, progress in reached.items() if day in days}
    behind = {day: numbers for day, numbers in days.items() if day not in read or read[day].events != numbers.events}
    last = {day: progress.last for day, progress in read.items()}
    return sum(events_after(index, last, behind, spoken=False).values())


FRESH, STALE, MISSING = "fresh", "stale", "missing"


class PendingEdits(NamedTuple):
    """Hand edits: files that the next change commits, and unreadable files with the reason."""

    waiting: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]


class IndexState(NamedTuple):
    """The state of the index (fresh, stale or missing), its engine, and committed files that it could not read."""

    state: str
    engine: str
    unreadable: tuple[tuple[str, str], ...]


class Status(NamedTuple):
    """The state of a vault.

    `facts` are numbers by status. `unfinished` describes an interrupted change. `proposals` is the number of open
    proposals, and `candidates` that of those from messages that nobody read. `accepted` says whether the vault was
    accepted on this machine; `suggested` are the suggested settings that are not used here."""

    name: str
    format: int
    branch: str | None
    head: str | None
    facts: Mapping[str, int]
    entities: int
    events: int
    unfolded_accesses: int
    edits: PendingEdits
    unfinished: str | None
    search: IndexState
    notices: tuple[str, ...] = ()
    proposals: int = 0
    candidates: int = 0
    accepted: bool = True
    suggested: tuple[SettingSuggestion, ...] = ()
    learning: LearningState = LearningState()
    hooks: tuple[HookMark, ...] = ()
    from_elsewhere: OwnElsewhere | None = None


class OwnElsewhere(NamedTuple):
    """The address of the person, whose commits of other machines are not accepted on this one, and how many facts are
    served as from outside."""

    email: str
    facts: int


def status(vault: Vault, today: str = "") -> Status:
    """Return the state of the vault. `today` is the day (UTC) whose costs are counted; none if it is empty."""
    scan = start_scan(vault)
    head = vault.head()
    found = _index_state(vault)
    filed = read_proposals(vault)
    waiting = finish_scan(vault, scan)

    def read_status(index: Index) -> Status:
        learning = learning_state(vault, index, today)
        numbers = fact_counts(index)
        uncounted = () if learning.uncounted is None else (learning.uncounted,)
        shown = (*uncounted, *_set_aside(vault), *_unmarked(vault, learning.reading.unread))
        return Status(
            name=vault.settings.words("vault.name"),
            format=vault.settings.whole("format"),
            branch=head.branch.removeprefix("refs/heads/") if head.branch else None,
            head=head.commit,
            facts=_by_status(numbers),
            entities=len(summary_names(index) | numbers.keys()),
            events=event_rows(index),
            unfolded_accesses=sum(
                count_access.count for count_access in count_accesses(unfolded_accesses(vault)).values()
            ),
            edits=_pending_edits(vault, waiting),
            unfinished=_unfinished(vault),
            search=IndexState(found, index.engine.name, tuple(broken_files(index))),
            notices=(*index.notices, *unreadable_notices(index), *filed.unreadable, *shown),
            proposals=len(filed.open),
            candidates=sum(map(is_candidate, filed.open)),
            accepted=is_accepted(vault.git_dir, vault.environment),
            suggested=open_suggestions(vault.settings),
            learning=learning,
            hooks=tuple(read_marks(vault)),
            from_elsewhere=_own_elsewhere(vault, len(stakes(index))),
        )

    return run_query(vault, read_status)


def _own_elsewhere(vault: Vault, facts: int) -> OwnElsewhere | None:
    person = personal_identity(vault.git) if facts else None
    if person is None or accepts(Signature(f"{person.name} <{person.email}>", ""), read_acceptance(vault)):
        return None
    by_person = ("log", "-1", "--format=%H", "--fixed-strings", f"--author=<{person.email}>")
    return OwnElsewhere(person.email, facts) if vault.git.try_run(*by_person) else None


def _set_aside(vault: Vault) -> tuple[str, ...]:
    """The events that no model could read."""
    aside = read_reading_state(vault).set_aside
    if not aside:
        return ()
    return (f"the model gave no usable answer on {counted(len(aside), 'event')}, set aside: {', '.join(aside[-5:])}",)


def _unmarked(vault: Vault, unread: int) -> tuple[str, ...]:
    """How much of a shared memory may be for some people only, and has no mark yet."""
    says = f"what is for some people only in {counted(unread, 'message')} that no reader has read is not marked yet"
    return (says,) if unread and vault.path(ACCESS).exists() else ()


def _index_state(vault: Vault) -> str:
    if not index_path(vault).exists():
        return MISSING
    index = open_store(vault)
    if index is None:
        return STALE
    try:
        return FRESH if index.head() == vault.head().commit else STALE
    except UNREADABLE:
        return STALE
    finally:
        index.close()


def _by_status(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    totals: Counter[str] = Counter(dict.fromkeys(STATUSES, 0))
    for numbers in counts.values():
        totals.update(numbers)
    return dict(totals)


def _pending_edits(vault: Vault, paths: tuple[str, ...]) -> PendingEdits:
    edits = check_edits(vault, paths)
    return PendingEdits(tuple(edits.good), tuple((path, str(problem)) for path, problem in edits.bad))


def _unfinished(vault: Vault) -> str | None:
    what = unfinished_git(vault)
    if what:
        return f"a git {what} that a person must finish"
    try:
        pending = read_pending(vault)
    except StorageFailed as problem:
        return problem.message
    return f"{pending.subject} (the next change completes it)" if pending else None
