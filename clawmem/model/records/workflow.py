"""Workflows: `workflows/<id>.yaml` declares how one kind of work is done, and `check` finds what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.catalog import STRATEGIES
from clawmem.model.facts.reach import SCOPES
from clawmem.model.records.parsing import Yaml, yaml_value

FOLDER = "workflows"
_ID = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_KEYS = ("title", "about", "scopes", "roles", "stages", "states", "adapters", "failure_modes", "conflicts")
STATES = ("open", "working", "review", "done", "rejected")


class Stage(NamedTuple):
    """A stage of a workflow, with what it takes and what it must hand in."""

    name: str
    takes: tuple[str, ...] = ()
    hands_in: tuple[str, ...] = ()
    role: str | None = None


class Workflow(NamedTuple):
    """A workflow. `scopes` is its scope chain, narrow to broad; `states` says what each state of a task means;
    `adapters` maps a name to an executable, and `recorded` to the input with which it is tried; `unknown` are keys that
    this version does not know. `conflicts` is the strategy for facts of the workflow that contradict each other."""

    id: str
    title: str = ""
    about: str = ""
    scopes: tuple[str, ...] = SCOPES
    roles: Mapping[str, str] = {}
    stages: tuple[Stage, ...] = ()
    states: Mapping[str, str] = {}
    adapters: Mapping[str, str] = {}
    failure_modes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    recorded: Mapping[str, Mapping[str, Any]] = {}
    conflicts: str | None = None

    def stage(self, name: str) -> Stage:
        """Return a stage by name. Raise InvalidInput if the workflow has no such stage."""
        found = next((one for one in self.stages if one.name == name), None)
        if found is None:
            names = ", ".join(one.name for one in self.stages) or "no stages"
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
    held = yaml_value(data, path, yaml)
    name = path.rpartition("/")[2].removesuffix(".yaml")
    return workflow_from_mapping(name, {} if held is None else held, path)


def workflow_from_mapping(name: str, held: Any, path: str) -> Workflow:
    """Return a workflow from plain values. Raise Unreadable, naming the key, if one has the wrong type."""
    try:
        check_workflow(name)
        if not isinstance(held, Mapping):
            raise InvalidInput("it contains no keys and values")
        return Workflow(
            name,
            _text(held, "title"),
            _text(held, "about"),
            _scopes(held),
            _texts_by_name(held, "roles"),
            tuple(_stage(one, at) for at, one in enumerate(_list(held, "stages"))),
            _texts_by_name(held, "states"),
            {name: run for name, (run, _) in _adapters(held).items()},
            tuple(_words(held, "failure_modes", "failure_modes")),
            tuple(str(key) for key in held if key not in _KEYS),
            {name: given for name, (_, given) in _adapters(held).items() if given is not None},
            _strategy(held),
        )
    except InvalidInput as problem:
        raise Unreadable(path, None, problem.message.rstrip(".")) from None


def missing_in(workflow: Workflow) -> Iterator[str]:
    """Yield a sentence for each thing that a workflow lacks or gets wrong."""
    for key in ("title", "about", "roles", "stages", "states"):
        if not getattr(workflow, key):
            yield f"'{key}' is missing."
    for key in workflow.unknown:
        yield f"'{key}' is not a key of a workflow; the keys are {', '.join(_KEYS)}."
    for state in workflow.states:
        if state not in STATES:
            yield f"states.{state} is not a state of a task; the states are {', '.join(STATES)}."
    handed_in = {"task"}
    for at, stage in enumerate(workflow.stages):
        place = f"stages[{at}] ({stage.name})"
        if not stage.hands_in:
            yield f"{place} does not say what it hands in."
        for one in stage.takes:
            if one not in handed_in:
                yield f"{place} takes '{one}', which no earlier stage hands in."
        if stage.role is not None and stage.role not in workflow.roles:
            yield f"{place} has the role '{stage.role}', which 'roles' does not describe."
        handed_in.update(stage.hands_in)
    names = [stage.name for stage in workflow.stages]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"There are {names.count(name)} stages with the name '{name}'."


def _scopes(held: Mapping[str, Any]) -> tuple[str, ...]:
    words = _words(held, "scopes", "scopes")
    for word in words:
        if word not in SCOPES:
            raise InvalidInput(f"the key 'scopes' contains '{word}'; the scopes are {', '.join(SCOPES)}")
    return tuple(words) or SCOPES


def _strategy(held: Mapping[str, Any]) -> str | None:
    given = held.get("conflicts")
    if given is not None and given not in STRATEGIES:
        raise InvalidInput(f"'conflicts' is '{str(given)[:40]}', but must be one of {', '.join(STRATEGIES)}")
    return given


def _stage(held: Any, at: int) -> Stage:
    place = f"stages[{at}]"
    if isinstance(held, str):
        return Stage(held)
    if not isinstance(held, Mapping) or not isinstance(held.get("name"), str) or not held["name"]:
        raise InvalidInput(f"the key '{place}.name' is missing or not text")
    takes, hands_in = (_words(held, key, f"{place}.{key}") for key in ("takes", "hands_in"))
    return Stage(held["name"], tuple(takes), tuple(hands_in), _text(held, "role", place) or None)


def _text(held: Mapping[str, Any], key: str, place: str = "") -> str:
    value = held.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"the key '{place}{'.' if place else ''}{key}' is not text")
    return value or ""


def _list(held: Mapping[str, Any], key: str) -> list[Any]:
    value = held.get(key)
    if value is not None and not isinstance(value, list):
        raise InvalidInput(f"the key '{key}' is not a list")
    return value or []


def _words(held: Mapping[str, Any], key: str, place: str) -> list[str]:
    value = held.get(key)
    words = [value] if isinstance(value, str) else value or []
    if not isinstance(words, list) or not all(isinstance(one, str) for one in words):
        raise InvalidInput(f"the key '{place}' is not a list of texts")
    return words


def _adapters(held: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any] | None]]:
    """Return the executable of each adapter and its recorded input. An adapter is an executable, or a mapping of `run`
    and `recorded`."""
    value = held.get("adapters")
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput("the key 'adapters' does not map names to executables")
    found = {}
    for name, one in (value or {}).items():
        run, given = (
            (one, None)
            if isinstance(one, str)
            else (one.get("run"), one.get("recorded"))
            if (isinstance(one, Mapping))
            else (None, None)
        )
        if not isinstance(run, str) or not (given is None or isinstance(given, Mapping)):
            raise InvalidInput(f"the key 'adapters.{name}' is no executable, and no mapping of run and recorded")
        found[str(name)] = (run, given)
    return found


def _texts_by_name(held: Mapping[str, Any], key: str) -> dict[str, str]:
    value = held.get(key)
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values())):
        raise InvalidInput(f"the key '{key}' does not map names to texts")
    return {str(name): text for name, text in (value or {}).items()}
