"""Check the state of the repository, and find interrupted changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from clawmem.errors import ClawmemError, StorageFailed
from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.language.dates import moment_of
from clawmem.model.records.layout import SETTINGS
from clawmem.model.settings.local import open_suggestions
from clawmem.model.settings.settings import MODEL, REMOVED, removed_sentence
from clawmem.platform.processes import is_running
from clawmem.vault.commit.pending import read_pending
from clawmem.vault.disk import PARTIAL_PREFIX, files_below
from clawmem.vault.exchange.create import fsck
from clawmem.vault.git.config import shown as shown_entry
from clawmem.vault.git.index import abandoned_files, lock_files, ref_locks
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.state.journal import parse_access, unfolded_accesses
from clawmem.vault.state.local_settings import machine_settings
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import HandEdits

UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
PARTIAL_SUFFIX = ".half"


def unfinished_git(vault: Vault) -> str | None:
    """Return the name of an unfinished git operation, such as `merge`, or None."""
    return next((what for name, what in UNFINISHED.items() if (vault.git_dir / name).exists()), None)


def repository_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield problems of HEAD and unfinished git operations."""
    try:
        head = vault.head()
    except ClawmemError as problem:
        yield HealthProblem(ERROR, "git", ".git/HEAD", None, problem.message)
        return
    if head.branch is None:
        yield HealthProblem(
            ERROR, "git", ".git/HEAD", None, "HEAD is detached, so nothing can change: `git switch main`."
        )
    if head.commit is None:
        yield HealthProblem(
            ERROR, "git", ".git/HEAD", None, "The vault has no commit yet: run `clawmem init` on it again."
        )
    what = unfinished_git(vault)
    if what:
        message = f"A git {what} is unfinished, so nothing can be changed: finish it, or `git {what} --abort`."
        yield HealthProblem(ERROR, "git", f".git/{_name_of(what)}", None, message)


def _name_of(what: str) -> str:
    return next(name for name, other in UNFINISHED.items() if other == what)


def state_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield locks, notes and partial files of killed processes. The caller must hold the writer lock."""
    yield from _pending_problems(vault)
    yield from _lock_problems(vault)
    for path in partial_files(vault):
        message = "A partial file of a process that was killed."
        yield HealthProblem(WARNING, "half-file", _relative_path(vault, path), None, message, fixable=True)
    yield from _journal_problems(vault)


def partial_files(vault: Vault) -> list[Path]:
    """Return the partial files of interrupted writes. The caller must hold the writer lock."""
    # Reads write their cache without the lock, so files of running processes are left out.
    staged = [
        path
        for path in vault.state.glob(f"{PARTIAL_PREFIX}*")
        if not is_running(path.name.removeprefix(PARTIAL_PREFIX).partition("-")[0])
    ]
    files = files_below(vault.root, leaving_out=".git")
    beside = [path for path in files if path.name.startswith(".") and path.name.endswith(PARTIAL_SUFFIX)]
    return sorted({*staged, *beside, *vault.git_dir.glob("fast_import_crash_*"), *abandoned_files(vault)})


def remove_partial_files(vault: Vault) -> None:
    """Remove the partial files. The caller must hold the writer lock."""
    for path in partial_files(vault):
        vault.disk.remove(path)


def _pending_problems(vault: Vault) -> Iterator[HealthProblem]:
    place = _relative_path(vault, vault.state / "pending.json")
    try:
        pending = read_pending(vault)
    except StorageFailed as problem:
        yield HealthProblem(ERROR, "pending", place, None, f"{problem.message} {problem.hint}")
        return
    if pending is not None:
        message = f"An interrupted change, which the next command completes: {pending.subject}."
        yield HealthProblem(WARNING, "pending", place, None, message, fixable=True)


def _lock_problems(vault: Vault) -> Iterator[HealthProblem]:
    common = common_dir_of(vault.git_dir)
    removable = lock_files(vault)
    for path in sorted({*vault.git_dir.glob("*.lock"), *common.glob("*.lock"), *ref_locks(vault)}):
        message = "A git lock of a running process, or of one that was killed."
        yield HealthProblem(WARNING, "lock", _relative_path(vault, path), None, message, fixable=path in removable)


def _journal_problems(vault: Vault) -> Iterator[HealthProblem]:
    for number, line in enumerate(unfolded_accesses(vault).decode(errors="replace").splitlines(), 1):
        moment, fact_ids = parse_access(line) or ("", [])
        try:
            moment_of(moment)
        except ValueError:
            fact_ids = []
        if not fact_ids:
            place = _relative_path(vault, vault.state / "access.log")
            message = "The access journal has a damaged line, which is ignored; the next heartbeat removes it."
            yield HealthProblem(WARNING, "journal", place, number, message)


def waiting_problems(edits: HandEdits, named: Collection[str | None]) -> Iterator[HealthProblem]:
    """Yield the files with hand edits. `named` are the files that have other problems."""
    for path in edits.good:
        yield HealthProblem(
            INFO, "not-committed", path, None, "The file differs from HEAD; the next change commits it."
        )
    for path, problem in edits.bad:
        message = f"The file differs from HEAD and cannot be committed: {problem.message}"
        yield HealthProblem(INFO if path in named else WARNING, "left-alone", path, None, message)


def fsck_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield the problems that `git fsck` finds in all objects."""
    for line in fsck(vault.git):
        yield HealthProblem(ERROR, "fsck", ".git", None, f"git fsck says: {line}.")


def _relative_path(vault: Vault, path: Path) -> str:
    """Return a path relative to the vault. The git folder is written as `.git`."""
    for top, name in ((vault.git_dir, ".git/"), (vault.root, "")):
        if path.is_relative_to(top):
            return name + path.relative_to(top).as_posix()
    return str(path)


LOCAL_SETTINGS = "own-settings"
_TRUST = "`clawmem config trust` shows the effect and accepts it."


def local_settings_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield problems of the local settings files, and suggestions that were not accepted."""
    for own in machine_settings(vault):
        if not own.accepted:
            message = f"The vault was not accepted on this machine, so the file has no effect. {_TRUST}"
            yield HealthProblem(WARNING, LOCAL_SETTINGS, own.name, None, message)
            continue
        for message in dict.fromkeys(f"{error.message} {error.hint}" for error in own.wrong.values()):
            yield HealthProblem(ERROR, LOCAL_SETTINGS, own.name, None, message.removeprefix(f"{own.name}: "))
        for key in own.no_effect:
            message = f"'{key}' is not a local setting; it has no effect here."
            message = removed_sentence(key) if key in (*REMOVED, MODEL) else message
            yield HealthProblem(WARNING, LOCAL_SETTINGS, own.name, None, message)
    try:
        settings = vault.settings
    except ClawmemError:
        return  # a newer format, which is reported with the file
    for suggestion in open_suggestions(settings):
        value = str(suggestion.suggested)[:200]
        message = f"{suggestion.key} is suggested as '{value}', which this machine does not use. {_TRUST}"
        yield HealthProblem(INFO, LOCAL_SETTINGS, SETTINGS, None, message)
    for named in dict.fromkeys(shown_entry(ignored_setting) for ignored_setting in vault.git.ignored_settings()):
        message = f"git's setting {named} is not used, as this vault was not accepted on this machine. {_TRUST}"
        yield HealthProblem(INFO, LOCAL_SETTINGS, ".git/config", None, message)
