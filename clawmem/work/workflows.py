"""Acts on workflows: find, list and check the files in `workflows/`."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import ClawmemError, IncompleteAnswer, NotFound
from clawmem.memory.failure_modes import read_modes
from clawmem.model.records.workflow import FOLDER, Workflow, check_workflow, missing_in, parse_workflow, workflow_path
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class WorkflowList(NamedTuple):
    """The readable workflows by id, and a notice for each unreadable file."""

    workflows: tuple[Workflow, ...]
    notices: tuple[str, ...] = ()


class WorkflowCheck(NamedTuple):
    """What a workflow lacks, one sentence each; empty if it is complete. If it is unreadable, its error."""

    id: str
    missing: tuple[str, ...]
    is_readable: bool = True


def list_workflows(vault: Vault) -> WorkflowList:
    """Return all workflows of the vault, in the order of their ids."""
    found, notices = [], []
    for name in _ids(vault):
        try:
            found.append(find_workflow(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return WorkflowList(tuple(found), tuple(notices))


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
    return sorted(path.stem for path in (vault.root / FOLDER).glob("*.yaml"))
