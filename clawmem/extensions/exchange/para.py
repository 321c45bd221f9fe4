"""Memories kept as PARA trees: folders of entities with `items.json` and `summary.md`, and daily notes.

Layouts: `life/areas/people/jane/items.json` in any folder (three-layer memories, a vault of clawmem), `knowledge/...`,
and `memory/global/...` beside `memory/agents/NAME/workspace/...`. A file of facts is a list of
`{"id", "fact", "timestamp", "status", "supersededBy", ...}`, or has it under `facts` or `items`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.extensions.exchange.foreign_memory import (
    NO_STATEMENT,
    Files,
    ForeignMemory,
    Found,
    SkippedMemory,
    Yaml,
    is_statement,
    mapping,
    moment,
    pages_of,
    passages,
    plain,
)
from clawmem.model.facts.codec import OTHER_NAMES
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED
from clawmem.model.records.entity import ITEMS, ROOTS, SUMMARY, check_name
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import Message, word
from clawmem.model.transcripts.notes import NumberedLine, read_markdown

_DAY_PAGE = re.compile(r"(?:^|/)\d{4}-\d\d-\d\d[^/]*\.md$")
_OF_AGENT = re.compile(r"(?:^|/)agents/(?P<agent>[^/]+)/")
# Pages that tell an agent how to behave, and those that a program writes from the rest.
_OTHER_PAGES = frozenset(("soul.md", "identity.md", "agents.md", "tools.md", "heartbeat.md", "index.md", "readme.md"))
_NO_PAGE = "it tells an agent how to behave, or is written from the rest"
# What clawmem takes over of a foreign record, by its own names. Ids and counts are the vault's own.
_KEPT = ("category", "tags", "confidence", "importance", "valid_from", "valid_to", "subject", "predicate", "object")


def fits(files: Files, yaml: Yaml) -> bool:
    """Return whether files are a PARA tree: some `items.json` below projects, areas, resources or archives."""
    return any(_place(path) and _records(text) for path, text in files.items() if posixpath.basename(path) == ITEMS)


def read(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield each fact with its entity and dates, and each paragraph of pages that no file of facts stands beside."""
    for path in sorted(files):
        if path.endswith(".json") and posixpath.basename(path) == ITEMS:
            yield from _facts(path, files[path])
    for path, page in pages_of(files, yaml):
        folder, name = posixpath.split(path)
        if _DAY_PAGE.search(path) or (name == SUMMARY and f"{folder}/{ITEMS}" in files):
            continue
        if name.lower() in _OTHER_PAGES:
            yield SkippedMemory(path, _NO_PAGE)
            continue
        for passage in passages(page.body, page.above):
            place = f"{path}:{passage.line}"
            if is_statement(passage.text):
                yield ForeignMemory(place, path, plain(passage.text), passage.text, _place(path), record=_origin(path))
            else:
                yield SkippedMemory(place, NO_STATEMENT)


def messages(files: Files) -> Iterator[Message]:
    """Yield the lines of daily notes, which become events on their day."""
    for path in sorted(filter(_DAY_PAGE.search, files)):
        lines = (NumberedLine(number, line) for number, line in enumerate(files[path].split("\n"), 1))
        yield from read_markdown(lines, name=posixpath.basename(path))


def _place(path: str) -> str | None:
    """Return the entity of a file: its folder from the innermost of PARA's folders on, else None."""
    parts = posixpath.dirname(path).split("/")
    start = max((number for number, part in enumerate(parts) if part in ROOTS), default=len(parts))
    agent = _OF_AGENT.search(path)
    with suppress(InvalidInput):
        return check_name("/".join([*([f"@{agent['agent']}"] if agent else []), *parts[start:]]))
    return None


def _origin(path: str) -> Mapping[str, Any]:
    agent = _OF_AGENT.search(path)
    return {"details": {"agent": agent["agent"]}} if agent else {}


def _records(text: str) -> list[Mapping[str, Any]] | None:
    try:
        document = read_json(text)
    except ValueError:
        return None
    record = mapping(document)
    items = document if isinstance(document, list) else record.get("facts") or record.get("items")
    return [other for other in items if isinstance(other, dict)] if isinstance(items, list) else None


def _facts(path: str, text: str) -> Iterator[Found]:
    records = _records(text)
    if records is None:
        yield SkippedMemory(path, "it has no list of facts")
        return
    named = [{OTHER_NAMES.get(key, key): value for key, value in record.items()} for record in records]
    former = {record["superseded_by"]: word(record.get("id")) for record in named if word(record.get("superseded_by"))}
    known = {record.get("id") for record in named}
    for number, record in enumerate(named, 1):
        place, statement = f"{path}#{number}", word(record.get("fact"))
        if statement is None or record.get("status") == RETRACTED:
            yield SkippedMemory(place, "it was retracted" if statement else "it has no text")
            continue
        kept = {key: record[key] for key in _KEPT if record.get(key) is not None}
        key, when = word(record.get("id")) or place, moment(record.get("timestamp"))
        replaces = former.get(key)
        is_over = record.get("superseded_by") or record.get("status") in (SUPERSEDED, "historical")
        if is_over and record.get("superseded_by") not in known:
            kept = {"valid_to": when or "1970-01-01", **kept}  # by what is not said
        elif when and (replaces or is_over):
            kept = {"valid_from": when, **kept}
        related = record.get("related_entities")
        if isinstance(related, list):
            kept["related_entities"] = [_related(name) for name in related if isinstance(name, str)]
        origin = {"details": {"source": source}} if (source := word(record.get("source"))) else {}
        record = {**_origin(path), **origin, **kept}
        yield ForeignMemory(place, key, statement, statement, _place(path), None, when, record, replaces)


def _related(name: str) -> str:
    with suppress(InvalidInput):
        return check_name(name)
    return name
