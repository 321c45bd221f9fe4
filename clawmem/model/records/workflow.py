"""Workflows: `workflows/<id>.yaml` declares how one kind of work is done, and `check` finds what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.catalog import STRATEGIES
from clawmem.model.facts.reach import SCOPES
from clawmem.model.forms import ONE_OR_MORE, FilledText, read_in_file, short_for
from clawmem.model.records.parsing import Yaml, yaml_value

FOLDER = "workflows"
_ID = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_KEYS = ("title", "about", "scopes", "roles", "stages", "states", "adapters", "failure_modes", "conflicts")
STATES = ("open", "working", "review", "done", "rejected")


class Stage(NamedTuple):
    """A stage of a workflow, with what it takes and what it must hand in."""

    name: FilledText
    takes: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    hands_in: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    role: str | None = None


class Adapter(NamedTuple):
    """An executable that asks a foreign system, and the input with which it is tried."""

    run: str
    recorded: Mapping[str, Any] | None = None


class Workflow(NamedTuple):
    """A workflow. `scopes` is its scope chain, narrow to broad; `states` says what each state of a task means;
    `extra` are keys that this version does not know. `conflicts` is the strategy for facts of the workflow that
    contradict each other."""

    id: str
    title: str = ""
    about: str = ""
    scopes: Annotated[tuple[Annotated[str, SCOPES], ...], ONE_OR_MORE, lambda scopes: scopes or SCOPES] = SCOPES
    roles: Mapping[str, str] = {}
    stages: tuple[Annotated[Stage, short_for("name")], ...] = ()
    states: Mapping[str, str] = {}
    adapters: Mapping[str, Annotated[Adapter, short_for("run")]] = {}
    failure_modes: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    conflicts: Annotated[str, STRATEGIES] | None = None
    extra: Mapping[str, Any] = {}

    def stage(self, name: str) -> Stage:
        """Return a stage by name. Raise InvalidInput if the workflow has no such stage."""
        found = next((stage for stage in self.stages if stage.name == name), None)
        if found is None:
            names = ", ".join(stage.name for stage in self.stages) or "no stages"
            raise InvalidInput(f"'{name}' is not a stage of the workflow {self.id}.", f"It has {names}.")
        return found


def check_workflow(text: str) -> str:
    """Return a workflow id. Raise InvalidInput unless it has lower-case letters, digits, `-` and `_` only."""
    if not _ID.fullmatch(text):
        raise InvalidInput(f"'{text}' is not a workflow id.", "Use lower-case letters, digits, - and _.")
    return text


def workflow_path(workflow: str) -> str:
    """Return the vault path of a workflow."""
    return f"{FOLDER}/{workflow}.yaml"


def parse_workflow(data: bytes, path: str, yaml: Yaml) -> Workflow:
    """Read a workflow. Raise Unreadable if it is no YAML mapping, or a key has the wrong type."""
    record = yaml_value(data, path, yaml)
    name = path.rpartition("/")[2].removesuffix(".yaml")
    return workflow_from_mapping(name, {} if record is None else record, path)


def workflow_from_mapping(name: str, record: Any, path: str) -> Workflow:
    """Return a workflow from plain values. Raise Unreadable, naming the key, if one has the wrong type."""
    try:
        check_workflow(name)
    except InvalidInput as problem:
        raise Unreadable(path, None, problem.message.rstrip(".")) from None
    return read_in_file(Workflow, record, path, id=name)


def missing_in(workflow: Workflow) -> Iterator[str]:
    """Yield a sentence for each thing that a workflow lacks or gets wrong."""
    for key in ("title", "about", "roles", "stages", "states"):
        if not getattr(workflow, key):
            yield f"'{key}' is missing."
    for key in workflow.extra:
        yield f"'{key}' is not a key of a workflow; the keys are {', '.join(_KEYS)}."
    for state in workflow.states:
        if state not in STATES:
            yield f"states.{state} is not a state of a task; the states are {', '.join(STATES)}."
    handed_in = {"task"}
    for at, stage in enumerate(workflow.stages):
        place = f"stages[{at}] ({stage.name})"
        if not stage.hands_in:
            yield f"{place} does not say what it hands in."
        for take in stage.takes:
            if take not in handed_in:
                yield f"{place} takes '{take}', which no earlier stage hands in."
        if stage.role is not None and stage.role not in workflow.roles:
            yield f"{place} has the role '{stage.role}', which 'roles' does not describe."
        handed_in.update(stage.hands_in)
    names = [stage.name for stage in workflow.stages]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"There are {names.count(name)} stages with the name '{name}'."
