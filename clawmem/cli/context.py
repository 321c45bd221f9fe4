"""`clawmem context`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.cli.reading import text_or_stdin
from clawmem.serving.context import context as act


def context(
    ctx: typer.Context,
    question: Annotated[str | None, typer.Argument(help="What the agent is about to do, or - for stdin.")] = None,
    budget: Annotated[int | None, typer.Option("--budget", "-b", help="The most tokens.", min=1)] = None,
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Only facts of this entity.")] = None,
) -> int:
    """The text is ready for a system prompt and says what it left out."""
    face = Face.of(ctx)
    caller, vault = face.runtime.caller(), face.runtime.vault()
    asked = text_or_stdin(question).strip() if question else None
    place = filter_of(caller, entity).entity
    done = act(vault, caller, budget or vault.settings.whole("context.budget"), asked, place)
    data = {
        "context": {
            "text": done.packed.text,
            "token_count": done.packed.tokens,
            "counted_by": done.counted_by,
            "facts": [one.fact.id for one in done.facts],
            "left_out": [{"section": title, "lines": count} for title, count, _ in done.packed.left_out],
        }
    }
    return face.done(data, [done.packed.text], done.notices)
