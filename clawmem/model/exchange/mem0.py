"""Exports of mem0: a JSON object or list of memories, each with a text, an id and times.

Shapes: the answer of its `get_all`, `{"results": [{"id", "memory", "metadata", "created_at", "user_id"}]}`, and
exports with `memories` and `text`. The blocks of a Letta agent file, `{"blocks": [{"label", "value"}]}`, are read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.exchange.foreign_memory import (
    Files,
    ForeignMemory,
    Found,
    SkippedMemory,
    Yaml,
    mapping,
    moment,
    unit,
    words,
)
from clawmem.model.language.text import one_line
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import first, word

_LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "content", "data")


def fits(files: Files, yaml: Yaml) -> bool:
    """Return whether a file is an export of memories, or a Letta agent file."""
    return any(path.endswith((".json", ".af")) and _records(text) is not None for path, text in files.items())


def read(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield one statement a memory, and one a line of a block."""
    for path in sorted(files):
        records = _records(files[path])
        if records is None:
            yield SkippedMemory(path, "it has no list of memories")
            continue
        for number, record in enumerate(records, 1):
            place = f"{path}#{number}"
            if isinstance(record, dict) and isinstance(record.get("value"), str):
                yield from _block(place, record)
            else:
                yield _memory(place, record)


def _records(text: str) -> list[Any] | None:
    try:
        document = read_json(text)
    except ValueError:
        return None
    for key in _LISTS:
        if isinstance(document, dict) and isinstance(document.get(key), list):
            return list(document[key])
    if isinstance(document, dict) and isinstance(document.get("blocks"), list):
        return [one for one in document["blocks"] if isinstance(one, dict) and isinstance(one.get("value"), str)]
    shaped = isinstance(document, list) and all(isinstance(one, dict) and first(one, *_TEXTS) for one in document)
    return document if shaped and document else None


def _memory(place: str, record: Any) -> Found:
    text = word(first(record, *_TEXTS)) if isinstance(record, dict) else None
    if text is None:
        return SkippedMemory(place, "it has no text")
    about = mapping(record.get("metadata"))
    when = moment(record.get("created_at"), about.get("created_at"), record.get("updated_at"), about.get("updated_at"))
    category = word(record.get("category") or about.get("category"))
    given: dict[str, Any] = {}
    if category and category.replace("-", "").replace("_", "").isalnum():
        given["category"] = category
    if tags := words(record.get("categories") or about.get("tags") or []):
        given["tags"] = list(tags)
    if (confidence := unit(about.get("confidence"))) is not None:
        given["confidence"] = confidence
    details = {key: str(value) for key in ("user_id", "agent_id") if (value := record.get(key))}
    if source := word(about.get("source")):
        details["source"] = source
    if details:
        given["details"] = details
    return ForeignMemory(place, word(record.get("id")) or place, one_line(text), text, timestamp=when, record=given)


def _block(place: str, record: Mapping[str, Any]) -> Iterator[Found]:
    label = word(record.get("label")) or "block"
    for line in record["value"].splitlines():
        said = one_line(line.lstrip("-*# \t"))
        if said and not line.lstrip().startswith("#"):
            yield ForeignMemory(place, label, said, line, record={"details": {"block": label}})
