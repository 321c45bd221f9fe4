"""`clawmem log`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.past import entry_data, entry_line
from clawmem.memory.history.log import LogBounds
from clawmem.memory.history.log import log as act
from clawmem.model.language.dates import end_of, parse_end, parse_start


def log(
    ctx: typer.Context,
    about: Annotated[
        str | None, typer.Argument(metavar="[ENTITY|FACT_ID]", help="An entity or a fact; all of the vault without.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="How many entries, the newest.", min=1)] = None,
    since: Annotated[str | None, typer.Option(help="Not before this date.")] = None,
    until: Annotated[str | None, typer.Option(help="Not after this date; a day, month or year counts whole.")] = None,
    author: Annotated[str | None, typer.Option("--author", "--by", help="Only what this agent or person did.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Folded accesses too.")] = False,
) -> int:
    """Oldest first. An entity's history includes the paths it had before."""
    face = Face.of(ctx)
    caller, vault = face.runtime.caller(), face.runtime.vault()
    bounds = LogBounds(
        limit or vault.settings.whole("history.limit"),
        start_of(parse_start(since, caller.now)) if since else None,
        end_of(parse_end(until, caller.now)) if until else None,
        author,
        everything,
    )
    told = act(vault, about, caller, bounds)
    notices = list(told.notices)
    if told.truncated:
        notices.append(f"there are older entries; --limit {bounds.limit * 10} shows more")
    data = {
        "about": {"kind": told.kind, "name": told.name},
        "history": [entry_data(entry) for entry in told.entries],
        "cut": told.truncated,
    }
    talk = () if told.entries else ("No commit matches.",)
    return face.done(data, map(entry_line, told.entries), notices, talk=talk)


def start_of(moment: str) -> str:
    """The first instant a written time covers."""
    return f"{moment}T00:00:00Z" if len(moment) == 10 else moment
