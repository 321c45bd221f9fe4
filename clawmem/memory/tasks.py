"""Read the tasks of a vault."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, NotFound
from clawmem.model.facts.ids import check_prefix
from clawmem.model.kinds import file_kind
from clawmem.model.records.entity import slug
from clawmem.model.records.task import FOLDER, Task, parse_task, task_path
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class TaskList(NamedTuple):
    """The tasks that can be read, by priority and then by slug, and a notice for each other file."""

    tasks: tuple[Task, ...]
    notices: tuple[str, ...] = ()


def list_tasks(vault: Vault) -> TaskList:
    """Return all tasks of the vault, closed ones too."""
    found, notices = [], []
    for name in _slugs(vault):
        try:
            found.append(_read(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return TaskList(tuple(sorted(found, key=lambda task: (task.priority, task.slug))), tuple(notices))


def find_task(vault: Vault, reference: str, exact: bool = False) -> Task:
    """Return the task with this slug, path or title, or unless `exact` with this unique beginning of a slug.

    Raise NotFound, AmbiguousId, or Unreadable, which names line and key, and InvalidInput for a short beginning."""
    names = _slugs(vault)
    wanted = reference.removeprefix(f"{FOLDER}/").removesuffix(".md")
    if wanted in names:
        return _read(vault, wanted)
    same = [name for name in names if slug(wanted) and slug(name) == slug(wanted)]
    if len(same) == 1:
        return _read(vault, same[0])
    near = [name for name in names if slug(wanted) and name.startswith(slug(wanted)) and not exact]
    titled = [task.slug for task in list_tasks(vault).tasks if slug(task.title) == slug(wanted) != ""]
    matches = titled or near
    if len(matches) > 1:
        raise AmbiguousId(reference, matches)
    if not matches:
        raise NotFound(f"There is no task '{reference}'.", "`clawmem task list` shows them.")
    return _read(vault, matches[0] if titled else check_prefix(reference, slug(wanted), matches[0]))


def _slugs(vault: Vault) -> list[str]:
    paths = (path.stem for path in (vault.root / FOLDER).glob("*.md"))
    return sorted(name for name in paths if (kind := file_kind(task_path(name))) and kind.name == "task")


def _read(vault: Vault, name: str) -> Task:
    path = task_path(name)
    return parse_task(vault.read(path) or b"", path, parse_yaml)
