"""`clawmem diff`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.cli.past import SHORT, entry_data, minute
from clawmem.cli.words import fact_data, fact_line
from clawmem.memory.differences import Compared, Counts, compare
from clawmem.model.comparison import CHANGED, CORRECTED, Difference, bare
from clawmem.model.entry import Entry


def diff(
    ctx: typer.Context,
    older: Annotated[
        str | None, typer.Argument(metavar="[FROM]", help="A commit or a date; one day ago by default.")
    ] = None,
    newer: Annotated[str | None, typer.Argument(metavar="[TO]", help="A commit or a date; HEAD by default.")] = None,
) -> int:
    """A date stands for the last commit at or before it, a bare day for its end."""
    face = Face.of(ctx)
    told = compare(face.runtime.vault(), face.runtime.caller(), older, newer)
    return face.done(_data(told), _lines(told), told.notices)


def _data(told: Compared) -> dict[str, Any]:
    return {
        "from": entry_data(told.older) if told.older else None,
        "to": entry_data(told.newer),
        "changes": [_change_data(one) for one in told.changes],
        "moved": [one._asdict() for one in told.moved],
        "counts": {**told.counts._asdict(), "other_files": list(told.counts.other_files)},
    }


def _change_data(one: Difference) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "fact": fact_data(one.fact, one.entity),
        "entity": one.entity,
        "before": fact_data(one.before, one.entity) if one.before else None,
    }


def _lines(told: Compared) -> Iterator[str]:
    yield f"from {_point(told.older)} to {_point(told.newer)}"
    for one in told.changes:
        yield f"{one.kind}: {fact_line(one.fact, one.entity)}"
        if one.kind == CORRECTED and one.before:
            yield f"    was: {one.before.id}  {one.before.fact}"
        elif one.kind == CHANGED and one.before:
            yield f"    {', '.join(_keys(one))}"
    for move in told.moved:
        yield f"moved: {_number(move.facts, 'fact')} from {move.source} to {move.target}"
    yield from _counts(told.counts)
    if not (told.changes or told.moved or any(told.counts)):
        yield "Nothing changed."


def _point(entry: Entry | None) -> str:
    return f"{entry.commit[:SHORT]} ({minute(entry.time)})" if entry else "before the first commit"


def _keys(one: Difference) -> Iterator[str]:
    """What of a changed fact is different, old and new where both are short."""
    old, new = bare(one.before or one.fact)._asdict(), bare(one.fact)._asdict()
    for key in old:
        if old[key] != new[key]:
            short = all(isinstance(value, str | float | int | None) for value in (old[key], new[key]))
            yield f"{key}: {old[key]} -> {new[key]}" if short else key


def _counts(counts: Counts) -> Iterator[str]:
    if counts.events_added:
        yield f"ledger: {_number(counts.events_added, 'event')} added"
    if counts.events_removed:
        yield f"ledger: {_number(counts.events_removed, 'event')} removed"
    if counts.note_lines_added or counts.note_lines_removed:
        yield (
            f"notes: {_number(counts.note_lines_added, 'line')} added, "
            f"{_number(counts.note_lines_removed, 'line')} removed"
        )
    if counts.other_files:
        yield f"other files changed: {len(counts.other_files)}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
