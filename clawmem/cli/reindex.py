"""`clawmem reindex`."""

from __future__ import annotations

import typer

from clawmem.cli.face import Face
from clawmem.memory.reindex import reindex as act
from clawmem.model.text import counted


def reindex(ctx: typer.Context) -> int:
    """The index is derived from the vault and disposable; commands keep it up to date by themselves."""
    face = Face.of(ctx)
    done = act(face.runtime.vault())
    data = {**done._asdict(), "seconds": round(done.seconds, 3)}
    del data["notices"]
    line = (
        f"indexed {counted(done.facts, 'fact')}, {counted(done.events, 'event')}"
        f" and {counted(done.entities, 'entity', 'entities')}"
        f" in {done.seconds:.1f} s; the index takes {done.size / 1e6:.1f} MB ({done.engine})"
    )
    return face.done(data, [line], done.notices)
