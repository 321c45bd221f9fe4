"""Unfinished git operations of the user, such as a merge or rebase. clawmem writes nothing until they are finished."""

from __future__ import annotations

from clawmem.errors import NeedsDecision, Refused
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

# Files in the git folder while an operation is unfinished, and the name of the operation.
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}


def refuse_interrupted(vault: Vault) -> None:
    """Raise NeedsDecision during a merge, rebase or the like, and Refused in a sparse checkout."""
    if (vault.git_dir / "info" / "sparse-checkout").exists() and _is_sparse(vault):
        raise Refused(
            "This vault is a sparse checkout: facts that are not on disk would be committed as deleted.",
            "Restore them with `git sparse-checkout disable`.",
        )
    for name, what in _UNFINISHED.items():
        if (vault.git_dir / name).exists():
            ours = "`clawmem sync --continue`" if what == "merge" else f"`git {what} --continue`"
            raise NeedsDecision(
                f"A git {what} is unfinished in the vault.",
                f"Finish it with {ours} or cancel it with `git {what} --abort`.",
            )


def _is_sparse(vault: Vault) -> bool:
    places = (common_dir_of(vault.git_dir) / "config", vault.git_dir / "config.worktree")
    asked = ("--bool", "core.sparseCheckout")
    return any(vault.git.try_run("config", "--file", str(place), *asked) == b"true\n" for place in places)
