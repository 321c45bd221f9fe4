"""Take in the tasks that an adapter brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.memory.scope import WriteScope
from clawmem.memory.task_changes import with_values
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement
from clawmem.model.records.adapter_reply import AdapterTask
from clawmem.model.records.foreign_tasks import new_keys, origin_of, told_keys, updated
from clawmem.model.records.task import CLOSED, Task, new_page, parse_task, task_path
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.work.tasks import free_slug


class TakenIn(NamedTuple):
    """The writes, how many tasks are new and how many changed, and what was changed on both sides."""

    writes: dict[str, bytes | None]
    added: int
    updated: int
    notices: tuple[str, ...]


def take_in(
    work: WriteScope,
    workflow: str,
    adapter: str,
    items: Sequence[AdapterTask],
    known: Sequence[Task],
    closed: Sequence[Mapping[str, Any]],
) -> TakenIn:
    """Plan the writes for the tasks that an adapter gave. `known` are those that it brought before, and `closed` what
    it was told in this run."""
    moment, group = stamp(work.caller.now), {record["task"] for record in closed}
    tasks = {other_task.origin: other_task for other_task in known}
    before = dict(tasks)
    notices: list[str] = []
    for other_task in known:
        if other_task.slug in group or other_task.state not in CLOSED:
            tasks[other_task.origin] = with_values(other_task, told_keys(other_task))
    made: dict[str, Task] = {}
    for task in {other_task.id: other_task for other_task in items}.values():
        origin = origin_of(workflow, adapter, task.id)
        here = tasks.get(origin)
        if here is None:
            made[origin] = _new(
                work, task, workflow, adapter, moment, {other_task.slug for other_task in made.values()}
            )
            continue
        update = updated(here, task, workflow, adapter, moment)
        notices += update.kept
        tasks[origin] = with_values(here, update.keys) if update.keys else here
    changed = [other_task for origin, other_task in tasks.items() if other_task != before[origin]]
    writes: dict[str, bytes | None] = {
        other_task.path: other_task.page.encode() for other_task in (*made.values(), *changed)
    }
    return TakenIn(writes, len(made), len(changed), tuple(notices))


def _new(work: WriteScope, task: AdapterTask, workflow: str, adapter: str, moment: str, taken: set[str]) -> Task:
    title = check_statement(task.title, "title")
    criteria = tuple((text, False) for text in task.acceptance)
    page = new_page(title, new_keys(task._replace(title=title), workflow, adapter, moment), task.about, criteria)
    path = task_path(free_slug(work, title, taken))
    return parse_task(allowed(work.vault.settings, page, f"The task '{title}'").encode(), path, parse_yaml)
