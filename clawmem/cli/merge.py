"""`clawmem merge`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.reading import text_or_stdin
from clawmem.cli.words import done_revising
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import merge as act
from clawmem.model.facts.draft import draft_from_record


def merge(
    ctx: typer.Context,
    facts: Annotated[list[str], typer.Argument(help="The ids to join: two or more.")],
    into: Annotated[str, typer.Option("--into", help="The joined statement, or - for stdin.")],
    reason: Annotated[str | None, typer.Option(help="Why they are one.")] = None,
    category: Annotated[str | None, typer.Option("--category", "-c", help="One word, such as preference.")] = None,
    importance: Annotated[float | None, typer.Option(help="How important, 0 to 1.")] = None,
) -> int:
    """The joined facts stay, marked and pointing to the new one."""
    face = Face.of(ctx)
    caller = face.runtime.caller()
    given = {"fact": text_or_stdin(into), "category": category, "importance": importance}
    draft = draft_from_record({key: value for key, value in given.items() if value is not None}, caller.now)
    return done_revising(face, act(face.runtime.vault(), facts, draft, caller, check_reason(reason)))
