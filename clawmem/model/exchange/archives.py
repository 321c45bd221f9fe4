"""The data exports of ChatGPT and Claude: conversations, and beside them memories and the documents of projects."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.exchange.foreign_memory import Files, ForeignMemory, Found, SkippedMemory, mapping, moment
from clawmem.model.exchange.pages import NO_STATEMENT, is_statement, passages, plain
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import Message, SkippedLine, word

_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
_MEMORY = re.compile(r"memories\.json|projects\.json")
_PROJECT = re.compile(r"(?:^|/)projects/[^/]+\.json$")


def is_conversations(path: str) -> bool:
    """Return whether a file of an archive holds conversations: conversations.json, or one of its numbered parts."""
    return _CONVERSATIONS.fullmatch(posixpath.basename(path)) is not None


def is_memory(path: str) -> bool:
    """Return whether a file of an archive holds memories or projects."""
    return _MEMORY.fullmatch(posixpath.basename(path)) is not None or _PROJECT.search(path) is not None


def memories(files: Files) -> Iterator[Found]:
    """Yield a statement for each paragraph and bullet of the memories, and for each description of a project."""
    for path in sorted(files):
        for record in _records(files[path]):
            if record is None:
                yield SkippedMemory(path, "it is not JSON")
            elif posixpath.basename(path) == "memories.json":
                yield from _memories(path, record)
            elif said := word(record.get("description")):
                when = moment(record.get("updated_at"), record.get("created_at"))
                key = str(record.get("uuid") or path)
                yield ForeignMemory(path, key, f"{_name(record)}: {plain(said)}", said, timestamp=when)


def _memories(path: str, record: Mapping[str, Any]) -> Iterator[Found]:
    texts = [("", record.get("conversations_memory")), *mapping(record.get("project_memories")).items()]
    for key, text in texts:
        for one in passages(text) if isinstance(text, str) else ():
            if is_statement(one.text) and plain(one.text):
                yield ForeignMemory(f"{path}:{one.line}", key or path, plain(one.text), one.text)
            else:
                yield SkippedMemory(f"{path}:{one.line}", NO_STATEMENT)


def documents(files: Files) -> Iterator[Message | SkippedLine]:
    """Yield the documents of projects as notes."""
    for path in sorted(files):
        for record in _records(files[path]) if posixpath.basename(path) != "memories.json" else ():
            for number, one in enumerate((record or {}).get("docs") or (), 1):
                text = mapping(one).get("content")
                if not isinstance(text, str) or not text.strip():
                    yield SkippedLine(number, f"a document of {path} has no text")
                    continue
                about = {"file": str(one.get("filename") or path), "project": _name(record or {})}
                when = moment(one.get("created_at"))
                yield Message(
                    number, "note", text, when, None, None, word(one.get("uuid")), "attachment", metadata=about
                )


def _name(record: Mapping[str, Any]) -> str:
    return word(record.get("name")) or "project"


def _records(text: str) -> list[Mapping[str, Any] | None]:
    try:
        document = read_json(text)
    except ValueError:
        return [None]
    return [one for one in (document if isinstance(document, list) else [document]) if isinstance(one, dict)]
