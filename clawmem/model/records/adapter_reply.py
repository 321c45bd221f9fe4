"""What an adapter gives back: tasks, events and outcomes, checked before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.precedents import DECISION_OUTCOMES
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import one_line
from clawmem.model.records.event import EVENT_ROLES
from clawmem.model.records.task import FIRST, LAST
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
    state: str = "open"
    url: str | None = None
    about: str = ""
    acceptance: tuple[str, ...] = ()
    priority: int | None = None


class AdapterEvent(NamedTuple):
    """Something that happened there: its id, its time (ISO 8601 UTC), its text, and who said it."""

    id: str
    timestamp: str
    text: str
    role: str = "system"
    speaker: str | None = None


class AdapterOutcome(NamedTuple):
    """What became of a decision of this memory."""

    decision: str
    outcome: str
    note: str | None = None


class AdapterReply(NamedTuple):
    """A checked answer."""

    tasks: tuple[AdapterTask, ...] = ()
    events: tuple[AdapterEvent, ...] = ()
    outcomes: tuple[AdapterOutcome, ...] = ()


def adapter_request(
    workflow: str,
    adapter: str,
    given: Mapping[str, Any],
    since: str | None = None,
    closed: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the JSON document that an adapter reads on stdin.

    `given` is recorded input, or empty. `since` is the time of the last run that was stored (ISO 8601 UTC), null before
    the first. `closed` are its tasks that were closed here."""
    about = {"version": VERSION, "workflow": workflow, "adapter": adapter, "since": since}
    return {**about, "input": dict(given), "closed": [dict(one) for one in closed]}


def parse_reply(value: Any) -> AdapterReply:
    """Return the answer of an adapter. Raise InvalidInput with the path of the first wrong value."""
    if not isinstance(value, Mapping):
        raise InvalidInput("The answer is no JSON object.", f"It has the keys {', '.join(LISTS)}, each a list.")
    unknown = sorted(str(key) for key in value if key not in LISTS)
    if unknown:
        raise InvalidInput(f"'{unknown[0]}' is not a key of the answer.", f"The keys are {', '.join(LISTS)}.")
    tasks, events, outcomes = (_entries(value, name) for name in LISTS)
    return AdapterReply(tuple(map(_task, *tasks)), tuple(map(_event, *events)), tuple(map(_outcome, *outcomes)))


def _entries(value: Mapping[str, Any], name: str) -> tuple[list[Mapping[str, Any]], list[str]]:
    held = value.get(name, [])
    if not isinstance(held, list) or len(held) > MOST:
        raise InvalidInput(f"{name} is no list of at most {MOST:,} entries.")
    for at, one in enumerate(held):
        if not isinstance(one, Mapping):
            raise InvalidInput(f"{name}[{at}] is no JSON object.")
    return held, [f"{name}[{at}]" for at in range(len(held))]


def _task(held: Mapping[str, Any], place: str) -> AdapterTask:
    state = _text(held, "state", place, "open")
    return AdapterTask(
        _needed(held, "id", place),
        _needed(held, "title", place),
        _one_of(state, STATES, f"{place}.state"),
        _text(held, "url", place) or None,
        _text(held, "about", place),
        _criteria(held, place),
        _priority(held, place),
    )


def _criteria(held: Mapping[str, Any], place: str) -> tuple[str, ...]:
    value = held.get("acceptance") or []
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        raise InvalidInput(f"{place}.acceptance is no list of texts.")
    return tuple(map(one_line, value))


def _priority(held: Mapping[str, Any], place: str) -> int | None:
    value = held.get("priority")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not FIRST <= value <= LAST):
        raise InvalidInput(f"{place}.priority is no number from {FIRST} to {LAST}.")
    return value


def _event(held: Mapping[str, Any], place: str) -> AdapterEvent:
    try:
        moment = stamp(moment_of(_needed(held, "timestamp", place)))
    except ValueError:
        raise InvalidInput(f"{place}.timestamp is no time of ISO 8601, such as 2026-11-21T09:30:00Z.") from None
    role = _text(held, "role", place, "system")
    return AdapterEvent(
        _needed(held, "id", place),
        moment,
        _needed(held, "text", place),
        _one_of(role, EVENT_ROLES, f"{place}.role"),
        _text(held, "speaker", place) or None,
    )


def _outcome(held: Mapping[str, Any], place: str) -> AdapterOutcome:
    outcome = _one_of(_needed(held, "outcome", place), DECISION_OUTCOMES, f"{place}.outcome")
    return AdapterOutcome(_needed(held, "decision", place), outcome, _text(held, "note", place) or None)


def _needed(held: Mapping[str, Any], key: str, place: str) -> str:
    text = _text(held, key, place)
    if not text:
        raise InvalidInput(f"{place}.{key} is missing.")
    return text


def _text(held: Mapping[str, Any], key: str, place: str, default: str = "") -> str:
    value = held.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{place}.{key} is not text.")
    return (value or "").strip() or default


def _one_of(word: str, among: tuple[str, ...], place: str) -> str:
    if word not in among:
        raise InvalidInput(f"{place} is '{word}'.", f"It is one of {', '.join(among)}.")
    return word
