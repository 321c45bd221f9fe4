"""`clawmem retract`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.words import done_revising
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import retract as act


def retract(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(help="The id of the fact, or a unique prefix.")],
    reason: Annotated[str | None, typer.Option(help="Why it was not true.")] = None,
) -> int:
    """It stays in the vault and in history, and is served no more."""
    face = Face.of(ctx)
    return done_revising(face, act(face.runtime.vault(), fact, face.runtime.caller(), check_reason(reason)))
