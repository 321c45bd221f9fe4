"""Walk the folder of the vault: owned files, other files, links, and names that collide.

Check the state of the repository, and find interrupted changes.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, StorageFailed
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.kinds import file_kind, is_other_version
from clawmem.model.language.dates import moment_of
from clawmem.model.language.text import as_one_file
from clawmem.model.records.entity import (
    ITEMS,
    ROOTS,
    SUMMARY,
    check_agent,
    check_name,
    is_candidate_place,
    name_of_path,
)
from clawmem.model.records.layout import OWNED_FOLDERS, SETTINGS, agent_of, fits_windows, is_owned, is_text
from clawmem.model.settings.local import open_suggestions
from clawmem.model.settings.settings import MODEL, REMOVED, removed_sentence
from clawmem.platform.processes import is_running
from clawmem.vault.commit.integrity import (
    broken_refs,
    converts_line_endings,
    has_commit,
    is_git_index_intact,
)
from clawmem.vault.commit.pending import read_pending
from clawmem.vault.disk import PARTIAL_PREFIX, files_below
from clawmem.vault.edits.hand_edits import UNCLAIMED, UNCLAIMED_HINT
from clawmem.vault.exchange.create import fsck
from clawmem.vault.git.config import shown as shown_entry
from clawmem.vault.git.index import abandoned_files, lock_files, ref_locks
from clawmem.vault.git.merge_driver import driver_problem
from clawmem.vault.git.refs import common_dir_of, lost_branch
from clawmem.vault.history.history import is_shallow
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


PAGES = ("README.md", "AGENTS.md", "MEMORY.md")
FOLDERS = (
    *(f"life/{root}" for root in ROOTS),
    "life/areas/people",
    "life/areas/companies",
    "daily",
    "ledger",
    "agents",
    "review",
    "wiki",
)


class VaultTree(NamedTuple):
    """Vault paths: files that clawmem owns; other files in its folders or with names that are not text; links; and the
    folders that exist."""

    owned: tuple[str, ...]
    foreign: tuple[str, ...]
    links: tuple[str, ...]
    folders: frozenset[str]


def walk(vault: Vault) -> VaultTree:
    """Find every file below the vault's root, except git's own."""
    owned, foreign, links, folders = [], [], [], set()
    for path, is_folder, is_link in _entries(str(vault.root), ""):
        if is_link:
            links.append(path)
        elif is_folder:
            folders.add(path)
        elif is_owned(path):
            owned.append(path)
        elif path.startswith(OWNED_FOLDERS) or not is_text(path):
            foreign.append(path)
    return VaultTree(tuple(sorted(owned)), tuple(sorted(foreign)), tuple(sorted(links)), frozenset(folders))


def _entries(root: str, below: str) -> Iterator[tuple[str, bool, bool]]:
    with os.scandir(f"{root}/{below}") as entries:
        for entry in entries:
            path = f"{below}{entry.name}"
            if path == ".git":
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            yield path, is_folder, entry.is_symlink()
            if is_folder:
                yield from _entries(root, f"{path}/")


def tree_problems(vault: Vault, tree: VaultTree) -> Iterator[HealthProblem]:
    """The problems of names and places, whatever the files hold."""
    yield from _missing(tree)
    yield from (_link_problem(vault, path) for path in tree.links)
    for path in tree.foreign:
        if not path.endswith(".half"):  # a file that a crash left half written: the state checks report it
            odd = "" if is_text(path) else " Its name is not UTF-8 text."
            yield HealthProblem(
                INFO, "foreign-file", path, None, f"This file is not clawmem's; it is never committed.{odd}"
            )
    yield from _unclaimed(tree.owned)
    yield from _entity_problems(tree.owned)
    yield from _agent_problems(tree.owned)


def _unclaimed(owned: Iterable[str]) -> Iterator[HealthProblem]:
    for path in owned:
        if file_kind(path) is None and not _is_misplaced(path):
            message = f"{UNCLAIMED[0].upper()}{UNCLAIMED[1:]}. Edits of it are not committed. {UNCLAIMED_HINT}"
            yield HealthProblem(WARNING, "unclaimed-file", path, None, message)
        elif is_other_version(path.rpartition("/")[2]):
            message = "A merge kept this other version. Take over what you need, then delete the file."
            yield HealthProblem(WARNING, "other-version", path, None, message)


def _is_misplaced(path: str) -> bool:
    """Whether a file has the name of an entity's file in a folder where no entity can be."""
    last = path.rpartition("/")[2]
    return (
        last in (ITEMS, SUMMARY) and name_of_path(path) is None and (path.startswith("life/") or "/workspace/" in path)
    )


