"""`clawmem restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawmem.cli.backup import held
from clawmem.cli.face import Face
from clawmem.cli.reading import opened
from clawmem.memory.backup.restore import restore as act


def restore(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A backup, or - for stdin.")],
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The new vault's folder; it must be new or empty.")],
    inside_repository: Annotated[
        bool, typer.Option("--inside-repository", help="Allow a place inside another git repository.")
    ] = False,
) -> int:
    """Everything is checked before and after; where anything is wrong, nothing is left behind."""
    face = Face.of(ctx)
    runtime = face.runtime
    root = (runtime.working_folder / Path(folder).expanduser()).resolve()
    with opened(file) as archive:
        done = act(archive, root, runtime.caller(), runtime.environment, inside_repository=inside_repository)
    manifest = done.manifest
    data = {
        "vault": str(done.root),
        "name": manifest.vault,
        "commit": manifest.commit,
        "made": manifest.made,
        "counts": dict(manifest.counts),
        "left_out": dict(manifest.left_out),
        "errors": done.errors,
    }
    lines = [
        f"restored {manifest.vault} into {done.root}: {held(manifest)}",
        f"commit {manifest.commit[:12]}, backed up {manifest.made}",
    ]
    return face.done(data, lines, done.notices)
