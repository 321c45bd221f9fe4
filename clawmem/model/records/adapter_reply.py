"""What an adapter gives back: tasks, events and outcomes, checked before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput, key_name
from clawmem.model.facts.precedents import DECISION_OUTCOMES
from clawmem.model.forms import Before, FilledText, TimeText, WrongValue, no_other_keys, read_record
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
