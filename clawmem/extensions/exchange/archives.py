"""The data exports of ChatGPT and Claude: conversations, and beside them memories and the documents of projects."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.extensions.exchange.foreign_memory import Files, ForeignMemory, Found, SkippedMemory, mapping, moment
from clawmem.extensions.exchange.pages import NO_STATEMENT, is_statement, passages, plain
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import Message, SkippedLine, word

_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
_MEMORY = re.compile(r"memories\.json|projects\.json")
_DESIGN_CHAT = re.compile(r"(?:^|/)design_chats/[^/]+\.json$")
_PROJECT = re.compile(r"(?:^|/)projects/[^/]+\.json$")


def is_conversations(path: str) -> bool:
    """Return whether a file of an archive holds conversations: conversations.json, one of its numbered parts, or the
    chat of a design."""
    return bool(_CONVERSATIONS.fullmatch(posixpath.basename(path)) or _DESIGN_CHAT.search(path))


def is_memory(path: str) -> bool:
    """Return whether a file of an archive holds memories or projects."""
    return _MEMORY.fullmatch(posixpath.basename(path)) is not None or _PROJECT.search(path) is not None


def memories(files: Files) -> Iterator[Found]:
    """Yield a statement for each paragraph and bullet of the memories, and for each description of a project."""
    projects = _project_names(files)
    for path in sorted(files):
        for record in _records(files[path]):
            if record is None:
                yield SkippedMemory(path, "it is not JSON")
            elif posixpath.basename(path) == "memories.json":
                yield from _memories(path, record, projects)
            elif text := word(record.get("description")):
                when = moment(record.get("updated_at"), record.get("created_at"))
                key = str(record.get("uuid") or path)
                yield ForeignMemory(path, key, f"{_name(record)}: {plain(text)}", text, timestamp=when)


def _project_names(files: Files) -> dict[str, str]:
    of_projects = (text for path, text in files.items() if posixpath.basename(path) != "memories.json")
    records = (record for text in of_projects for record in _records(text))
    return {str(record["uuid"]): _name(record) for record in records if record and record.get("uuid")}


def _memories(path: str, record: Mapping[str, Any], projects: Mapping[str, str]) -> Iterator[Found]:
    value = record.get("project_memories")
    of_projects = value if isinstance(value, dict) else {"": value}
    for key, text in [("", record.get("conversations_memory")), *of_projects.items()]:
        about = {"details": {"project": projects[key]}} if key in projects else {}
        for passage in passages(text) if isinstance(text, str) else ():
            if is_statement(passage.text):
                yield ForeignMemory(
                    f"{path}:{passage.line}", key or path, plain(passage.text), passage.text, record=about
                )
            else:
                yield SkippedMemory(f"{path}:{passage.line}", NO_STATEMENT)


def documents(files: Files) -> Iterator[Message | SkippedLine]:
    """Yield the instructions and the documents of projects as notes."""
    for path in sorted(files):
        for record in _records(files[path]) if posixpath.basename(path) != "memories.json" else ():
            for number, document in enumerate(_documents(record or {}), 1):
                text = mapping(document).get("content")
                if not isinstance(text, str) or not text.strip():
                    yield SkippedLine(number, f"a document of {path} has no text")
                    continue
                about = {"file": str(document.get("filename") or path), "project": _name(record or {})}
                when = moment(document.get("created_at"))
                yield Message(
                    number, "note", text, when, None, None, word(document.get("uuid")), "attachment", metadata=about
                )


def _documents(record: Mapping[str, Any]) -> list[Any]:
    items = record.get("docs")
    written = list(items) if isinstance(items, list) else []
    if not word(record.get("prompt_template")):
        return written
    at = record.get("updated_at")
    return [{"content": record["prompt_template"], "filename": "instructions", "created_at": at}, *written]


def _name(record: Mapping[str, Any]) -> str:
    return word(record.get("name")) or "project"


def _records(text: str) -> list[Mapping[str, Any] | None]:
    try:
        document = read_json(text)
    except ValueError:
        return [None]
    return [record for record in (document if isinstance(document, list) else [document]) if isinstance(record, dict)]
