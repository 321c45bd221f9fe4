"""`clawmem init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.errors import StorageFailed
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import try_accept


def init(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(help="The folder to make; it must be new or empty.")] = ".",
    inside_repository: Annotated[
        bool, typer.Option("--inside-repository", help="Allow a place inside another git repository.")
    ] = False,
) -> int:
    """The vault is a git repository of its own, filled from the template in one first commit."""
    face = Face.of(ctx)
    runtime = face.runtime
    root = (runtime.working_folder / Path(path).expanduser()).resolve()
    try:
        vault = create_vault(root, runtime.environment, runtime.now(), inside_repository=inside_repository)
    except OSError as problem:
        why = f"{root} cannot be made: {problem.strerror}."
        raise StorageFailed(why, "Name a place that you may write in.") from None
    notices = try_accept(vault.git_dir, runtime.environment)
    data = {"vault": str(vault.root), "commit": vault.head().commit}
    return face.done(
        data,
        [f"A new vault is ready in {vault.root}.", "Next: clawmem remember 'a fact worth keeping'"],
        notices,
    )
