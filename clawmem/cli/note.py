"""`clawmem note`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.reading import text_or_stdin
from clawmem.memory.pages.notes import note as act


def note(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What happened, or - for stdin.")],
) -> int:
    """The next heartbeat reads it and learns what is worth keeping."""
    face = Face.of(ctx)
    done = act(face.runtime.vault(), text_or_stdin(text), face.runtime.caller())
    data = {"line": done.line, "path": done.path, "commit": done.commit}
    return face.done(data, [f"noted in {done.path}: {done.line}", f"commit {done.commit[:12]}"], done.notices)
