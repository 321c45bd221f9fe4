"""Acts on tasks: add them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, IncompleteAnswer, InvalidInput, NotFound
from clawmem.memory.failure_modes import read_modes
from clawmem.memory.quarantine import refuse_order
from clawmem.memory.scope import WriteScope
from clawmem.memory.tasks import list_tasks, mover, with_values
from clawmem.memory.writing import writing
from clawmem.model.language.text import as_one_file, check_statement, check_visible, counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import slug
from clawmem.model.records.task import (
    CLOSED,
    DONE,
    REVIEW,
    WORKFLOWS,
    Task,
    Workflow,
    check_workflow,
    missing_in,
    new_page,
    parse_task,
    parse_workflow,
    task_path,
    workflow_path,
)
from clawmem.model.records.task_moves import NewTask
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class AddedTasks(NamedTuple):
    """The tasks with an outcome each, `added` or `noop` (an open task has this title), and the commit."""

    tasks: tuple[Task, ...]
    outcomes: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def add_tasks(vault: Vault, caller: Caller, new: Sequence[NewTask], keys: Mapping[str, Any]) -> AddedTasks:
    """Add tasks in one commit. `keys` are set in the front matter of each.

    A task whose title an open one has already is not added again. A checked box makes a task `done`, or `review` where
    an agent adds it, because a person decides what is done. Raise InvalidInput, NotFound or SecretFound before anything
    is written."""
    if keys.get("workflow"):
        find_workflow(vault, keys["workflow"])
    with writing(vault, caller, "task add") as work:
        known = list_tasks(vault)
        by_title = {slug(task.title): task for task in known.tasks if task.state not in CLOSED}
        made: dict[str, Task] = {}
        tasks, outcomes = list[Task](), list[str]()
        for task in new:
            name = slug(task.title)
            same = by_title.get(name)
            if same is None:
                same = by_title[name] = _task(work, task, keys, made)
                made[same.slug] = same
                outcomes.append("added")
            else:
                outcomes.append("noop")
            tasks.append(same)
        commit = work.commit([_added(caller, list(made.values()))])[-1] if made else None
        return AddedTasks(tuple(tasks), tuple(outcomes), commit, work.notices)


def _task(work: WriteScope, new: NewTask, keys: Mapping[str, Any], made: Container[str]) -> Task:
    """Return a new task with a slug that no file has."""
    title = check_statement(new.title, "title")
    path = task_path(free_slug(work, title, made))
    state = {} if not new.checked else {"state": DONE if work.caller.agent is None else REVIEW}
    page = new.page if new.page else new_page(title, {**keys, **state}, new.about, new.acceptance)
    check_visible(page, "task")
    refuse_order(work.caller, "task", page)
    task = parse_task(allowed(work.vault.settings, page, f"The task '{title}'").encode(), path, parse_yaml)
    if not new.page:
        return task
    if task.state in CLOSED and not mover(work).decides:
        raise InvalidInput(f"The task '{title}' is {task.state}, and a person decides that.", "Give it another state.")
    return with_values(task, {"title": task.title, "state": task.state, **keys})


def free_slug(work: WriteScope, title: str, made: Container[str]) -> str:
    """Return a slug for a title that no file of the vault has, and none in `made`."""
    name = as_one_file(slug(title)) or "task"
    name = f"{name}-task" if name == "readme" else name
    number, free = 1, name
    while free in made or work.read(task_path(free)) is not None:
        number += 1
        free = f"{name}-{number}"
    return free


def _added(caller: Caller, tasks: Sequence[Task]) -> Change:
    items = trailers("task-add", agent=caller.agent, session=caller.session)
    items = (*items, *(("Task", task.slug) for task in tasks))
    where = tasks[0].path.removesuffix(".md") if len(tasks) == 1 else "tasks"
    words = tasks[0].title if len(tasks) == 1 else counted(len(tasks), "task")
    writes: dict[str, bytes | None] = {task.path: task.page.encode() for task in tasks}
    return Change(subject_line("task add", where, words), writes, items, author=agent_author(caller.agent))


class WorkflowCheck(NamedTuple):
    """What a workflow lacks, one sentence each; empty if it is complete. If it is unreadable, its error."""

    id: str
    missing: tuple[str, ...]
    is_readable: bool = True


def list_workflows(vault: Vault) -> tuple[list[Workflow], list[str]]:
    """Return the readable workflows of the vault in the order of their ids, and a notice for each unreadable file."""
    found, notices = list[Workflow](), list[str]()
    for name in _ids(vault):
        try:
            found.append(find_workflow(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return found, notices


def find_workflow(vault: Vault, workflow: str) -> Workflow:
    """Return a workflow. Raise NotFound, naming the existing ones, or Unreadable."""
    name = check_workflow(workflow)
    path = workflow_path(name)
    data = vault.read(path)
    if data is None:
        names = ", ".join(_ids(vault)) or "none"
        raise NotFound(
            f"There is no workflow '{name}'.", f"The workflows of this vault are: {names}. A new one is a file {path}."
        )
    return parse_workflow(data, path, parse_yaml)


def check_workflows(vault: Vault, workflow: str | None = None) -> tuple[WorkflowCheck, ...]:
    """Return what one workflow lacks, or each of them. An unreadable file lacks what its error says."""
    return tuple(_check(vault, name) for name in ([check_workflow(workflow)] if workflow else _ids(vault)))


def _check(vault: Vault, name: str) -> WorkflowCheck:
    try:
        found = find_workflow(vault, name)
        return WorkflowCheck(name, (*missing_in(found), *_unknown_modes(vault, found)))
    except NotFound:
        raise
    except ClawmemError as problem:
        return WorkflowCheck(name, (problem.message,), is_readable=False)


def _unknown_modes(vault: Vault, workflow: Workflow) -> list[str]:
    if not workflow.failure_modes:
        return []
    known = read_modes(vault)
    if known.notices:
        return list(known.notices)
    named = (failure_mode for failure_mode in workflow.failure_modes if failure_mode not in known.modes)
    return [f"failure_modes: '{text}' is no failure mode; the modes are {', '.join(known.modes)}." for text in named]


def _ids(vault: Vault) -> list[str]:
    return sorted(path.stem for path in (vault.root / WORKFLOWS).glob("*.yaml"))
