"""Unreadable files in HEAD: what is wrong with each, and the last commit in which it was readable."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.errors import ClawmemError, ConflictMarkers, Unreadable
from clawmem.vault.edits.hand_edits import check_file
from clawmem.vault.vault import Vault

# How many versions of a file are checked, newest first.
_VERSIONS = 50
_SHOWN = 12


def unreadable_files(vault: Vault, paths: Iterable[str]) -> dict[str, ClawmemError]:
    """Return those of the files that are unreadable in HEAD, with the error and a hint for restoring them."""
    head = vault.head().commit
    wanted = list(paths)
    found: dict[str, ClawmemError] = {}
    for path, data in (vault.contents_at(head, wanted) if head and wanted else {}).items():
        problem = _problem_of(path, data)
        if problem is not None:
            problem.hint = restore_hint(vault, path)
            found[path] = problem
    return found


def add_restore_hint(vault: Vault, problem: Unreadable | ConflictMarkers) -> None:
    """Let the hint name the last commit in which the file was readable, if it is not readable in HEAD."""
    head = vault.head().commit
    if head is None:
        return
    data = vault.contents_at(head, [problem.path])[problem.path]
    if data is None or _problem_of(problem.path, data):
        problem.hint = restore_hint(vault, problem.path)


def restore_hint(vault: Vault, path: str) -> str:
    """Return how to restore a file that is not readable in HEAD."""
    commit = last_readable_commit(vault, path)
    if commit is None:
        return f"Repair the file by hand: {path} is readable in no commit."
    return (
        "Repair the file by hand, or restore the last readable version with"
        f" `git checkout {commit[:_SHOWN]} -- {path}`; the next change commits it."
    )


def last_readable_commit(vault: Vault, path: str) -> str | None:
    """Return the newest of the last commits that changed a file and left it readable, or None. Runs git."""
    printed = vault.git.run("rev-list", f"--max-count={_VERSIONS}", "HEAD", "--", path)
    return next((name for name in printed.decode().split() if _is_readable(vault, name, path)), None)


def _is_readable(vault: Vault, commit: str, path: str) -> bool:
    data = vault.contents_at(commit, [path])[path]
    return data is not None and _problem_of(path, data) is None


def _problem_of(path: str, data: bytes | None) -> ClawmemError | None:
    try:
        check_file(path, data)
    except ClawmemError as problem:
        return problem
    return None
