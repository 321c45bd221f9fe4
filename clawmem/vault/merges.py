"""Merges that git itself made in the vault, by a person's pull or merge: found once, so that they can be completed."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.vault.refs import last_join
from clawmem.vault.vault import Vault

_NOTE = "joined"
_MOST = 50
_FORM = "%H %P%x00%(trailers:key=Clawmem-Op,valueonly,separator=%x2C)%x01"


class GitMerge(NamedTuple):
    """A merge commit of two histories, and those two."""

    commit: str
    ours: str
    theirs: str


def git_merged(vault: Vault) -> bool:
    """Whether git joined histories here since this was last looked into."""
    mark = last_join(vault.git_dir)
    return mark is not None and (vault.disk.read(vault.state / _NOTE) or b"").decode().partition("\n")[0] != mark


def new_merges(vault: Vault) -> list[GitMerge]:
    """The merges that git made since then, oldest first."""
    head, mark = vault.head().commit, last_join(vault.git_dir)
    if head is None or mark is None:
        return []
    kept = (vault.disk.read(vault.state / _NOTE) or b"").decode().partition("\n")[2].strip()
    return merges_between(vault, kept or mark.partition(" ")[0], head)


def looked_into(vault: Vault) -> None:
    """Remember that all merges so far are complete."""
    head, mark = vault.head().commit, last_join(vault.git_dir)
    if head is not None and mark is not None:
        vault.disk.replace(vault.state / _NOTE, f"{mark}\n{head}\n".encode(), vault.state)


def merges_between(vault: Vault, old: str, new: str) -> list[GitMerge]:
    """The merges between two commits that clawmem did not make, oldest first."""
    printed = vault.git.try_run("log", "--merges", f"--max-count={_MOST}", f"--format={_FORM}", f"{old}..{new}", "--")
    found = []
    for row in (printed or b"").decode(errors="replace").split("\x01"):
        names, _, op = row.strip().partition("\0")
        commits = names.split()
        if len(commits) == 3 and not op.strip():
            found.append(GitMerge(commits[0], commits[1], commits[2]))
    return found[::-1]
