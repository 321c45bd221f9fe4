"""`clawmem init`."""

from __future__ import annotations

import shlex
from typing import Annotated

from clawmem.errors import StorageFailed
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import INSIDE_REPOSITORY, Parameter
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import acceptance_notices


def init(
    call: Call,
    path: Annotated[
        str | None,
        Parameter(
            "The folder of the new vault; it must not exist or must be empty. Default: ~/.clawmem.", completes="file"
        ),
    ],
    inside_repository: Annotated[bool, INSIDE_REPOSITORY],
) -> Answer:
    """The vault is a separate git repository. Its first commit contains the template. Without PATH it is created where
    every command looks for it: at --vault, CLAWMEM_VAULT or ~/.clawmem."""
    runtime = call.runtime
    root = runtime.new_vault_folder(path)
    try:
        vault = create_vault(root, runtime.environment, runtime.now(), inside_repository=inside_repository)
    except OSError as problem:
        why = f"{root} cannot be created: {problem.strerror}."
        raise StorageFailed(why, "Choose a folder that you can write to.") from None
    lines = [f"A new vault is ready in {vault.root}."]
    if not runtime.is_found_anywhere(vault.root):
        lines.append(f"To use it from any folder: export CLAWMEM_VAULT={shlex.quote(str(vault.root))}")
    lines.append("Next: clawmem remember 'a fact worth keeping'")
    notices = acceptance_notices(vault.git_dir, runtime.environment)
    return Answer({"vault": str(vault.root), "commit": vault.head().commit}, lines, notices, is_report=True)


VERB = Command(
    init,
    {"vault": str, "commit": str},
    ("clawmem init ~/memory", "clawmem init"),
)
