"""`clawmem init`."""

from __future__ import annotations

from pathlib import Path

from clawmem.errors import StorageFailed
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import INSIDE_REPOSITORY, Parameter
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import try_accept


def init(call: Call, path: str, inside_repository: bool) -> Answer:
    """The vault is a git repository of its own, filled from the template in one first commit."""
    runtime = call.runtime
    root = (runtime.working_folder / Path(path).expanduser()).resolve()
    try:
        vault = create_vault(root, runtime.environment, runtime.now(), inside_repository=inside_repository)
    except OSError as problem:
        why = f"{root} cannot be made: {problem.strerror}."
        raise StorageFailed(why, "Name a place that you may write in.") from None
    notices = try_accept(vault.git_dir, runtime.environment)
    return Answer(
        {"vault": str(vault.root), "commit": vault.head().commit},
        [f"A new vault is ready in {vault.root}.", "Next: clawmem remember 'a fact worth keeping'"],
        notices,
    )


VERB = Command(
    init,
    (
        Parameter("path", "The folder to make; it must be new or empty.", default=".", completes="file"),
        INSIDE_REPOSITORY,
    ),
    {"vault": str, "commit": str},
    ("clawmem init ~/memory",),
)
