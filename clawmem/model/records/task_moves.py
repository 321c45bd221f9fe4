"""The moves of a task from one state to another, decided from what the task says and who asks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NotPermitted, Refused, Unreadable
from clawmem.model.language.text import one_line
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.parsing import Yaml
from clawmem.model.records.task import CLOSED, OPEN, PASS, REVIEW, VERDICTS, WORKING, Task, parse_task, with_keys

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


_BOX = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d+[.)])\s+\[(?P<mark>[ xX])\]\s+(?P<words>\S.*)")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])\s+(?P<words>.*)")


class NewTask(NamedTuple):
    """A task to add: its title, what the text says about it, its criteria with whether each is checked, and whether its
    own box is checked. `page` is the text where it is the page of one task."""

    title: str
    about: str = ""
    acceptance: tuple[tuple[str, bool], ...] = ()
    checked: bool = False
    page: str = ""


def new_tasks(text: str, title: str | None, yaml: Yaml, name: str = "the text") -> tuple[NewTask, ...]:
    """Return the tasks in a text. Raise InvalidInput, naming the line, if it has none, or a value is wrong.

    With a `title`, the text is about one task, and its boxes are the criteria. A text with front matter or a heading
    `Acceptance` is the page of one task. In any other text, each box that is not below another one is a task, and the
    boxes below it are its criteria. A text of one line is a title."""
    text = text.replace("\r\n", "\n").strip("\n")
    lines = text.split("\n")
    if title is None and len(lines) == 1 and not _BOX.match(text):
        return (NewTask(one_line(text)),)
    try:
        page = parse_task(text.encode(), name, yaml)
    except Unreadable as problem:
        raise InvalidInput(problem.message, "Correct that line and add it again; nothing was added.") from None
    if split_front_matter(text)[0] is not None or page.acceptance:
        return (NewTask(title or page.title, page=with_keys(text, {"title": title}) if title else text),)
    boxes = [(number, found) for number, found in enumerate(map(_BOX.match, lines)) if found]
    if title is not None:
        about = "\n".join(line for line in lines if not _BOX.match(line)).strip()
        return (NewTask(title, about, tuple(_box(found) for _, found in boxes)),)
    if not boxes:
        raise InvalidInput(
            "The text has several lines and no checkbox, so it is not clear what its tasks are.",
            "Write each task as `- [ ] title`, or give the title as an argument, and the text with --from.",
        )
    return tuple(_groups(lines, boxes))


def unread_lines(text: str, new: Sequence[NewTask]) -> int:
    """Return how many bullets and empty boxes of a checklist are in none of its tasks."""
    if any(task.page for task in new) or "\n" not in text.strip():
        return 0
    items = [one_line(found["words"]) for found in map(_BULLET.fullmatch, text.splitlines()) if found]
    message = [task.title for task in new] + [words for task in new for words, _ in task.acceptance]
    message += [line.removeprefix("- ") for task in new for line in task.about.splitlines()]
    left = Counter(re.sub(r"^\[[ xX]?\]\s*", "", item) for item in items) - Counter(
        re.sub(r"^\[[ xX]?\]\s*", "", one_line(name)) for name in message
    )
    return left.total()


def _groups(lines: list[str], boxes: list[tuple[int, re.Match[str]]]) -> list[NewTask]:
    """Return a task for each box of the least indent; what is below it belongs to it."""
    width = min(len(found["indent"].expandtabs(4)) for _, found in boxes)
    outer = [(number, found) for number, found in boxes if len(found["indent"].expandtabs(4)) == width]
    stops = [*(number for number, _ in outer[1:]), len(lines)]
    made = []
    for (start, found), stop in zip(outer, stops, strict=True):
        below = [line for line in lines[start + 1 : stop] if line[:1] in (" ", "\t", "")]
        words, checked = _box(found)
        inner = tuple(_box(match) for match in map(_BOX.match, below) if match)
        about = "\n".join(_plain(line) for line in below if not _BOX.match(line)).strip()
        made.append(NewTask(words, about, inner, checked))
    return made


def _box(found: re.Match[str]) -> tuple[str, bool]:
    return one_line(found["words"]), found["mark"] != " "


def _plain(line: str) -> str:
    found = _BULLET.fullmatch(line)
    return f"- {found['words']}" if found else line.strip()