def _missing(tree: VaultTree) -> Iterator[HealthProblem]:
    for page in PAGES:
        if page not in tree.owned:
            yield HealthProblem(WARNING, "missing-page", page, None, "The page is missing; `clawmem init` made one.")
    for folder in FOLDERS:
        if folder not in tree.folders:
            yield HealthProblem(INFO, "missing-folder", f"{folder}/", None, "The folder is missing.", fixable=True)


def _link_problem(vault: Vault, path: str) -> HealthProblem:
    if (vault.root / path).resolve().is_relative_to(vault.root.resolve()):
        return HealthProblem(
            WARNING, "link", path, None, "This is a symbolic link; clawmem neither reads nor follows it."
        )
    return HealthProblem(ERROR, "link", path, None, "This symbolic link leads out of the vault.")


def _entity_problems(owned: Iterable[str]) -> Iterator[HealthProblem]:
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for path in owned:
        name = name_of_path(path)
        if name is not None:
            files[name][path.rpartition("/")[2]] = path
        elif _is_misplaced(path):
            message = "No entity can be in this folder, so nothing reads this file."
            yield HealthProblem(ERROR, "entity-place", path, None, message)
    for name, there in files.items():
        yield from _name_problems(name, next(iter(there.values())))
        folder = next(iter(there.values())).rsplit("/", 1)[0]
        for wanted in {SUMMARY, ITEMS} - there.keys() if not is_candidate_place(name) else ():
            message = f"The entity {name} has no {wanted}."
            yield HealthProblem(
                WARNING,
                "entity-files",
                f"{folder}/{wanted}",
                None,
                message,
                fixable=(not list(_name_problems(name, ""))),
            )


def _name_problems(name: str, path: str) -> Iterator[HealthProblem]:
    try:
        right = check_name(name)
    except InvalidInput as problem:
        yield HealthProblem(ERROR, "entity-name", path, None, problem.message)
        return
    if right != name:
        yield HealthProblem(
            ERROR, "entity-name", path, None, f"The entity {name} must be named {right}, in lower case."
        )


def _agent_problems(owned: Iterable[str]) -> Iterator[HealthProblem]:
    for agent in sorted({agent for path in owned if (agent := agent_of(path))}):
        try:
            check_agent(agent)
        except InvalidInput as problem:
            yield HealthProblem(ERROR, "agent-name", f"agents/{agent}", None, problem.message)


def case_problems(owned: Iterable[str]) -> Iterator[HealthProblem]:
    """Paths that are different files on one file system and the same file, or none, on another."""
    alike: dict[str, list[str]] = defaultdict(list)
    for path in owned:
        alike[as_one_file(path)].append(path)
    for paths in alike.values():
        for path in paths[1:]:
            message = f"This path differs from {paths[0]} only by case or accents; elsewhere they are one file."
            yield HealthProblem(ERROR, "case", path, None, message)
    for path in (path for paths in alike.values() for path in paths if not fits_windows(path)):
        message = "Windows cannot have a file of this name: there, git checks out none of the vault. Rename it."
        yield HealthProblem(WARNING, "windows-name", path, None, message)


BRANCH = "branch"
GIT_INDEX = "git-index"
LINE_ENDS = "line-ends"
LOST = "lost"


