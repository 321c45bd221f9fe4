"""Tasks in words and as JSON, the same in every verb."""

from __future__ import annotations

from typing import Any

from clawmem.model.records.task import VERDICTS, Task
from clawmem.model.records.workflow import STATES

_ITEM = {"text": str, "checked": bool, "line": int}
TASK_SHAPE = {
    "slug": str, "title": str, "state": set(STATES), "workflow": (str, None), "holder": (str, None), "priority": int,
    "since": (str, None), "verdict": (set(VERDICTS), None), "decided": (str, None), "decided_by": (str, None),
    "reason": (str, None), "origin": (str, None), "url": (str, None), "path": str, "acceptance": [_ITEM],
}  # fmt: skip


def task_data(task: Task) -> dict[str, Any]:
    """A task as callers of --json get it: every key is always there."""
    left = ("acceptance", "body", "extra", "page", "foreign")
    data = {key: value for key, value in task._asdict().items() if key not in left}
    return {**data, "path": task.path, "acceptance": [item._asdict() for item in task.acceptance]}


def task_lines(task: Task) -> list[str]:
    """The title of a task and its criteria, for people."""
    return [task.title, *(f"- [{'x' if item.checked else ' '}] {item.text}" for item in task.acceptance)]
