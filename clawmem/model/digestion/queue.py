"""The digestion queue, `ledger/digestion.json`: each source with its phase and what the phases found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records.parsing import Yaml, json_object
from clawmem.model.records.session import render_object

QUEUE_PATH = "ledger/digestion.json"
REDUCE, REFLECT, REWEAVE, VERIFY, ARCHIVE, DONE = PHASES = (
    "reduce", "reflect", "reweave", "verify", "archive", "done",
)  # fmt: skip


class Claim(NamedTuple):
    """A claim on its way: its sentence, the event and the range that it quotes, its entity, links to facts as
    `{type, to, reason}`, the fact that it revises as `{id, does, reason}`, what became of it, and its category if it is
    a lesson."""

    text: str
    event: str | None = None
    span: tuple[int, int] | None = None
    entity: str | None = None
    links: tuple[Mapping[str, str], ...] = ()
    revises: Mapping[str, str] | None = None
    became: str | None = None
    category: str | None = None


class DigestionItem(NamedTuple):
    """A source in the queue: its title, scope and phase, the ids of its events, the claims so far, how often the phase
    failed and why, what its claims became, and the ids of the tasks about its texts that a reader has answered."""

    title: str
    added: str
    phase: str = REDUCE
    session: str | None = None
    agent: str | None = None
    workflow: str | None = None
    project: str | None = None
    scope: str | None = None
    entity: str | None = None
    events: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    failures: int = 0
    error: str | None = None
    by: str | None = None
    counts: Mapping[str, int] = {}
    read: tuple[str, ...] = ()


Queue = Mapping[str, DigestionItem]


def parse_queue(data: bytes, path: str, yaml: Yaml) -> dict[str, DigestionItem]:
    """Read the queue. Raise Unreadable if an entry has the wrong form."""
    found = {}
    for key, held in json_object(data, path, yaml).items():
        try:
            found[key] = _item(held)
        except (InvalidInput, TypeError, ValueError) as problem:
            raise Unreadable(path, None, f"the entry '{key}' is wrong ({problem})") from None
    return found


def render_queue(queue: Queue) -> bytes:
    """The queue as JSON, one source a line."""
    return render_object({key: _record(item) for key, item in sorted(queue.items())})


def merged_queues(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of both sides; of one source, the one that is further."""

    def progress(held: Any) -> tuple[int, str]:
        phase = held.get("phase") if isinstance(held, Mapping) else None
        return (PHASES.index(phase) if phase in PHASES else -1, repr(held))

    both = {key: [side[key] for side in (ours, theirs) if key in side] for key in sorted({*ours, *theirs})}
    return {key: max(sides, key=progress) for key, sides in both.items()}


def _item(held: Any) -> DigestionItem:
    if not isinstance(held, Mapping) or held.get("phase", REDUCE) not in PHASES:
        raise InvalidInput("it is no object with a known phase")
    given = {key: value for key, value in held.items() if key in DigestionItem._fields}
    for key in ("title", "added"):
        if not isinstance(given.get(key), str):
            raise InvalidInput(f"the key '{key}' is missing or not text")
    if not isinstance(given.get("failures", 0), int):
        raise InvalidInput("the key 'failures' is not a number")
    for key in ("events", "read"):
        given[key] = tuple(str(one) for one in given.get(key, ()))
    given["claims"] = tuple(_claim(one) for one in given.get("claims", ()))
    return DigestionItem(**given)


def _claim(held: Any) -> Claim:
    if not isinstance(held, Mapping) or not isinstance(held.get("text"), str):
        raise InvalidInput("a claim has no text")
    given = {key: value for key, value in held.items() if key in Claim._fields}
    if given.get("span") is not None:
        start, end = given["span"]
        given["span"] = (int(start), int(end))
    given["links"] = tuple(dict(one) for one in given.get("links", ()))
    return Claim(**given)


def _record(item: DigestionItem) -> dict[str, Any]:
    held = {
        **item._asdict(),
        "events": list(item.events),
        "read": list(item.read),
        "claims": [_said(one._asdict()) for one in item.claims],
    }
    return _said(held)


def _said(held: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: list(value) if isinstance(value, tuple) else value for key, value in held.items()}
    return {key: value for key, value in given.items() if value not in (None, 0, [], {})}
