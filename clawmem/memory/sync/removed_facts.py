"""Facts that others took out or gave other words: clawmem deletes none, so whoever receives such a change is told."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.vault.vault import Vault

Files = Mapping[str, bytes | None]
GONE, ALTERED = "gone", "altered"
# So many commits are looked into for who did it.
_MOST = 100
_FORM = "--format=%H%x00%an <%ae>%x00%s"


class TakenOut(NamedTuple):
    """A fact of ours that is `gone` since others' changes came in, or `altered`: its entity and words as they were; the
    commit that did it, its author and subject (None where no single commit did)."""

    fact: str
    how: str
    entity: str
    words: str
    commit: str | None = None
    author: str | None = None
    subject: str | None = None


def taken_out(
    vault: Vault, head: str, commit: str, tip: str, files: tuple[Files, Files] | None, told: Collection[str] = ()
) -> tuple[TakenOut, ...]:
    """What became of our facts on the way from `head` to `commit`, which took in `tip`. `files` are the changed files
    before and after, where they are at hand; the facts in `told` are told of elsewhere."""
    before, after = files or _changed(vault, head, commit)
    lost = {one.fact: (path, one) for path, one in _lost(before, after) if one.fact not in told}
    return tuple(_attributed(vault, head, tip, lost)) if lost else ()


def _changed(vault: Vault, old: str, new: str) -> tuple[Files, Files]:
    paths = [path for path in vault.changed_paths(old, new) if _is_items(path)]
    return vault.contents_at(old, paths), vault.contents_at(new, paths)


def _is_items(path: str) -> bool:
    return path.endswith(f"/{ITEMS}") and name_of_path(path) is not None


def _lost(before: Files, after: Files) -> Iterable[tuple[str, TakenOut]]:
    """Only lines that differ are read: most changes are of a few facts."""
    old = {path: _lines(data) for path, data in before.items() if _is_items(path)}
    new = frozenset(line for path, data in after.items() if _is_items(path) for line in _lines(data))
    known = frozenset(line for lines in old.values() for line in lines)
    now = dict(filter(None, map(_said, new - known)))
    for path, lines in old.items():
        for line in lines:
            said = _said(line) if line not in new else None
            if said is not None and now.get(said[0]) != said[1]:
                how = ALTERED if said[0] in now else GONE
                yield path, TakenOut(said[0], how, name_of_path(path) or path, said[1])


def _lines(data: bytes | None) -> list[bytes]:
    return [line for raw in (data or b"").split(b"\n") if (line := raw.strip().removesuffix(b",")).startswith(b"{")]


def _said(line: bytes) -> tuple[str, str] | None:
    try:
        record = json.loads(line)
        return str(record["id"]), str(record["fact"])
    except (ValueError, KeyError, RecursionError):
        return None  # a line that cannot be read is named by whoever reads the file


def _attributed(vault: Vault, head: str, tip: str, lost: Mapping[str, tuple[str, TakenOut]]) -> Iterable[TakenOut]:
    """The facts with the commit that took each out, newest first; those that no single one did come last."""
    left = dict(lost)
    paths = [f":(literal){path}" for path in dict.fromkeys(path for path, _ in lost.values())]
    # Where a fact moved first, it went from another file than ours.
    asked = ("log", "--no-merges", f"-n{_MOST}", _FORM, f"{head}..{tip}", "--")
    for where in (paths, [f":(glob)**/{ITEMS}"]):
        for row in vault.git.run(*asked, *where).decode(errors="replace").splitlines() if left else ():
            commit, author, subject = row.split("\0")
            gone = {one.fact: one for _, one in _lost(*_changed(vault, f"{commit}~1", commit))}
            for fact in [fact for fact in left if fact in gone]:
                yield left.pop(fact)[1]._replace(commit=commit, author=author, subject=subject)
    yield from (one for _, one in left.values())
