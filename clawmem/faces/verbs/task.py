"""`clawmem task add|list|show|take|release|submit|close|reject|reopen`."""

from __future__ import annotations

import re
from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.extension import answer_of
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import LIMIT, REASON, WORKFLOW, Parameter
from clawmem.faces.parts.records_of_work import TASK_SHAPE, task_data, task_lines
from clawmem.memory.permission import check_reads
from clawmem.memory.tasks import ChangedTask, find_task, list_tasks, move_task
from clawmem.model.language.text import counted
from clawmem.model.records.session import scratchpad_path
from clawmem.model.records.task import CLOSED, FIRST, LAST, STATES, Task
from clawmem.model.records.task_moves import CLOSE, REJECT, RELEASE, REOPEN, SUBMIT, TAKE, new_tasks, unread_lines

_DID = {
    TAKE: "{title} is yours", RELEASE: "{title} is open", SUBMIT: "{title} waits for a decision",
    CLOSE: "{title} is done", REJECT: "{title} is rejected", REOPEN: "{title} is open",
}  # fmt: skip
_UNCHANGED = "{title} is {state} already"


def add(
    call: Call,
    text: Annotated[str | None, Parameter("The title, or - for a title or a checklist on stdin.", stdin=True)],
    file: Annotated[
        str | None, Parameter("A checklist or a page: a file, or - for stdin.", ("--from",), completes="file")
    ],
    accept: Annotated[list[str] | None, Parameter("A criterion; may be repeated.", ("--accept",))],
    workflow: Annotated[str | None, WORKFLOW._replace(help="The workflow (CLAWMEM_WORKFLOW).", completes="workflow")],
    priority: Annotated[int | None, Parameter("From 1 (first) to 5.", ("--priority", "-p"), least=FIRST, most=LAST)],
    holder: Annotated[str | None, Parameter("Who holds it: an agent or a person.", ("--holder",), completes="agent")],
) -> Answer:
    """Add a task, or several. A text of one line is a title. With --from, the boxes of the text are the criteria of
    that title. Without a title, each box of a checklist is a task, and the boxes below it are its criteria; a page with
    front matter or a heading Acceptance is one task. A task whose title an open one has already is not added again."""
    from clawmem.faces.parts.reading import file_or_stdin
    from clawmem.vault.strict_yaml import parse_yaml
    from clawmem.work.tasks import add_tasks

    if text is None and file is None:
        raise InvalidInput("There is no task.", "Give a title, or a checklist with --from FILE, or - for stdin.")
    title = text if file is not None else None
    argument = file_or_stdin(call, file) if file is not None else text or ""
    name = "the text" if file in (None, "-") else str(file)
    new = new_tasks(argument, title, parse_yaml, name)
    if accept:
        if len(new) > 1 or new[0].page:
            raise InvalidInput("--accept belongs to one task with a title.", "Write the criteria into the text.")
        new = (new[0]._replace(acceptance=(*new[0].acceptance, *((word, False) for word in accept))),)
    keys = {"workflow": call.runtime.workflow(workflow), "priority": priority, "holder": holder}
    given_keys = {key: value for key, value in keys.items() if value is not None}
    tasks = add_tasks(call.runtime.vault(), call.runtime.caller(), new, given_keys)
    rows = zip(tasks.tasks, tasks.outcomes, strict=True)
    lines = [f"{'added' if what == 'added' else 'already there'}: {task.slug}  {task.title}" for task, what in rows]
    data = {"tasks": [task_data(task) for task in tasks.tasks], "outcome": list(tasks.outcomes), "commit": tasks.commit}
    left = unread_lines(argument, new) if title is None else 0
    notices = [f"left out, because they are no box with words: {counted(left, 'line')}"] if left else []
    if labels := _LABELS.findall(" ".join(task.title for task in tasks.tasks)):
        notices.append(f"tasks have no due day and no tags: {', '.join(labels)} stays a part of the title")
    return Answer(data, lines, (*tasks.notices, *notices))


# How lists of other programs write a day, a priority, a place or a project.
_LABELS = re.compile(r"(?<!\S)(?:due:\S+|\([A-Z]\)|[@+][a-z]\w*)(?!\S)")


def list_(
    call: Call,
    state: Annotated[
        list[str] | None, Parameter("{choices}; may be repeated.", ("--state",), choices=(*STATES, "all"))
    ],
    workflow: Annotated[str | None, WORKFLOW._replace(help="Only tasks of this workflow.", completes="workflow")],
    holder: Annotated[
        str | None, Parameter("Only tasks that this agent or person holds.", ("--holder",), completes="agent")
    ],
    limit: Annotated[int | None, LIMIT._replace(help="The maximum number of tasks.")],
) -> Answer:
    """List the tasks that are not closed, by priority; with --state, those in that state."""
    unknown = next((text for text in state or () if text not in (*STATES, "all")), None)
    if unknown is not None:
        raise InvalidInput(f"'{unknown}' is not a state of a task.", f"Choose one of {', '.join(STATES)}, all.")
    vault, caller = call.runtime.vault(), call.runtime.caller()
    check_reads(vault, caller)
    listed = list_tasks(vault)
    chosen = [
        task
        for task in listed.tasks
        if (task.state not in CLOSED if not state else "all" in state or task.state in state)
        and workflow in (None, task.workflow)
        and holder in (None, task.holder)
    ]
    shown = chosen[: limit or len(chosen)]
    rows = [(task.slug, str(task.priority), task.state, task.holder or "", _boxes(task), task.title) for task in shown]
    talk = () if rows else ("There are no such tasks.",)
    data = {"tasks": [task_data(task) for task in shown], "total": len(chosen)}
    table = Table(("task", "priority", "state", "holder", "criteria", "title"), rows)
    return Answer(data, table, listed.notices, talk=talk)


