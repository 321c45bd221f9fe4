"""`clawmem completions`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.errors import InvalidInput
from clawmem.faces.cli.face import Face
from clawmem.faces.verbs.completion_scripts import FILES, SCRIPTS


def completions(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> int:
    """The script itself says how to load it; it completes verbs, options, entities, ids of facts and settings."""
    face = Face.of(ctx)
    script = SCRIPTS.get(shell)
    if script is None:
        raise InvalidInput(f"There is no completion script for '{shell}'.", f"Name one of {', '.join(SCRIPTS)}.")
    return face.done({"shell": shell, "file": FILES[shell], "script": script}, [script.rstrip("\n")])
