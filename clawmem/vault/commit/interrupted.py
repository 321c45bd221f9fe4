"""Work by hand that git left open: while it lasts nothing is written."""

from __future__ import annotations

from clawmem.errors import NeedsDecision, Refused
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

# What git leaves while a person is in the middle of something, and what git calls it.
_LEFT_OPEN = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}


def refuse_interrupted(vault: Vault) -> None:
    """Raise NeedsPerson in the middle of a merge, rebase or the like, and Refused in a sparse checkout."""
    if (vault.git_dir / "info" / "sparse-checkout").exists() and _is_sparse(vault):
        raise Refused(
            "This vault is a sparse checkout: facts that are not on disk would be taken for deleted.",
            "Bring them back with `git sparse-checkout disable`.",
        )
    for name, what in _LEFT_OPEN.items():
        if (vault.git_dir / name).exists():
            ours = "`clawmem sync --continue`" if what == "merge" else f"`git {what} --continue`"
            raise NeedsDecision(
                f"A git {what} is unfinished in the vault.",
                f"Finish it with {ours} or drop it with `git {what} --abort`.",
            )


def _is_sparse(vault: Vault) -> bool:
    places = (common_dir_of(vault.git_dir) / "config", vault.git_dir / "config.worktree")
    asked = ("--bool", "core.sparseCheckout")
    return any(vault.git.try_run("config", "--file", str(place), *asked) == b"true\n" for place in places)
