"""What an adapter gives back: tasks, events and outcomes, checked before anything is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput, key_name
from clawmem.model.facts.gates import DECISION_OUTCOMES
from clawmem.model.forms import Before, FilledText, TimeText, WrongValue, no_other_keys, read_record
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import one_line
from clawmem.model.records.event import EVENT_ROLES
from clawmem.model.records.strict_json import read_json
from clawmem.model.records.task import CLOSED, DONE, FIRST, LAST, PASS, REJECT, USUAL, Task
from clawmem.model.records.workflow import STATES

VERSION = 1
"""The version of the request, and of the answer."""
LISTS = ("tasks", "events", "outcomes")
MOST = 5_000
"""The most entries of one list."""


class AdapterTask(NamedTuple):
    """A task of the foreign system: its id there, its title, its state, its address, its text, its criteria, and its
    priority, 1 (first) to 5."""

    id: str
    title: str
    state: Annotated[str, STATES] = "open"
    url: str | None = None
    about: str = ""
    acceptance: tuple[Annotated[FilledText, one_line], ...] = ()
    priority: Annotated[int, (FIRST, LAST)] | None = None


class AdapterEvent(NamedTuple):
    """Something that happened there: its id, its time (ISO 8601 UTC), its text, and who said it."""

    id: str
    timestamp: Annotated[TimeText, lambda text: stamp(moment_of(text))]
    text: str
    role: Annotated[str, EVENT_ROLES] = "system"
    speaker: str | None = None


class AdapterOutcome(NamedTuple):
    """What became of a decision of this memory."""

    decision: str
    outcome: Annotated[str, DECISION_OUTCOMES]
    note: str | None = None


def _stripped(entry: Any) -> Any:
    """Return an entry without blanks around its texts, and without texts that are empty then."""
    if not isinstance(entry, Mapping):
        return entry
    stripped = {key: value.strip() if isinstance(value, str) else value for key, value in entry.items()}
    return {key: value for key, value in stripped.items() if value != ""}


def _few(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(entries) > MOST:
        raise WrongValue(f"has more than {MOST:,} entries")
    return entries


@no_other_keys
class AdapterReply(NamedTuple):
    """A checked answer."""

    tasks: Annotated[tuple[Annotated[AdapterTask, Before(_stripped)], ...], _few] = ()
    events: Annotated[tuple[Annotated[AdapterEvent, Before(_stripped)], ...], _few] = ()
    outcomes: Annotated[tuple[Annotated[AdapterOutcome, Before(_stripped)], ...], _few] = ()


def adapter_request(
    workflow: str,
    adapter: str,
    record: Mapping[str, Any],
    since: str | None = None,
    closed: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the JSON document that an adapter reads on stdin.

    `given` is recorded input, or empty. `since` is the time of the last run that was stored (ISO 8601 UTC), null before
    the first. `closed` are its tasks that were closed here."""
    about = {"version": VERSION, "workflow": workflow, "adapter": adapter, "since": since}
    return {**about, "input": dict(record), "closed": [dict(other_record) for other_record in closed]}


def parse_reply(value: Any) -> AdapterReply:
    """Return the answer of an adapter. Raise InvalidInput with the path of the first wrong value."""
    try:
        return read_record(AdapterReply, value)
    except WrongValue as problem:
        name = key_name(problem.keys) or "the answer"
        raise InvalidInput(f"{name} {problem.problem}.", f"An answer has lists of {', '.join(LISTS)}.") from None


# Tasks of a foreign system: what an update of it changes here, and what it is told of a task that was closed here.
#
# The front matter of such a task keeps under `foreign` what the foreign system said last. So a value that differs from
# that was changed here, and an update does not replace it.

_SHARED = ("title", "state", "priority", "url")
_TOLD = "told"


class ForeignUpdate(NamedTuple):
    """The keys of the front matter that an update sets, and what both sides changed, in words."""

    keys: Mapping[str, Any]
    kept: tuple[str, ...] = ()


def origin_of(workflow: str, adapter: str, foreign_id: str) -> str:
    """Return the value of `origin` for a task that an adapter brings."""
    return f"{workflow}/{adapter}:{foreign_id}"


def new_keys(task: AdapterTask, workflow: str, adapter: str, moment: str) -> dict[str, Any]:
    """Return the keys of the front matter of a task that is new here."""
    keys = {"workflow": workflow, "state": task.state, "priority": task.priority, "url": task.url}
    decision = _decision(task.state, workflow, adapter, moment)
    origin = origin_of(workflow, adapter, task.id)
    return {
        **{key: value for key, value in keys.items() if value is not None},
        **decision,
        "origin": origin,
        "foreign": _text(_values(task)),
    }


def updated(task: Task, argument: AdapterTask, workflow: str, adapter: str, moment: str) -> ForeignUpdate:
    """Return what an update of the foreign task changes: each value that only the foreign side changed."""
    before, now = _said(task), _values(argument)
    here = {key: getattr(task, key) for key in _SHARED}
    keys: dict[str, Any] = {}
    kept = []
    for key, value in now.items():
        if value in (before.get(key), here[key]):
            continue
        if here[key] == before.get(key):
            keys[key] = value
        else:
            kept.append(f"{key} of {task.slug} is '{here[key]}' here and '{value}' there; yours is kept")
    if "state" in keys:
        undone = {key: None for key in ("verdict", "decided", "decided_by", "reason") if getattr(task, key)}
        keys |= {"since": moment, **undone, **_decision(argument.state, workflow, adapter, moment)}
    record = {**now, **({_TOLD: before[_TOLD]} if _TOLD in before else {})}
    return ForeignUpdate({**keys, **({"foreign": _text(record)} if record != before else {})}, tuple(kept))


def to_tell(task: Task) -> dict[str, Any] | None:
    """Return what the foreign system is told of a task: that it was closed here, once for each time; else None."""
    before = _said(task)
    if task.origin is None or task.state not in CLOSED or task.state in (before.get("state"), before.get(_TOLD)):
        return None
    outcome = {"state": task.state, "verdict": task.ruling, "reason": task.reason, "decided_by": task.decided_by}
    record = {"id": task.origin.partition(":")[2], "task": task.slug, "title": task.title, **outcome}
    return {**record, "decided": task.decided}


def told_keys(task: Task) -> dict[str, Any]:
    """Return the keys of a task after the foreign system was told of it, or after it was opened again here."""
    before = _said(task)
    after = {key: value for key, value in before.items() if key != _TOLD}
    after |= {_TOLD: task.state} if task.state in CLOSED and task.state != before.get("state") else {}
    return {} if after == before else {"foreign": _text(after)}


def _decision(state: str, workflow: str, adapter: str, moment: str) -> dict[str, Any]:
    if state not in CLOSED:
        return {}
    verdict = PASS if state == DONE else REJECT
    return {"verdict": verdict, "decided": moment, "decided_by": f"the adapter {workflow}/{adapter}"}


def _values(task: AdapterTask) -> dict[str, Any]:
    return {"title": task.title, "state": task.state, "priority": task.priority or USUAL, "url": task.url}


def _said(task: Task) -> dict[str, Any]:
    try:
        record = read_json(task.foreign or "{}")
    except ValueError:
        return {}  # a person changed the note of what was said: then every difference is one of this side
    return record if isinstance(record, dict) else {}


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False)
