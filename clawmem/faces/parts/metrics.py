"""The numbers of a memory as one record, from the acts of the verbs that report them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from clawmem.errors import IncompleteAnswer, Unreadable
from clawmem.extension import answer_of
from clawmem.memory.health.status import status
from clawmem.memory.tasks import list_tasks
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import TIERS
from clawmem.model.records.session import STATES as SESSION_STATES
from clawmem.model.records.workflow import STATES as TASK_STATES
from clawmem.runtime import Runtime
from clawmem.serving.analytics import analytics
from clawmem.serving.metrics import KnownWeeks, memory_metrics
from clawmem.vault.vault import Vault
from clawmem.work.sessions.records import list_sessions

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
        "alignment": {
            "decided": aligned["decided"],
            "agreed": aligned["agreed"],
            "agreement": aligned["agreement"],
            "bar": vault.settings.number("evaluate.agreement"),
            "passes": aligned["passes"],
        },
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
    none = {"decided": 0, "agreed": 0, "agreement": None, "passes": False}
    try:
        return (numbers(vault) if numbers else none), ()
    except Unreadable as problem:
        return none, (IncompleteAnswer(problem.message),)


def _by_state(states: Any, found: Any) -> dict[str, int]:
    counts = Counter(found)
    return {state: counts[state] for state in states}


def metrics_lines(data: dict[str, Any]) -> list[str]:
    """The numbers for people, one subject a line."""
    facts, use, aligned, money = data["facts"], data["use"], data["alignment"], data["money"]
    rate = aligned["agreement"]
    return [
        f"facts      {_listed(facts['by_status'])}",
        f"tiers      {_listed(facts['by_tier'])}",
        f"workflows  {_listed({name or 'none': number for name, number in facts['by_workflow'].items()})}",
        f"doubts     {facts['stale']:,} stale, {facts['conflicts']:,} in conflict, {data['proposals']:,} to review",
        f"use        {use['asked_for']:,} of {use['facts']:,} asked for, {use['accesses']:,} accesses",
        f"sessions   {_listed(data['sessions'])}",
        f"tasks      {_listed(data['tasks'])}",
        f"alignment  {'no decision yet' if rate is None else f'{rate:.2f} of the last decisions agreed'}",
        f"money      {money['cents_today']:.4g} cents today",
    ]


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "none"