def clone_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield how this clone differs from a complete one with default settings."""
    if is_shallow(vault):
        message = (
            "This is a shallow clone, which lacks the older commits: `log`, `why` and `undo` see only a part of the"
            " history, and `backup` refuses. `git fetch --unshallow` gets the rest."
        )
        yield HealthProblem(WARNING, "shallow", ".git/shallow", None, message)
    if converts_line_endings(vault):
        message = "core.autocrlf is on, so git writes files with other line ends than clawmem."
        yield HealthProblem(WARNING, LINE_ENDS, ".git/config", None, message, fixable=True)
    for broken_ref in broken_refs(vault):
        yield HealthProblem(ERROR, "refs", ".git/refs", None, f"git says: {broken_ref}.")


def branch_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield a branch whose ref file is damaged or missing."""
    found = lost_branch(vault.git_dir)
    if found is None:
        return
    branch, commit = found
    there = has_commit(vault, commit)
    cure = (
        "It can be restored" if there else "That commit is lost too: restore the vault from a backup or another clone"
    )
    message = f"The ref file of the branch is lost; the last commit in its reflog is {commit[:12]}. {cure}."
    yield HealthProblem(ERROR, BRANCH, f".git/{branch}", None, message, fixable=there)


def git_index_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield damage of the git index."""
    if not is_git_index_intact(vault):
        message = "The git index is damaged: its checksum is wrong. It can be rebuilt from HEAD."
        yield HealthProblem(ERROR, GIT_INDEX, ".git/index", None, message, fixable=True)
    elif not (vault.git_dir / "index").exists():
        message = "The git index is missing; the next change creates it."
        yield HealthProblem(WARNING, GIT_INDEX, ".git/index", None, message, fixable=True)


def lost_problems(lost: Collection[str], whole: Collection[str]) -> Iterator[HealthProblem]:
    """Yield files of HEAD whose git objects are lost. `whole` are those with an unchanged file in the work tree."""
    for path in lost:
        cure = "the file itself is intact, and `clawmem doctor --fix` restores the git object from it"
        if path not in whole:
            cure = "restore the vault from a backup, or from another clone"
        message = f"git has lost the committed content of the file, which many commands need: {cure}."
        yield HealthProblem(ERROR, LOST, path, None, message, fixable=path in whole)


def altered_problems(altered: Collection[str]) -> Iterator[HealthProblem]:
    """Yield files that differ from HEAD although their times say that nobody wrote to them."""
    for path in altered:
        message = (
            "The file differs from its commit, but its times say that nobody wrote to it: the disk may have changed it."
            f" `touch {path} && git checkout HEAD -- {path}` restores the committed file."
        )
        yield HealthProblem(ERROR, "altered", path, None, message)


def committed_name_problems(in_head: Mapping[str, str], owned: Collection[str]) -> Iterator[HealthProblem]:
    """Yield committed paths that some file systems cannot have, or only one of them."""
    yield from case_problems(sorted({path for path in in_head if is_owned(path)} | set(owned)))


CHECK = "merge-driver"
ATTRIBUTES = ".gitattributes"
CONFIGURATION = ".git/config"


def merging_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield what prevents `git merge` and `git pull` from merging facts."""
    why = driver_problem(vault)
    if why is not None:
        yield HealthProblem(WARNING, CHECK, CONFIGURATION, None, f"{why[0].upper()}{why[1:]}", fixable=True)
    if missing_attributes(vault.read(ATTRIBUTES)):
        message = "The file does not set the merge driver of clawmem, so git merges the vault files as plain text."
        yield HealthProblem(WARNING, CHECK, ATTRIBUTES, None, message, fixable=True)


def missing_attributes(data: bytes | None) -> list[str]:
    """Return the rules that `.gitattributes` lacks."""
    wanted = {"*.md": "clawmem", "*.json": "clawmem", "*.jsonl": "union", "*.yaml": "clawmem"}
    lines = (data or b"").decode(errors="replace").splitlines()
    rules = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [
        f"{pattern} merge={driver}"
        for pattern, driver in wanted.items()
        if not any(
            rule[0] == pattern and any(text.startswith("merge=") or text == "-merge" for text in rule) for rule in rules
        )
    ]


def with_attributes(data: bytes | None) -> bytes:
    """Return the file with the missing rules added at its end."""
    text = (data or b"").decode(errors="replace")
    gap = "" if not text or text.endswith("\n") else "\n"
    return (text + gap + "".join(f"{line}\n" for line in missing_attributes(data))).encode()
