"""Find facts that others removed or reworded. clawmem never deletes facts, so such changes are reported."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.vault.vault import Vault

Files = Mapping[str, bytes | None]
GONE, ALTERED = "gone", "altered"
# The maximum number of commits that are searched for the author.
_MAX_COMMITS = 100
_FORMAT = "--format=%H%x00%an <%ae>%x00%s"


class RemoteRemoval(NamedTuple):
    """A fact of ours that received commits removed (`gone`) or reworded (`altered`), with its former entity and words.

    `commit`, `author` and `subject` are None if no single commit did it."""

    fact: str
    how: str
    entity: str
    words: str
    commit: str | None = None
    author: str | None = None
    subject: str | None = None


def find_removals(
    vault: Vault, head: str, commit: str, tip: str, files: tuple[Files, Files] | None, reported: Collection[str] = ()
) -> tuple[RemoteRemoval, ...]:
    """Return our facts that were removed or reworded between `head` and `commit`, which includes `tip`.

    `files` are the changed files before and after, if they are known. The facts in `reported` are left out."""
    before, after = files or _changed_files(vault, head, commit)
    lost = {removal.fact: (path, removal) for path, removal in _removals(before, after) if removal.fact not in reported}
    return tuple(_with_commits(vault, head, tip, lost)) if lost else ()


def _changed_files(vault: Vault, old: str, new: str) -> tuple[Files, Files]:
    paths = [path for path in vault.changed_paths(old, new) if _is_items(path)]
    return vault.contents_at(old, paths), vault.contents_at(new, paths)


def _is_items(path: str) -> bool:
    return file_kind(path) is ITEMS_FILE


def _removals(before: Files, after: Files) -> Iterable[tuple[str, RemoteRemoval]]:
    """Compare the files by lines. Only lines that differ are parsed."""
    old = {path: _lines(data) for path, data in before.items() if _is_items(path)}
    new = frozenset(line for path, data in after.items() if _is_items(path) for line in _lines(data))
    known = frozenset(line for lines in old.values() for line in lines)
    now = dict(filter(None, map(_id_and_statement, new - known)))
    for path, lines in old.items():
        for line in lines:
            pair = _id_and_statement(line) if line not in new else None
            if pair is not None and now.get(pair[0]) != pair[1]:
                how = ALTERED if pair[0] in now else GONE
                yield path, RemoteRemoval(pair[0], how, name_of_path(path) or path, pair[1])


def _lines(data: bytes | None) -> list[bytes]:
    return [line for raw in (data or b"").split(b"\n") if (line := raw.strip().removesuffix(b",")).startswith(b"{")]


def _id_and_statement(line: bytes) -> tuple[str, str] | None:
    try:
        record = json.loads(line)
        return str(record["id"]), str(record["fact"])
    except (ValueError, KeyError, RecursionError):
        return None  # readers of the file report an unreadable line


def _with_commits(
    vault: Vault, head: str, tip: str, lost: Mapping[str, tuple[str, RemoteRemoval]]
) -> Iterable[RemoteRemoval]:
    """Yield the facts with the commit that changed each, newest first. Facts without a single commit come last."""
    left = dict(lost)
    paths = [f":(literal){path}" for path in dict.fromkeys(path for path, _ in lost.values())]
    # If a fact was moved first, it was removed from another file.
    asked = ("log", "--no-merges", f"-n{_MAX_COMMITS}", _FORMAT, f"{head}..{tip}", "--")
    for where in (paths, [f":(glob)**/{ITEMS}"]):
        for row in vault.git.run(*asked, *where).decode(errors="replace").splitlines() if left else ():
            commit, author, subject = row.split("\0")
            gone = {removal.fact: removal for _, removal in _removals(*_changed_files(vault, f"{commit}~1", commit))}
            for fact in [fact for fact in left if fact in gone]:
                yield left.pop(fact)[1]._replace(commit=commit, author=author, subject=subject)
    yield from (removal for _, removal in left.values())
