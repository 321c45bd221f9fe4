"""`clawmem task add|list|show|take|release|submit|close|reject|reopen`, and `workflow list|show|check|allow|run`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, REFUSED, InvalidInput
from clawmem.extension import answer_of
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import LIMIT, REASON, WORKFLOW, Parameter
from clawmem.faces.parts.words import data_of
from clawmem.memory.permission import check_reads
from clawmem.model.forms import to_record
from clawmem.model.language.text import check_choice, counted
from clawmem.model.records.session import scratchpad_path
from clawmem.model.records.task import CLOSED, FIRST, LAST, STATES, VERDICTS, AcceptanceItem, Task, Workflow
from clawmem.model.records.task_moves import CLOSE, REJECT, RELEASE, REOPEN, SUBMIT, TAKE, new_tasks, unread_lines

if TYPE_CHECKING:
    from clawmem.vault.vault import Vault
    from clawmem.work.adapters import AdapterCheck
    from clawmem.work.tasks import ChangedTask

TASK_SHAPE = {
    "slug": str, "title": str, "state": set(STATES), "workflow": (str, None), "holder": (str, None), "priority": int,
    "since": (str, None), "verdict": (set(VERDICTS), None), "decided": (str, None), "decided_by": (str, None),
    "reason": (str, None), "origin": (str, None), "url": (str, None), "path": str, "acceptance": [AcceptanceItem],
}  # fmt: skip


def task_data(task: Task) -> dict[str, Any]:
    """A task as callers of --json get it: every key is always there."""
    left = ("acceptance", "body", "extra", "page", "foreign")
    data = {key: value for key, value in task._asdict().items() if key not in left}
    return {**data, "path": task.path, "acceptance": [item._asdict() for item in task.acceptance]}


def task_lines(task: Task) -> list[str]:
    """The title of a task and its criteria, for people."""
    return [task.title, *(f"- [{'x' if item.checked else ' '}] {item.text}" for item in task.acceptance)]


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
    from clawmem.work.tasks import list_tasks

    for text in state or ():
        check_choice(text, "state of a task", (*STATES, "all"))
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
    from clawmem.work.tasks import find_task

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
    from clawmem.work.tasks import move_task

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


def all_workflows(call: Call) -> Answer:
    """List the workflows."""
    from clawmem.work.tasks import list_workflows

    found, notices = list_workflows(call.runtime.vault())
    data = [{"id": workflow.id, "title": workflow.title} for workflow in found]
    rows = [(each.id, each.title, " > ".join(stage.name for stage in each.stages)) for each in found]
    talk = () if rows else ("There are no workflows; a workflow is a file workflows/ID.yaml.",)
    return Answer({"workflows": data}, Table(("workflow", "title", "stages"), rows), notices, talk=talk)


def whole_workflow(call: Call, workflow_id: Annotated[str, _ID]) -> Answer:
    """Show a workflow: scopes, roles, stages with what they take and hand in, states, failure modes."""
    from clawmem.work.tasks import find_workflow

    workflow = find_workflow(call.runtime.vault(), workflow_id)
    lines = [f"{workflow.id}: {workflow.title}", workflow.about, f"scopes: {' > '.join(workflow.scopes)}"]
    lines += [f"role {name}: {about}" for name, about in workflow.roles.items()]
    lines += [
        f"stage {stage.name}{f' ({stage.role})' if stage.role else ''}:"
        f" takes {', '.join(stage.takes) or 'nothing'}; hands in {', '.join(stage.hands_in) or 'nothing'}"
        for stage in workflow.stages
    ]
    lines += [f"state {name}: {about}" for name, about in workflow.states.items()]
    lines += [f"adapter {name}: {adapter.run}" for name, adapter in workflow.adapters.items()]
    lines += [f"failure modes: {', '.join(workflow.failure_modes)}"] if workflow.failure_modes else []
    return Answer({"workflow": _data(workflow)}, [line for line in lines if line])


def check(
    call: Call,
    workflow_id: Annotated[str | None, _ID],
    adapters: Annotated[bool, Parameter("Run the adapters with their recorded input, too.", ("--adapters",))],
) -> Answer:
    """Say what a workflow lacks. With --adapters, also run its adapters with their recorded input, and check what they
    answer. The exit code is 1 if something is missing or wrong."""
    from clawmem.work.tasks import check_workflows

    vault = call.runtime.vault()
    data, lines, missing = [], list[str](), 0
    for workflow in check_workflows(vault, workflow_id):
        tried = _tried(vault, workflow.id) if adapters and workflow.is_readable else []
        data.append(
            {"id": workflow.id, "missing": list(workflow.missing), "adapters": [each._asdict() for each in tried]}
        )
        lines += [f"{workflow.id}: {words}" for words in workflow.missing or ("complete",)]
        for each in tried:
            counts = ((each.tasks, "task"), (each.events, "event"), (each.outcomes, "outcome"))
            found = ", ".join(counted(number, noun) for number, noun in counts)
            lines.append(f"{workflow.id}: adapter {each.name}: {each.problem or found}")
        missing += len(workflow.missing) + sum(each.problem is not None for each in tried)
    talk = (f"{counted(missing, 'problem')} found.",) if missing else ()
    return Answer({"workflows": data}, lines, exit_code=REFUSED if missing else DONE, talk=talk)


def allow(call: Call, workflow_id: Annotated[str, _ID], adapter: Annotated[str, _ADAPTER]) -> Answer:
    """Allow the program of an adapter on this machine. Read it first. If the file changes, it must be allowed again."""
    from clawmem.work.adapters import allow_adapter

    result = allow_adapter(call.runtime.vault(), call.runtime.caller(), workflow_id, adapter)
    return Answer(result._asdict(), [f"allowed {result.path}, SHA-256 {result.checksum}"])


def run(call: Call, workflow_id: Annotated[str, _ID], adapter: Annotated[str, _ADAPTER]) -> Answer:
    """Run an adapter: store its new events, its tasks and the outcomes of decisions. A value of a task that was changed
    here is kept, and named where the other side changed it, too."""
    from clawmem.work.adapters import run_adapter

    result = run_adapter(call.runtime.vault(), call.runtime.caller(), workflow_id, adapter)
    rows = [(task.id, task.state, task.title, task.url or "") for task in result.tasks]
    events = f"{counted(result.added, 'new event')}, {result.known} known"
    tasks_said = f"{counted(result.new_tasks, 'new task')}, {result.changed_tasks} changed"
    talk = (f"{events}, {counted(result.outcomes, 'outcome')} recorded", tasks_said)
    return Answer(data_of(result), Table(("task", "state", "title", "url"), rows), result.notices, talk=talk)


def _tried(vault: Vault, workflow_id: str) -> list[AdapterCheck]:
    from clawmem.work.adapters import check_adapters  # starts programs
    from clawmem.work.tasks import find_workflow

    return check_adapters(vault, find_workflow(vault, workflow_id))


def _data(workflow: Workflow) -> dict[str, Any]:
    runs = {name: adapter.run for name, adapter in workflow.adapters.items()}
    recorded = {name: adapter.recorded for name, adapter in workflow.adapters.items() if adapter.recorded is not None}
    more = {"adapters": runs, "unknown": list(workflow.extra), "recorded": recorded}
    return {**to_record(workflow._replace(extra={}), ()), **more}


_ID = Parameter("The workflow's id, such as software.", completes="workflow")
_ADAPTER = Parameter("The adapter's name in the workflow.")
_WORKFLOW = {
    "...": Workflow, "scopes": [str], "adapters": {str: str}, "conflicts": (str, None), "unknown": [str],
    "recorded": {str: {str: object}},
}  # fmt: skip


VERBS = {
    "task": {
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
    },
    "workflow": {
        "list": Command(
            all_workflows, {"workflows": [{"id": str, "title": str}]}, ("clawmem workflow list",), ("workflows",)
        ),
        "show": Command(whole_workflow, {"workflow": _WORKFLOW}, ("clawmem workflow show software",), ("workflow",)),
        "check": Command(
            check,
            {"workflows": [{"id": str, "missing": [str], "adapters": ["clawmem.work.adapters:AdapterCheck"]}]},
            ("clawmem workflow check", "clawmem workflow check research --adapters"),
            ("workflows",),
        ),
        "allow": Command(
            allow,
            "clawmem.work.adapters:AllowedAdapter",
            ("clawmem workflow allow software tickets",),
            person="lets a program run on this machine",
        ),
        "run": Command(
            run,
            "clawmem.work.adapters:AdapterRun",
            ("clawmem workflow run software tickets",),
            ("tasks",),
        ),
    },
}
