"""`clawmem link`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.words import done_revising
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import link as act


def link(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(help="The fact the link starts from.")],
    target: Annotated[str, typer.Argument(help="The fact it points to.")],
    kind: Annotated[
        str, typer.Option("--type", "-t", help="contradicts, supports, depends_on, derived_from or relates_to.")
    ] = "relates_to",
    reason: Annotated[str | None, typer.Option(help="Why they belong together.")] = None,
) -> int:
    """The link is kept on the first fact, with its reason and date."""
    face = Face.of(ctx)
    return done_revising(
        face, act(face.runtime.vault(), fact, kind, target, face.runtime.caller(), check_reason(reason))
    )
