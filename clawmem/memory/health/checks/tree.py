"""Walk the folder of the vault: owned files, other files, links, and names that collide."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.kinds import file_kind, is_other_version
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
from clawmem.model.records.layout import OWNED_FOLDERS, agent_of, is_owned, is_text
from clawmem.vault.edits.hand_edits import UNCLAIMED, UNCLAIMED_HINT
from clawmem.vault.vault import Vault

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
            yield HealthProblem(WARNING, "entity-files", f"{folder}/{wanted}", None, message, fixable=_is_legal(name))


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


def _is_legal(name: str) -> bool:
    return not list(_name_problems(name, ""))


def _agent_problems(owned: Iterable[str]) -> Iterator[HealthProblem]:
    for agent in sorted({agent for path in owned if (agent := agent_of(path))}):
        try:
            check_agent(agent)
        except InvalidInput as problem:
            yield HealthProblem(ERROR, "agent-name", f"agents/{agent}", None, problem.message)


def case_problems(owned: Iterable[str]) -> Iterator[HealthProblem]:
    """Paths that are different files on one file system and the same file on another."""
    alike: dict[str, list[str]] = defaultdict(list)
    for path in owned:
        alike[as_one_file(path)].append(path)
    for paths in alike.values():
        for path in paths[1:]:
            message = f"This path differs from {paths[0]} only by case or accents; elsewhere they are one file."
            yield HealthProblem(ERROR, "case", path, None, message)
