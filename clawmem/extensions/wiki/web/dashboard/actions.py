"""The actions of the forms: each is the act of a verb, for the person whose git identity this machine has.

A form says which state of a proposal it was drawn from, and the act compares it under the writer lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from clawmem.errors import IncompleteAnswer, InvalidInput, Unreadable
from clawmem.extension import answer_of
from clawmem.faces.parts.words import SHORT, entry_line, outcome_lines
from clawmem.index.refresh import run_query
from clawmem.index.search.by_tier import ALWAYS, PAST, ReaderScope, count_tiers
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.graph import active_by_workflow, active_rows, fact_owners
from clawmem.index.tables.store import Index
from clawmem.memory.health.status import status
from clawmem.memory.history.compare import fact_changes
from clawmem.memory.history.undo import undo
from clawmem.memory.sync.merge_plan import state_at
from clawmem.model.facts.catalog import Catalog
from clawmem.model.history.comparison import CORRECTED, FORGOTTEN_KINDS, LEARNED, count_kinds, told_changes
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import COLD, HOT, TIERS
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import ledger_path, runs_in, total_cents
from clawmem.model.records.session import STATES as SESSION_STATES
from clawmem.model.records.task import STATES as TASK_STATES
from clawmem.review.review import ReviewOutcome, approve, reject
from clawmem.runtime import Runtime
from clawmem.serving.browse import analytics, list_stale
from clawmem.vault.vault import Vault
from clawmem.work.sessions.records import list_sessions
from clawmem.work.tasks import list_tasks

_FULL_NAMES = (40, 64)
_HEX = frozenset("0123456789abcdef")


class Done(NamedTuple):
    """What an action did, as a title and lines, and the page to go back to."""

    title: str
    lines: tuple[str, ...]
    notices: tuple[str, ...]
    back: tuple[str, str]


def approved(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Approve a proposal; `beside` and `keep` are as for the verb."""
    outcome = approve(
        runtime.vault(),
        _given(form, "proposal", "The proposal"),
        runtime.caller(),
        form.get("reason", "").strip() or None,
        form.get("beside") == "yes",
        form.get("keep") or None,
        _given(form, "seen", "The version of the proposal"),
    )
    return _decided(outcome, "Approved")


