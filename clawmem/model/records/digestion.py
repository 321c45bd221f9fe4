"""The digestion queue, `ledger/digestion.json`: each source with its phase and what the phases found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.model.forms import read_in_file, to_record
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
    phase: Annotated[str, PHASES] = REDUCE
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
    entries = json_object(data, path, yaml)
    return {key: read_in_file(DigestionItem, entry, path, None, (key,)) for key, entry in entries.items()}


def stored_queue(read: Callable[[str], bytes | None], yaml: Yaml) -> dict[str, DigestionItem]:
    """Return the queue that `read` finds in a vault; empty if there is none. Raise Unreadable."""
    data = read(QUEUE_PATH)
    return {} if data is None else parse_queue(data, QUEUE_PATH, yaml)


def render_queue(queue: Queue) -> bytes:
    """The queue as JSON, one source a line."""
    return render_object({key: to_record(item, (None, 0, (), {})) for key, item in sorted(queue.items())})


def merged_queues(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of both sides; of one source, the one that is further."""

    def progress(record: Any) -> tuple[int, str]:
        phase = record.get("phase") if isinstance(record, Mapping) else None
        return (PHASES.index(phase) if phase in PHASES else -1, repr(record))

    both = {key: [side[key] for side in (ours, theirs) if key in side] for key in sorted({*ours, *theirs})}
    return {key: max(sides, key=progress) for key, sides in both.items()}
