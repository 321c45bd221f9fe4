"""Merges that git itself made in the vault, by a person's pull or merge: found once, so that they can be completed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.model.history.entry import REDACT
from clawmem.vault.git.refs import last_merge_mark
from clawmem.vault.vault import Vault

UNFINISHED_MERGES = "merges-left"
MERGE_MARK = "joined"
# The trailer of a commit that completed a merge.
COMPLETES = "Completes"
_MOST = 50
_FORM = "--format=%m%H %P%x00%(trailers:key=Clawmem-Op,valueonly,separator=%x2C)%x00%s%x01"


class GitMerge(NamedTuple):
    """A merge commit of two histories, and those two."""

    commit: str
    ours: str
    theirs: str


def has_new_merges(vault: Vault) -> bool:
    """Whether git joined histories here since this was last looked into."""
    mark = last_merge_mark(vault.git_dir)
    return mark is not None and (vault.disk.read(vault.state / MERGE_MARK) or b"").decode().partition("\n")[0] != mark


def new_merges(vault: Vault) -> list[GitMerge]:
    """The merges that git made since then, oldest first."""
    head, mark = vault.head().commit, last_merge_mark(vault.git_dir)
    if head is None or mark is None:
        return []
    kept = (vault.disk.read(vault.state / MERGE_MARK) or b"").decode().partition("\n")[2].strip()
    return merges_between(vault, kept or mark.partition(" ")[0], head)


def mark_merges_complete(vault: Vault) -> None:
    """Remember that all merges so far are complete."""
    head, mark = vault.head().commit, last_merge_mark(vault.git_dir)
    if head is not None and mark is not None:
        vault.disk.replace(vault.state / MERGE_MARK, f"{mark}\n{head}\n".encode(), vault.state)


def has_unfinished_merges(vault: Vault) -> bool:
    """Whether an earlier command left merges to be completed."""
    return (vault.state / UNFINISHED_MERGES).exists()


def write_unfinished_merges(vault: Vault, merges: Sequence[GitMerge]) -> None:
    """Note the merges that are still to be completed; without any the note goes."""
    path = vault.state / UNFINISHED_MERGES
    if merges:
        vault.disk.replace(path, "".join(f"{' '.join(one)}\n" for one in merges).encode(), vault.state)
    else:
        vault.disk.remove(path)


def add_unfinished_merges(vault: Vault, merges: Sequence[GitMerge]) -> None:
    """Note merges that the branch is about to take in, so that a command killed after that loses none of them."""
    if merges:
        write_unfinished_merges(vault, tuple(dict.fromkeys((*read_unfinished_merges(vault), *merges))))


def read_unfinished_merges(vault: Vault) -> list[GitMerge]:
    """The merges of this branch that an earlier command did not come to complete. A note of others goes: the branch
    never took them in. The writer lock must be held."""
    lines = (vault.disk.read(vault.state / UNFINISHED_MERGES) or b"").decode(errors="replace").splitlines()
    rows = [GitMerge(*line.split()) for line in lines if len(line.split()) == 3]
    here = [one for one in rows if vault.git.try_run("merge-base", "--is-ancestor", one.commit, "HEAD") is not None]
    if lines and not here:
        write_unfinished_merges(vault, ())
    return here


def is_completed(vault: Vault, one: GitMerge) -> bool:
    """Whether a commit after a merge, made in whatever clone, completed it."""
    asked = f"--format=%(trailers:key={COMPLETES},valueonly)"
    grep = ("--fixed-strings", f"--grep={COMPLETES}: {one.commit}")
    return one.commit in vault.git.run("log", asked, *grep, f"{one.commit}..HEAD", "--").decode().split()


def merges_between(vault: Vault, old: str, new: str) -> list[GitMerge]:
    """The merges between two commits that clawmem did not make, oldest first."""
    printed = vault.git.try_run("log", _FORM, "--merges", f"--max-count={_MOST}", f"{old}..{new}", "--")
    return [row.merge for row in _rows(printed or b"") if row.merge][::-1]


class IncomingCommits(NamedTuple):
    """What one history has and another lacks: the newest subjects, newest first; the merges that clawmem did not make,
    oldest first; whether something was redacted."""

    subjects: tuple[str, ...] = ()
    merges: tuple[GitMerge, ...] = ()
    redacted: bool = False


class HistoryDistance(NamedTuple):
    """How many commits only the one history has, and how many only the other; what those of the other are; the commits
    at which they part, the best common ancestors among them; whether something was redacted in what only the one has;
    whether what the other has begins in more than one place, or nowhere."""

    own: int
    received: int
    news: IncomingCommits
    parting: tuple[str, ...]
    redacted: bool
    scattered: bool


def history_distance(vault: Vault, ours: str, theirs: str, most: int) -> HistoryDistance:
    """How far two histories are apart, told by one git; at most so many subjects."""
    rows = _rows(vault.git.run("log", _FORM, "--left-right", "--boundary", f"{ours}...{theirs}", "--"))
    others = [row for row in rows if row.mark == ">"]
    merges = [row.merge for row in others if row.merge]
    subjects = tuple(row.subject for row in others[:most])
    redacted = {row.mark for row in rows if row.op == REDACT}
    news = IncomingCommits(subjects, tuple(merges[:_MOST][::-1]), ">" in redacted)
    parting = tuple(row.commit for row in rows if row.mark == "-")
    scattered = len(parting) > 1 or any(row.is_root for row in others)
    return HistoryDistance(sum(row.mark == "<" for row in rows), len(others), news, parting, "<" in redacted, scattered)


class _LogRow(NamedTuple):
    mark: str
    commit: str
    subject: str
    op: str
    merge: GitMerge | None
    is_root: bool


def _rows(printed: bytes) -> list[_LogRow]:
    rows = printed.decode(errors="replace").split("\x01")
    return [_row(*row.strip("\n").split("\0")) for row in rows if row.strip()]


def _row(names: str, op: str, subject: str) -> _LogRow:
    commits = names[1:].split()
    is_merge = len(commits) == 3 and not op.strip()
    merge = GitMerge(commits[0], commits[1], commits[2]) if is_merge else None
    return _LogRow(names[0], commits[0], subject, op.strip(), merge, len(commits) == 1)