def rejected(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Reject a proposal, with a reason."""
    outcome = reject(
        runtime.vault(),
        _given(form, "proposal", "The proposal"),
        runtime.caller(),
        _given(form, "reason", "The reason"),
        _given(form, "seen", "The version of the proposal"),
    )
    return _decided(outcome, "Rejected")


def undone(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Undo a commit, which the form gives with its full name."""
    commit = _given(form, "commit", "The commit")
    if len(commit) not in _FULL_NAMES or not set(commit) <= _HEX:
        raise InvalidInput("The form names no commit.", "Load the page again.")
    result = undo(runtime.vault(), commit, runtime.caller())
    rows = [f"{outcome}: {placed.fact.fact}" for outcome, placed in zip(result.outcome, result.facts, strict=True)]
    rows = rows or [f"{'removed' if path in result.removed else 'restored'}: {path}" for path in result.paths]
    made = f"commit {result.commit[:SHORT]}" if result.commit else "no commit was made"
    return Done("Undone", (entry_line(result.undone), *rows, made), result.notices, ("timeline", "Changes"))


def _decided(result: ReviewOutcome, title: str) -> Done:
    changed = outcome_lines(result.facts, result.outcome, result.commit)
    lines = (f"{result.proposal.id}: {result.proposal.says}", *changed)
    return Done(title, lines, result.notices, ("approvals", "Waiting"))


def _given(form: Mapping[str, str], key: str, what: str) -> str:
    text = form.get(key, "").strip()
    if not text:
        raise InvalidInput(f"{what} is missing.", "Go back, and fill in the form.")
    return text


ACTIONS: Mapping[str, Callable[[Runtime, Mapping[str, str]], Done]] = {
    "/approve": approved,
    "/reject": rejected,
    "/undo": undone,
}


WEEKS = 8
_OUTCOMES = ("useful", "useless", "harmful")


def metrics_data(runtime: Runtime, known: KnownWeeks | None = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the numbers, and a notice for each thing that could not be counted. Nothing is written.

    `use.served` counts the facts that sessions were shown, and the outcomes are what they reported of them. A process
    that asks more than once passes the same `known`."""
    vault, caller = runtime.vault(), runtime.caller()
    state = status(vault, stamp(caller.now)[:10])
    counted = memory_metrics(vault, caller, WEEKS, known)
    used = analytics(vault, caller, 0)
    sessions = list_sessions(vault, caller.now)
    tasks = list_tasks(vault)
    aligned, unread = _alignment(vault)
    outcomes = Counter(word for session in sessions.sessions for word in (session.outcomes or {}).values())
    data = {
        "at": stamp(caller.now),
        "head": state.head,
        "facts": {
            "by_status": dict(state.facts),
            "by_tier": {tier: counted.by_tier[tier] for tier in TIERS},
            "by_workflow": dict(counted.by_workflow),
            "stale": counted.stale,
            "conflicts": counted.conflicts,
        },
        "weeks": [{"begins": week.begins, **week.changes._asdict(), "cents": week.cents} for week in counted.weeks],
        "use": {
            "facts": used.facts,
            "asked_for": used.asked_for,
            "accesses": used.accesses,
            "served": sum(len(session.served) for session in sessions.sessions),
            **{word: outcomes[word] for word in _OUTCOMES},
        },
        "entities": state.entities,
        "events": state.events,
        "proposals": state.proposals,
        "tasks": _by_state(TASK_STATES, (task.state for task in tasks.tasks)),
        "sessions": _by_state(SESSION_STATES, (session.state for session in sessions.sessions)),
        "alignment": aligned,
        "money": {
            "cents_today": state.learning.cents_today,
            "unpriced_tokens_today": state.learning.unpriced_tokens_today,
            "models": list(state.learning.models),
        },
    }
    notices = (*state.notices, *counted.notices, *used.notices, *sessions.notices, *tasks.notices, *unread)
    return data, tuple(dict.fromkeys(notices))


def _alignment(vault: Vault) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the numbers of the alignment log; zeros where nothing evaluates tasks, or the log cannot be read."""
    numbers = answer_of("alignment")
    none = {"decided": 0, "agreed": 0, "agreement": None, "bar": 0.0, "passes": False}
    try:
        return (numbers(vault) if numbers else none), ()
    except Unreadable as problem:
        return none, (IncompleteAnswer(problem.message),)


def _by_state(states: Any, found: Any) -> dict[str, int]:
    counts = Counter(found)
    return {state: counts[state] for state in states}


class WeekChanges(NamedTuple):
    """How many facts were learned, corrected and forgotten between two commits, as the report of the wiki counts
    them; but the facts that belong to one agent are counted, too."""

    learned: int = 0
    corrected: int = 0
    forgotten: int = 0


class Week(NamedTuple):
    """One week: the Monday on which it begins (UTC), its changes, and the cents of its recorded model runs."""

    begins: str
    changes: WeekChanges
    cents: float


class MemoryMetrics(NamedTuple):
    """Active facts by tier and by workflow ('' for none), stale facts, pairs of facts in conflict, and the last weeks,
    oldest first."""

    by_tier: Mapping[str, int]
    by_workflow: Mapping[str, int]
    stale: int
    conflicts: int
    weeks: tuple[Week, ...]
    notices: tuple[str, ...] = ()


KnownWeeks = MutableMapping[tuple[str | None, str], WeekChanges]
"""The changes between two commits, which never change: a process that asks again keeps them."""


def memory_metrics(vault: Vault, caller: Caller, weeks: int, known: KnownWeeks | None = None) -> MemoryMetrics:
    """Return the metrics. `weeks` is how many weeks are counted, with the present one."""
    by_tier, by_workflow, owners, conflicts, notices = run_query(vault, lambda index: _counted(vault, index, caller))
    stale = list_stale(vault, caller, FactFilter(owners=owners), 0).total
    counted = tuple(_weeks(vault, caller.now, weeks, {} if known is None else known))
    return MemoryMetrics(by_tier, by_workflow, stale, conflicts, counted, notices)


def _counted(
    vault: Vault, index: Index, caller: Caller
) -> tuple[dict[str, int], dict[str, int], tuple[str, ...], int, tuple[str, ...]]:
    owners = fact_owners(index)
    tiers = count_tiers(index, ReaderScope(owners, caller.now))
    tiers[HOT] += tiers.pop(ALWAYS)
    tiers[COLD] += tiers.pop(PAST)
    catalog = vault.catalog_or_none() or Catalog({})
    against = conflicting_ids(index, owners, catalog, stamp(caller.now), active_rows(index))
    pairs = {frozenset((text, other)) for text, others in against.items() for other in others}
    return tiers, active_by_workflow(index), owners, len(pairs), index.notices


def _weeks(vault: Vault, now: datetime, count: int, known: KnownWeeks) -> Iterator[Week]:
    monday = now.date() - timedelta(days=now.weekday())
    days = [monday - timedelta(weeks=back) for back in range(count - 1, -2, -1)]
    commits = [state_at(vault, f"{(day - timedelta(days=1)).isoformat()}T23:59:59Z") for day in days]
    for begins, start, end in zip(days, commits, commits[1:], strict=False):
        changes = WeekChanges()
        if end is not None and end != start:
            if (start, end) not in known:
                known[start, end] = _changes(vault, start, end)
            changes = known[start, end]
        yield Week(begins.isoformat(), changes, _cents(vault, begins))


def _changes(vault: Vault, start: str | None, end: str) -> WeekChanges:
    counts = count_kinds(told_changes(fact_changes(vault, start, end)))
    return WeekChanges(counts[LEARNED], counts[CORRECTED], sum(counts[kind] for kind in FORGOTTEN_KINDS))


def _cents(vault: Vault, monday: date) -> float:
    """Return what the model runs that the ledger records cost in a week, in cents."""
    total = 0.0
    for step in range(7):
        path = ledger_path((monday + timedelta(days=step)).isoformat())
        try:
            total += total_cents(runs_in(vault.read(path) or b"", path))
        except Unreadable:
            continue  # `status` names the file
    return total