def show(call: Call, task: Annotated[str, TASK]) -> Answer:
    """Show a task: its keys, its text and its criteria, and the scratchpads that agents keep for it."""
    vault = call.runtime.vault()
    check_reads(vault, call.runtime.caller())
    other_task = find_task(vault, task)
    agents = sorted(path.name for path in (vault.root / "agents").glob("*") if path.is_dir())
    pads = [
        path for path in (scratchpad_path(agent, other_task.slug) for agent in agents) if (vault.root / path).is_file()
    ]
    record = {key: value for key, value in task_data(other_task).items() if key not in ("acceptance", "slug")}
    lines = [f"{key}: {value}" for key, value in record.items() if value is not None]
    lines += [f"{key}: {value}" for key, value in other_task.extra.items()]
    lines += [f"scratchpad: {path}" for path in pads]
    lines += ["", *other_task.body.strip().splitlines()]
    data = {
        "task": task_data(other_task),
        "body": other_task.body,
        "extra": dict(other_task.extra),
        "scratchpads": pads,
    }
    return Answer(data, lines)


def take(call: Call, task: Annotated[str, TASK]) -> Answer:
    """Take a task: its state becomes working, and you hold it."""
    return _moved(call, task, TAKE)


def release(call: Call, task: Annotated[str, TASK], reason: Annotated[str | None, _WHY]) -> Answer:
    """Give a task back: its state becomes open, and nobody holds it."""
    return _moved(call, task, RELEASE, reason)


def submit(call: Call, task: Annotated[str, TASK]) -> Answer:
    """Hand a task in: its state becomes review, and a person decides."""
    return _moved(call, task, SUBMIT)


def close(call: Call, task: Annotated[str, TASK], reason: Annotated[str | None, _WHY]) -> Answer:
    """Decide that a task is done. Only a person does; an agent submits it."""
    return _moved(call, task, CLOSE, reason)


def reject(call: Call, task: Annotated[str, TASK], reason: Annotated[str | None, _WHY]) -> Answer:
    """Decide that a task is not done as it should be, or is not wanted. Only a person does."""
    return _moved(call, task, REJECT, reason)


def reopen(call: Call, task: Annotated[str, TASK], reason: Annotated[str | None, _WHY]) -> Answer:
    """Open a task again: nobody holds it, and the decision goes into the history."""
    return _moved(call, task, REOPEN, reason)


def _moved(call: Call, task: str, move: str, reason: str | None = None) -> Answer:
    result: ChangedTask = move_task(call.runtime.vault(), call.runtime.caller(), task, move, reason)
    if result.commit and move in (CLOSE, REJECT):
        record_decisions = answer_of("decided tasks")  # only decisions of people are compared
        if record_decisions is not None:
            record_decisions(call.runtime.vault(), call.runtime.caller())
    words = _DID[move] if result.commit else _UNCHANGED
    lines = [words.format(title=result.task.title, state=result.task.state)]
    lines += task_lines(result.task)[1:] if move == TAKE else []
    return Answer({"task": task_data(result.task), "commit": result.commit}, lines, result.notices)


def _boxes(task: Task) -> str:
    checked = sum(item.checked for item in task.acceptance)
    return f"{checked}/{len(task.acceptance)}" if task.acceptance else ""


TASK = Parameter("The task: its file name without .md, or its title.", completes="task")
_MOVED = {"task": TASK_SHAPE, "commit": (str, None)}
_WHY = REASON._replace(help="Why; it is kept with the decision.")

VERB = {
    "add": Command(
        add,
        {"tasks": [TASK_SHAPE], "outcome": [{"added", "noop"}], "commit": (str, None)},
        (
            "clawmem task add 'Fix the login' --accept 'A name of 200 letters is accepted.'",
            "clawmem task add --from todo.md",
        ),
        ("tasks",),
    ),
    "list": Command(
        list_,
        {"tasks": [TASK_SHAPE], "total": int},
        ("clawmem task list", "clawmem task list --state review --json"),
        ("tasks",),
    ),
    "show": Command(
        show,
        {"task": TASK_SHAPE, "body": str, "extra": {str: object}, "scratchpads": [str]},
        ("clawmem task show paint-the-boat",),
        ("task",),
    ),
    "take": Command(take, _MOVED, ("clawmem task take paint-the-boat",), ("task",)),
    "release": Command(release, _MOVED, ("clawmem task release paint-the-boat",), ("task",)),
    "submit": Command(submit, _MOVED, ("clawmem task submit paint-the-boat",), ("task",)),
    "close": Command(close, _MOVED, ("clawmem task close paint-the-boat --reason 'It is blue.'",), ("task",)),
    "reject": Command(reject, _MOVED, ("clawmem task reject paint-the-boat --reason 'It is red.'",), ("task",)),
    "reopen": Command(reopen, _MOVED, ("clawmem task reopen paint-the-boat",), ("task",)),
}
