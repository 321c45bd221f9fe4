"""Merges that git itself made in the vault, by a person's pull or merge: found once, so that they can be completed."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.vault.refs import last_join
from clawmem.vault.vault import Vault

_NOTE = "joined"
_MOST = 50
_FORM = "%H %P%x00%(trailers:key=Clawmem-Op,valueonly,separator=%x2C)%x00%s%x01"


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
    return [one.merge for one in _told(vault, "--merges", f"--max-count={_MOST}", f"{old}..{new}") if one.merge][::-1]


class News(NamedTuple):
    """What one history has and another lacks: the newest subjects, newest first; the merges that clawmem did not make,
    oldest first; whether something was redacted."""

    subjects: tuple[str, ...] = ()
    merges: tuple[GitMerge, ...] = ()
    redacted: bool = False


def news_between(vault: Vault, old: str, new: str, most: int) -> News:
    """What leads to one commit and not to another; at most so many subjects."""
    found = _told(vault, f"{old}..{new}")
    merges = [one.merge for one in found if one.merge]
    subjects = tuple(one.subject for one in found[:most])
    return News(subjects, tuple(merges[:_MOST][::-1]), any(one.op == "redact" for one in found))


class _Row(NamedTuple):
    subject: str
    op: str
    merge: GitMerge | None


def _told(vault: Vault, *arguments: str) -> list[_Row]:
    printed = vault.git.try_run("log", f"--format={_FORM}", *arguments, "--")
    rows = (printed or b"").decode(errors="replace").split("\x01")
    return [_row(*row.strip("\n").split("\0")) for row in rows if row.strip()]


def _row(names: str, op: str, subject: str) -> _Row:
    commits = names.split()
    is_merge = len(commits) == 3 and not op.strip()
    return _Row(subject, op.strip(), GitMerge(commits[0], commits[1], commits[2]) if is_merge else None)
