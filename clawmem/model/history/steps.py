"""Histories with merges as a line of steps, each of which contains the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class CommitInfo(NamedTuple):
    """One commit: its hash, its parents, its author as `Name <address>`, its time in seconds, and its subject."""

    commit: str
    parents: tuple[str, ...]
    author: str
    at: int
    subject: str


class HistoryStep(NamedTuple):
    """One step to the next state: `commit` is compared with `before` (None: nothing).

    `merged` are the other commits that come in with it, parents before children: those of the other side of a merge.
    """

    commit: CommitInfo
    before: str | None
    merged: tuple[CommitInfo, ...]


def steps_between(old: str | None, commits: Sequence[CommitInfo]) -> tuple[HistoryStep, ...]:
    """Return the steps from `old` (None: from nothing) to the last of some commits.

    `commits` are all that the last one has and `old` has not, parents before children, and `old` is an ancestor of the
    last one. Each commit is in one step. The line follows first parents, except where only another parent leads to
    `old`: after a merge on another machine, what was known here is the other side of the merge.
    """
    if not commits:
        return ()
    known = {commit_info.commit: commit_info for commit_info in commits}
    after = _descendants(old, commits)
    line = [commits[-1]]
    while True:
        parent = next((other_parent for other_parent in line[-1].parents if other_parent in after), None)
        if parent is None or parent == old:
            break
        line.append(known[parent])
    line.reverse()
    place = {commit_info.commit: number for number, commit_info in enumerate(commits)}
    taken: set[str] = set()
    steps, before = [], old
    for info in line:
        new = _not_taken(info, known, taken)
        merged = sorted((known[name] for name in new if name != info.commit), key=lambda each: place[each.commit])
        steps.append(HistoryStep(info, before, tuple(merged)))
        before = info.commit
    return tuple(steps)


def _descendants(old: str | None, commits: Sequence[CommitInfo]) -> set[str]:
    """Return `old` and the commits that have it as an ancestor; all commits if there is no `old`."""
    if old is None:
        return {commit_info.commit for commit_info in commits}
    after = {old}
    for commit_info in commits:
        if not after.isdisjoint(commit_info.parents):
            after.add(commit_info.commit)
    return after


def _not_taken(last: CommitInfo, known: dict[str, CommitInfo], taken: set[str]) -> list[str]:
    """Return a commit and its ancestors among the known ones that were not taken; they are from now on."""
    found, waiting = [], [last.commit]
    while waiting:
        name = waiting.pop()
        if name in known and name not in taken:
            taken.add(name)
            found.append(name)
            waiting += known[name].parents
    return found
