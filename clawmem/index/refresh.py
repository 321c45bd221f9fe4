"""Keeping the index in step with HEAD: from what changed between two commits, or from everything."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from clawmem.errors import ClawmemError
from clawmem.index.keyword import Document
from clawmem.index.store import Index, create_store, open_store
from clawmem.model.codec import fact_to_line, parse_items
from clawmem.model.entity import ITEMS, kind_of, name_of_path, owner_of, title_of
from clawmem.model.fact import Fact
from clawmem.model.summary import split_front_matter
from clawmem.model.text import normal
from clawmem.vault.vault import Vault, parse_yaml

FOLDERS = ("life", "agents", "ledger")
_BATCH = 500


def open_index(vault: Vault) -> Index:
    """The index at HEAD, brought up to date or built anew as needed."""
    index = open_store(vault)
    head = vault.head().commit
    if index is not None:
        try:
            if head is None or index.head() == head or _catch_up(vault, index, head):
                return index
        except sqlite3.DatabaseError:
            pass
        index.close()
    return rebuild(vault)


def rebuild(vault: Vault) -> Index:
    """A new index from everything in HEAD."""
    index = create_store(vault)
    head = vault.head().commit
    if head is None:
        return index
    paths = [path for path in vault.files_at(head, *FOLDERS) if _is_indexed(path)]
    with index.writing():
        for start in range(0, len(paths), _BATCH):
            _apply(index, vault.contents_at(head, paths[start : start + _BATCH]))
        index.set_meta("head", head)
    return index


def apply_commit(vault: Vault, index: Index, contents: Mapping[str, bytes | None]) -> None:
    """Take in a change that was just committed, whose final contents the caller has at hand."""
    head = vault.head().commit
    if head is None:
        return
    with index.writing():
        _apply(index, {path: data for path, data in contents.items() if _is_indexed(path)})
        index.set_meta("head", head)


def _catch_up(vault: Vault, index: Index, head: str) -> bool:
    old = index.head()
    changed = vault.changed_between(old, head) if old else None
    if changed is None:
        return False
    paths = [path for path in changed if _is_indexed(path)]
    try:
        with index.writing():
            for start in range(0, len(paths), _BATCH):
                _apply(index, vault.contents_at(head, paths[start : start + _BATCH]))
            index.set_meta("head", head)
    except sqlite3.OperationalError:
        return False
    return True


def _is_indexed(path: str) -> bool:
    return name_of_path(path) is not None or (path.startswith("ledger/") and path.endswith(".jsonl"))


def _apply(index: Index, contents: Mapping[str, bytes | None]) -> None:
    for path, data in contents.items():
        index.database.execute("DELETE FROM broken WHERE path = ?", (path,))
        try:
            _apply_file(index, path, data)
        except ClawmemError as problem:
            index.database.execute("INSERT INTO broken VALUES (?, ?)", (path, problem.message))


def _apply_file(index: Index, path: str, data: bytes | None) -> None:
    name = name_of_path(path)
    if name is None:
        _apply_ledger(index, path, data)
    elif path.endswith(ITEMS):
        _apply_items(index, name, parse_items(data, path) if data is not None else ())
    else:
        _apply_summary(index, name, path, data)


def _apply_items(index: Index, entity: str, facts: Iterable[Fact]) -> None:
    rows = index.database.execute("SELECT n, line FROM fact WHERE entity = ?", (entity,)).fetchall()
    standing = {line: n for n, line in rows}
    wanted = {fact_to_line(fact): fact for fact in facts}
    gone = [(n, line) for line, n in standing.items() if line not in wanted]
    if gone:
        index.engine.remove(Document(n, search_text(entity, json.loads(line))) for n, line in gone)
        index.database.executemany("DELETE FROM fact WHERE n = ?", ((n,) for n, _ in gone))
    owner = owner_of(entity) or ""
    for line, fact in wanted.items():
        if line not in standing:
            n = _insert(index, entity, owner, line, fact)
            index.engine.add((Document(n, search_text(entity, fact._asdict())),))


def _insert(index: Index, entity: str, owner: str, line: str, fact: Fact) -> int:
    cursor = index.database.execute(
        "INSERT INTO fact (id, entity, owner, status, category, subject, predicate, valid_from, valid_to,"
        " timestamp, event, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            fact.id,
            entity,
            owner,
            fact.status,
            fact.category,
            normal(fact.subject) if fact.subject else None,
            fact.predicate,
            fact.valid_from,
            fact.valid_to,
            fact.timestamp,
            fact.source_event,
            line,
        ),
    )
    number = cursor.lastrowid
    assert number is not None
    return number


def search_text(entity: str, record: Mapping[str, object]) -> str:
    """The words a fact is found by: its statement, its triple, its tags, and the entity it stands in."""
    tags = record.get("tags") or ()
    parts = [record["fact"], record.get("subject"), record.get("object"), record.get("relation_phrase")]
    parts += list(tags) if isinstance(tags, list | tuple) else []
    parts.append(title_of(entity))
    return " ".join(str(part) for part in dict.fromkeys(parts) if part)


def _apply_ledger(index: Index, path: str, data: bytes | None) -> None:
    day = path.removeprefix("ledger/").removesuffix(".jsonl")
    ids = [json.loads(line)["id"] for line in (data or b"").split(b"\n") if line.strip()]
    index.database.execute("DELETE FROM event WHERE day = ?", (day,))
    index.database.executemany("INSERT OR IGNORE INTO event VALUES (?, ?)", ((event, day) for event in ids))


def _apply_summary(index: Index, name: str, path: str, data: bytes | None) -> None:
    index.database.execute("DELETE FROM entity WHERE name = ?", (name,))
    index.database.execute("DELETE FROM alias WHERE name = ?", (name,))
    if data is None:
        return
    front, _ = split_front_matter(data.decode(errors="replace"))
    described = parse_yaml(front, path) if front else {}
    described = described if isinstance(described, dict) else {}
    title = str(described.get("title") or title_of(name))
    aliases = [str(alias) for alias in described.get("aliases") or ()]
    kind = str(described.get("kind") or kind_of(name))
    index.database.execute("INSERT INTO entity VALUES (?, ?, ?, ?)", (name, title, kind, json.dumps(aliases)))
    known_as = {normal(title), *(normal(alias) for alias in aliases)} - {""}
    index.database.executemany("INSERT INTO alias VALUES (?, ?)", ((alias, name) for alias in known_as))
