"""Files that HEAD holds and nobody can read: what is wrong with each, and the commit that has it whole."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.errors import ClawmemError, ConflictMarkers, Unreadable
from clawmem.vault.edits.hand_edits import check_file
from clawmem.vault.vault import Vault

# So many versions of a file are looked at, newest first.
_VERSIONS = 50
_SHOWN = 12


def unreadable_files(vault: Vault, paths: Iterable[str]) -> dict[str, ClawmemError]:
    """Those of the files that HEAD holds in a form nobody can read, each with the reason and how to bring it back."""
    head = vault.head().commit
    wanted = list(paths)
    found: dict[str, ClawmemError] = {}
    for path, data in (vault.contents_at(head, wanted) if head and wanted else {}).items():
        problem = _wrong_with(path, data)
        if problem is not None:
            problem.hint = restore_hint(vault, path)
            found[path] = problem
    return found


def add_restore_hint(vault: Vault, problem: Unreadable | ConflictMarkers) -> None:
    """Let the hint name a commit that has the file whole, where HEAD does not."""
    head = vault.head().commit
    if head is None:
        return
    data = vault.contents_at(head, [problem.path])[problem.path]
    if data is None or _wrong_with(problem.path, data):
        problem.hint = restore_hint(vault, problem.path)


def restore_hint(vault: Vault, path: str) -> str:
    """How to bring back a file that HEAD does not have whole."""
    commit = last_readable_commit(vault, path)
    if commit is None:
        return f"Repair the file by hand: no commit has {path} whole."
    return (
        f"Repair the file by hand, or bring back the last whole one with `git checkout {commit[:_SHOWN]} -- {path}`;"
        " the next change takes it in."
    )


def last_readable_commit(vault: Vault, path: str) -> str | None:
    """The newest of the last commits that changed a file and left it readable, or None. Runs git."""
    printed = vault.git.run("rev-list", f"--max-count={_VERSIONS}", "HEAD", "--", path)
    return next((name for name in printed.decode().split() if _is_whole(vault, name, path)), None)


def _is_whole(vault: Vault, commit: str, path: str) -> bool:
    data = vault.contents_at(commit, [path])[path]
    return data is not None and _wrong_with(path, data) is None


def _wrong_with(path: str, data: bytes | None) -> ClawmemError | None:
    try:
        check_file(path, data)
    except ClawmemError as problem:
        return problem
    return None
