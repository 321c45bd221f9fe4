"""`clawmem entity create|list|show|move|archive|rename`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.memory.entities.entities import (
    EntityChange,
    archive_entity,
    create_entity,
    list_entities,
    move_entity,
    rename_entity,
    show_entity,
)
from clawmem.model.facts.fact_words import fact_data, fact_line

entity = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Make, list, show, move, archive and rename entities.",
)
_Name = Annotated[str, typer.Argument(help="Its name, title or an alias.")]


@entity.command("create")
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Such as projects/website or areas/people/jane.")],
    title: Annotated[str | None, typer.Option(help="How it is called in text.")] = None,
    alias: Annotated[list[str] | None, typer.Option(help="Another name for it; may be repeated.")] = None,
) -> int:
    """Make an entity."""
    face = Face.of(ctx)
    done = create_entity(face.runtime.vault(), name, face.runtime.caller(), title, tuple(alias or ()))
    return _done(face, done, f"made {done.name}")


@entity.command("list")
def list_command(ctx: typer.Context) -> int:
    """List every entity with its facts."""
    face = Face.of(ctx)
    listed = list_entities(face.runtime.vault())
    rows = listed.rows
    data = [{**row.entity._asdict(), "facts": dict(row.facts)} for row in rows]
    cells = [
        (row.entity.name, row.entity.title, str(row.facts.get("active", 0)), str(sum(row.facts.values())))
        for row in rows
    ]
    lines = face.table(("entity", "title", "active", "facts"), cells) if cells else ()
    return face.done({"entities": data}, lines, listed.notices, talk=() if cells else ("There are no entities yet.",))


@entity.command("show")
def show(ctx: typer.Context, name: _Name) -> int:
    """Show an entity's summary and its facts."""
    face = Face.of(ctx)
    shown = show_entity(face.runtime.vault(), name, face.runtime.caller())
    data = {
        "entity": shown.entity._asdict(),
        "summary": shown.summary,
        "facts": [fact_data(one.fact, one.entity) for one in shown.facts],
    }
    lines = [shown.summary.rstrip(), "", *(fact_line(one.fact, one.entity) for one in shown.facts)]
    return face.done(data, lines, shown.notices)


@entity.command("move")
def move(
    ctx: typer.Context,
    name: _Name,
    target: Annotated[str, typer.Argument(help="The new name, such as resources/website.")],
) -> int:
    """Give an entity another place; the old name stays an alias."""
    face = Face.of(ctx)
    done = move_entity(face.runtime.vault(), name, target, face.runtime.caller())
    return _done(face, done, f"moved {done.former} to {done.name}")


@entity.command("archive")
def archive(ctx: typer.Context, name: _Name) -> int:
    """Move an entity below archives/."""
    face = Face.of(ctx)
    done = archive_entity(face.runtime.vault(), name, face.runtime.caller())
    return _done(face, done, f"archived {done.former} as {done.name}")


@entity.command("rename")
def rename(
    ctx: typer.Context,
    name: _Name,
    new: Annotated[str, typer.Argument(help="The new last part of its name.")],
) -> int:
    """Give an entity another name in the same place; the old name stays an alias."""
    face = Face.of(ctx)
    done = rename_entity(face.runtime.vault(), name, new, face.runtime.caller())
    return _done(face, done, f"renamed {done.former} to {done.name}")


def _done(face: Face, done: EntityChange, words: str) -> int:
    line = words if done.commit else "nothing changed, so there is no commit"
    lines = [line, f"commit {done.commit[:12]}"] if done.commit else [line]
    data = {"entity": done.name, "former": done.former, "commit": done.commit}
    return face.done(data, lines, done.notices)
