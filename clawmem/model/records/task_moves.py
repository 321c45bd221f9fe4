"""The moves of a task from one state to another, decided from what the task says and who asks."""

from __future__ import annotations

from typing import Any, NamedTuple

from clawmem.errors import NotPermitted, Refused
from clawmem.model.records.task import CLOSED, OPEN, PASS, REVIEW, VERDICTS, WORKING, Task

TAKE, RELEASE, SUBMIT, CLOSE, REJECT, REOPEN = MOVES = ("take", "release", "submit", "close", "reject", "reopen")
_DECISION = ("verdict", "decided", "decided_by", "reason")


class Mover(NamedTuple):
    """Who moves a task: the name that the task records, whether it may decide (a person, or an evaluation that may
    pass), and the time, ISO 8601 UTC. `name` of a person is the name in git, and `signed` that with the address."""

    name: str
    decides: bool
    at: str
    signed: str = ""


def task_keys(
    task: Task, move: str, who: Mover, reason: str | None = None, holder_is_gone: bool = False
) -> dict[str, Any]:
    """Return the keys of the front matter that a move sets, None for those that it removes; empty if nothing changes.

    `holder_is_gone` says that whoever holds the task has let its claim run out. Raise Refused if the state does not
    allow the move, NotPermitted if only a person makes it."""
    if move in (CLOSE, REJECT):
        return _closed(task, PASS if move == CLOSE else REJECT, who, reason)
    if move == REOPEN:
        return _reopened(task, who)
    if task.state in CLOSED:
        raise Refused(f"The task {task.slug} is {task.state}.", f"`clawmem task reopen {task.slug}` opens it again.")
    if move == TAKE:
        return _taken(task, who, holder_is_gone)
    if task.holder not in (None, who.name) and not who.decides:
        raise Refused(f"The task {task.slug} is held by {task.holder}.", f"`clawmem task show {task.slug}` shows it.")
    if move == RELEASE:
        return {} if task.state == OPEN and not task.holder else _moved(task, OPEN, who, holder=None)
    return {} if task.state == REVIEW else _moved(task, REVIEW, who, holder=task.holder or who.name)


def _taken(task: Task, who: Mover, holder_is_gone: bool) -> dict[str, Any]:
    if task.holder == who.name and task.state == WORKING:
        return {}
    if task.state == REVIEW and task.holder != who.name and not who.decides:
        raise Refused(
            f"The task {task.slug} of {task.holder} is in review.",
            "A person decides: `clawmem task close` or `clawmem task reject`.",
        )
    if task.holder not in (None, who.name) and not (who.decides or holder_is_gone):
        raise Refused(
            f"The task {task.slug} is held by {task.holder}{f' since {task.since}' if task.since else ''}.",
            f"Take another one (`clawmem task list --state open`), or {task.holder} or a person releases it:"
            f" `clawmem task release {task.slug}`.",
        )
    return _moved(task, WORKING, who, holder=who.name)


def _closed(task: Task, verdict: str, who: Mover, reason: str | None) -> dict[str, Any]:
    if not who.decides:
        raise NotPermitted(
            f"The agent {who.name} may not close {task.slug}: a person decides whether it is done.",
            f"Hand it in: `clawmem task submit {task.slug}`.",
        )
    if task.verdict == verdict and task.state == VERDICTS[verdict] and reason in (None, task.reason):
        return {}
    decision = {"verdict": verdict, "decided": who.at, "decided_by": who.signed or who.name, "reason": reason}
    return {**_moved(task, VERDICTS[verdict], who, holder=task.holder), **decision}


def _reopened(task: Task, who: Mover) -> dict[str, Any]:
    if task.state == OPEN:
        return {}
    if task.state in CLOSED and not who.decides:
        raise NotPermitted(
            f"The agent {who.name} may not reopen {task.slug}: a person closed it.",
            "Add a new task: `clawmem task add 'TITLE'`.",
        )
    if task.state not in CLOSED and task.holder not in (None, who.name) and not who.decides:
        raise Refused(f"The task {task.slug} is held by {task.holder}.", f"`clawmem task show {task.slug}` shows it.")
    return _moved(task, OPEN, who, holder=None)


def _moved(task: Task, state: str, who: Mover, holder: str | None) -> dict[str, Any]:
    left = {} if state in CLOSED else {key: None for key in _DECISION if getattr(task, key) is not None}
    return {"state": state, "holder": holder, "since": who.at, **left}


def move_words(task: Task, move: str, reason: str | None) -> str:
    """Return a move in words, for the subject of its commit."""
    return f"{task.title}: {reason}" if reason and move in (CLOSE, REJECT, REOPEN, RELEASE) else task.title
